"""Parts of the REST protocol that the Java reference's server lacks, on a server with prepared replies."""

from __future__ import annotations

import json
import time

import pyarrow as pa
import pytest
from icefloe.catalog.rest import RestCatalog, TableCommit
from icefloe.exceptions import (
    BadRequestError,
    CommitStateUnknownException,
    FeatureUnsupportedError,
    ForbiddenError,
    InvalidIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    ServerError,
    ServiceUnavailableError,
    StorageError,
    TooManyRequestsError,
    UnauthorizedError,
)
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.metadata import new_table_metadata
from icefloe.table.sorting import UNSORTED_SORT_ORDER
from icefloe.table.update import SetPropertiesUpdate, update_from_json, update_table_metadata
from icefloe.types import LongType, NestedField

from tests.catalogs.rest.protocol_server import Answer, error
from tests.storage.conftest import bucket, s3  # noqa: F401 - fixtures

TABLE = "/v1/namespaces/db/tables/t"
NAMESPACES = "/v1/namespaces"
REPORTS = f"{TABLE}/metrics"
ENDPOINT = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"


def table_json(location, **parts):
    metadata = new_table_metadata(
        Schema(NestedField(1, "id", LongType())), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, location
    )
    return {
        "metadata-location": f"{location}/metadata/00000-a.metadata.json",
        "metadata": json.loads(metadata.model_dump_json()),
        **parts,
    }


class ServedTable:
    """A table on the prepared server, which applies commits."""

    def __init__(self, server, location, **parts) -> None:
        self.body = table_json(location, **parts)
        self.version = 0
        server.on("GET", TABLE, lambda request: Answer(self.body))
        server.on("POST", TABLE, self.commit)

    def commit(self, request):
        from icefloe.table.metadata import TableMetadataUtil

        updates = tuple(update_from_json(update) for update in request.json()["updates"])
        metadata = update_table_metadata(TableMetadataUtil.parse_obj(self.body["metadata"]), updates)
        self.version += 1
        location = f"{metadata.location}/metadata/{self.version:05d}-a.metadata.json"
        self.body = {
            **self.body,
            "metadata": json.loads(metadata.model_dump_json()),
            "metadata-location": location,
        }
        return Answer(self.body)


def test_configuration_overrides_what_the_user_gave_and_fills_what_is_missing(server, connect):
    server.configure(
        defaults={"rest-page-size": "7", "header.x-default": "d", "scope": "d"},
        overrides={"prefix": "lakes/blue", "namespace-separator": "%2D", "scope": "o"},
    )
    server.on("GET", "/v1/lakes/blue/namespaces", Answer({"namespaces": []}))
    catalog = connect(**{"rest-page-size": "3", "prefix": "mine", "warehouse": "sales"})
    catalog.list_namespaces(("a", "b"))
    assert server.requests[0].query == {"warehouse": "sales"}
    (request,) = server.received("GET", "/v1/lakes/blue/namespaces")
    assert request.query == {"parent": "a-b", "pageToken": "", "pageSize": "3"}
    assert request.headers["x-default"] == "d"
    assert catalog.properties["scope"] == "o"


@pytest.mark.parametrize(
    "answer",
    [
        Answer([]),
        Answer({"defaults": [], "overrides": {}}),
        Answer({"defaults": {}, "overrides": {}, "endpoints": "GET"}),
        Answer(b"<html>sign in</html>", 200, {"Content-Type": "text/html"}),
        Answer(b'{"defaults": {'),
    ],
)
def test_configuration_that_is_something_else_is_one_error(server, connect, answer):
    server.on("GET", "/v1/config", answer)
    with pytest.raises(RESTError, match=r"catalog 'prod': configuration: expected .*/v1/config"):
        connect(token="abcdef")


def test_list_is_read_to_its_last_page(server, connect):
    pages = [
        Answer({"namespaces": [["b"]], "next-page-token": "2+ &"}),
        Answer({"namespaces": [["a"]], "next-page-token": "3"}),
        Answer({"namespaces": [["c"]], "next-page-token": None}),
    ]
    server.on("GET", NAMESPACES, pages)
    assert connect().list_namespaces() == [("a",), ("b",), ("c",)]
    assert [request.query["pageToken"] for request in server.received("GET", NAMESPACES)] == ["", "2+ &", "3"]


def test_page_token_that_repeats_is_an_error(server, connect):
    server.on("GET", NAMESPACES, Answer({"namespaces": [], "next-page-token": "again"}))
    with pytest.raises(RESTError, match="a new page token in each page"):
        connect().list_namespaces()


NAMES_IN_PATHS = {"a/b": "a%2Fb", "a\\b": "a%5Cb", "100%": "100%25", "..": "%2E%2E", "a\x1fb": "a%1Fb"}


@pytest.mark.parametrize("name", NAMES_IN_PATHS)
@pytest.mark.parametrize("call", ["create", "stage", "register", "rename"])
def test_table_name_that_the_server_refuses_in_paths_changes_nothing(server, connect, tmp_path, name, call):
    server.on("GET", f"/v1/namespaces/db/tables/{NAMES_IN_PATHS[name]}", Answer(b"<h1>Ambiguous URI</h1>", 400))
    catalog = connect()
    schema = Schema(NestedField(1, "id", LongType()))
    change = {
        "create": lambda: catalog.create_table(("db", name), schema, f"{tmp_path}/t"),
        "stage": lambda: catalog.create_table_transaction(("db", name), schema, f"{tmp_path}/t"),
        "register": lambda: catalog.register_table(("db", name), f"{tmp_path}/m.metadata.json"),
        "rename": lambda: catalog.rename_table("db.t", ("db", name)),
    }[call]
    with pytest.raises(InvalidIdentifierError, match="catalog 'prod' refuses this name in the path of a request"):
        change()
    assert [request for request in server.requests if request.method == "POST"] == []


def test_namespace_name_that_the_server_refuses_in_paths_changes_nothing(server, connect):
    server.on("GET", f"{NAMESPACES}/a%2Fb", Answer(b"<h1>Ambiguous URI</h1>", 400))
    with pytest.raises(InvalidIdentifierError, match="namespace a/b: the server of catalog 'prod' refuses this name"):
        connect().create_namespace(("a/b",))
    assert server.received("POST", NAMESPACES) == []


@pytest.mark.parametrize(
    "answer", [error(404, "NoSuchTableException"), error(403, "ForbiddenException")], ids=[404, 403]
)
def test_table_name_that_the_server_reads_in_paths_is_used(server, connect, tmp_path, answer):
    server.on("GET", f"{NAMESPACES}/db/tables/a%2Fb", answer)
    server.on("POST", f"{NAMESPACES}/db/tables", Answer(table_json(str(tmp_path / "t"))))
    made = connect().create_table(("db", "a/b"), Schema(NestedField(1, "id", LongType())))
    assert made.name() == ("db", "a/b")


def test_plain_table_name_costs_one_request(server, connect, tmp_path):
    server.on("POST", f"{NAMESPACES}/db/tables", Answer(table_json(str(tmp_path / "t"))))
    connect().create_table(("db", "täble 1.2"), Schema(NestedField(1, "id", LongType())))
    assert [request.method for request in server.requests if request.path != "/v1/config"] == ["POST"]


@pytest.mark.parametrize("body", [{"namespaces": "a"}, {}, {"namespaces": ["a"]}, {"namespaces": [[1]]}])
def test_list_of_another_form_is_an_error(server, connect, body):
    server.on("GET", NAMESPACES, Answer(body))
    with pytest.raises(RESTError, match="list of namespaces: expected"):
        connect().list_namespaces()


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (400, "BadRequestException", BadRequestError),
        (401, "NotAuthorizedException", UnauthorizedError),
        (403, "ForbiddenException", ForbiddenError),
        (404, "NoSuchTableException", NoSuchTableError),
        (404, "NoSuchNamespaceException", NoSuchNamespaceError),
        (406, "UnsupportedOperationException", FeatureUnsupportedError),
        (429, "TooManyRequests", TooManyRequestsError),
        (500, "InternalServerError", ServerError),
        (501, "NotImplemented", FeatureUnsupportedError),
        (502, "BadGateway", ServerError),
        (503, "ServiceUnavailable", ServiceUnavailableError),
        (418, "Teapot", RESTError),
    ],
)
def test_status_of_a_read_has_its_error(server, connect, waits, status, kind, expected):
    server.on("GET", TABLE, error(status, kind, "what is wrong"))
    with pytest.raises(
        expected, match=rf"table db\.t: got status {status}, {kind}: what is wrong \(catalog 'prod', GET http"
    ) as raised:
        connect().load_table("db.t")
    assert type(raised.value) is expected


def test_page_of_another_server_does_not_mean_that_a_table_is_missing(server, connect):
    server.on("GET", TABLE, Answer(b"<html>nothing here</html>", 404, {"Content-Type": "text/html"}))
    with pytest.raises(RESTError, match="status 404: an HTML page"):
        connect().load_table("db.t")


def test_wait_that_the_server_states_is_kept(server, connect, waits):
    busy = Answer(None, 503, {"Retry-After": "7"})
    server.on("GET", NAMESPACES, [busy, busy, Answer({"namespaces": []})])
    assert connect().list_namespaces() == []
    assert waits == [7.0, 7.0]


def test_retries_end(server, connect, waits):
    server.on("POST", NAMESPACES, Answer(None, 503))
    with pytest.raises(ServiceUnavailableError, match="nothing has changed"):
        connect(**{"rest.client.max-retries": "2"}).create_namespace("db")
    assert len(server.received("POST", NAMESPACES)) == 3


def test_conflict_of_a_repeated_creation_is_unknown(server, connect, waits):
    server.on("POST", NAMESPACES, [Answer(None, 503), error(409, "AlreadyExistsException")])
    with pytest.raises(CommitStateUnknownException):
        connect().create_namespace("db")


def test_unchanged_table_is_not_sent_again(server, connect, tmp_path):
    def load(request):
        if request.headers.get("if-none-match") == '"one"':
            return Answer(None, 304, {"ETag": '"one"'})
        return Answer(table_json(str(tmp_path)), 200, {"ETag": '"one"'})

    server.on("GET", TABLE, load)
    catalog = connect()
    first, second = catalog.load_table("db.t"), catalog.load_table("db.t")
    assert second.metadata == first.metadata
    assert [request.headers.get("if-none-match") for request in server.received("GET", TABLE)] == [None, '"one"']


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"metadata": "text"},
        {"metadata": {"format-version": 2}, "metadata-location": "/x"},
        {"metadata-location": "/x"},
        {"metadata": {}, "storage-credentials": [{"config": {}}]},
    ],
)
def test_table_of_another_form_is_one_error(server, connect, body):
    server.on("GET", TABLE, Answer(body))
    with pytest.raises(RESTError, match=r"table db\.t: expected .*metadata.*catalog 'prod'"):
        connect().load_table("db.t")


def test_endpoint_that_is_not_offered_is_refused_before_a_request(server, connect):
    server.configure(endpoints=["GET /v1/{prefix}/namespaces"])
    catalog = connect()
    before = len(server.requests)
    with pytest.raises(
        FeatureUnsupportedError, match=r"does not offer the endpoint POST /v1/\{prefix\}/transactions/commit"
    ):
        catalog.commit_transaction([TableCommit(("db", "t"), (), (SetPropertiesUpdate(updates={}),))])
    with pytest.raises(FeatureUnsupportedError):
        catalog.drop_table("db.t")
    assert catalog.list_views("db") == []
    assert len(server.requests) == before


def test_commit_is_reported_to_a_server_that_wants_reports(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1, 2]}))
    (report,) = (request.json() for request in server.received("POST", REPORTS))
    assert report["report-type"] == "commit-report"
    assert report["snapshot-id"] == table.current_snapshot().snapshot_id
    assert report["metrics"]["added-records"] == {"unit": "count", "value": 2}
    assert report["metrics"]["added-data-files"] == {"unit": "count", "value": 1}


@pytest.mark.parametrize("answer", [error(500, "X"), error(400, "X"), Answer(b"<html>")])
def test_commit_succeeds_where_its_report_fails(server, connect, tmp_path, answer):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, answer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1


def test_reports_can_be_disabled(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    connect(**{"rest-metrics-reporting-enabled": "false"}).load_table("db.t").append(pa.table({"id": [1]}))
    assert server.received("POST", REPORTS) == []


def reports_of_scans(server):
    reports = [request.json() for request in server.received("POST", REPORTS)]
    return [report for report in reports if report["report-type"] == "scan-report"]


def test_planned_scan_is_reported_without_the_values_of_its_filter(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1, 2, 4711]}))
    assert table.scan("id = 4711").to_arrow().num_rows == 1
    (report,) = reports_of_scans(server)
    size = next(iter(table.scan().plan_files())).file_size_in_bytes
    metrics = report.pop("metrics")
    assert report == {
        "report-type": "scan-report",
        "table-name": "db.t",
        "snapshot-id": table.current_snapshot().snapshot_id,
        "filter": {"type": "eq", "term": "id", "value": "(4-digit-int)"},
        "schema-id": 0,
        "projected-field-ids": [1],
        "projected-field-names": ["id"],
        "metadata": {"engine-name": "icefloe"},
    }
    assert metrics["total-planning-duration"]["total-duration"] > 0
    assert metrics["result-data-files"] == {"unit": "count", "value": 1}
    assert metrics["scanned-data-manifests"] == {"unit": "count", "value": 1}
    assert metrics["total-file-size-in-bytes"] == {"unit": "bytes", "value": size}
    assert metrics["positional-delete-files"] == {"unit": "count", "value": 0}


def test_explanation_of_a_scan_is_not_reported(server, connect, tmp_path):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, Answer(None, 204))
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().explain().counters["files_planned"] == 1
    assert reports_of_scans(server) == []


@pytest.mark.parametrize("answer", [error(503, "X"), error(404, "X"), Answer(b"<html>"), Answer(None, 302)])
def test_scan_succeeds_where_its_report_fails_and_the_report_is_sent_once(server, connect, tmp_path, waits, answer):
    ServedTable(server, str(tmp_path))
    server.on("POST", REPORTS, answer)
    table = connect().load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().to_arrow().num_rows == 1
    assert len(server.received("POST", REPORTS)) == 2
    assert waits == []


def test_lent_credentials_of_the_longest_prefix_read_and_write(server, connect, s3, bucket):  # noqa: F811
    location = f"s3://{bucket}/warehouse/t"

    def lent(prefix, secret):
        keys = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": secret, "s3.session-token": ""}
        return {"prefix": prefix, "config": {name: value for name, value in keys.items() if value}}

    ServedTable(
        server,
        location,
        config={"s3.endpoint": s3.endpoint, "s3.region": "us-east-1", "client.region": "us-east-1"},
        **{"storage-credentials": [lent("s3", "wrong"), lent(location, s3.secret_key), lent("s3://other", "wrong")]},
    )
    catalog = connect()
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1, 2, 3]}))
    assert catalog.load_table("db.t").scan().count() == 3
    assert server.received("GET", TABLE)[0].headers["x-iceberg-access-delegation"] == "vended-credentials"
    assert s3.secret_key not in repr(table.io) + repr(catalog) + repr(table)


def test_lent_credentials_are_renewed_at_the_servers_endpoint(server, connect, s3, bucket):  # noqa: F811
    location = f"s3://{bucket}/warehouse/t"
    now_ms = time.time_ns() // 1_000_000
    expired = {
        "s3.access-key-id": "expired",
        "s3.secret-access-key": "expired",
        "s3.session-token-expires-at-ms": str(now_ms - 1),
    }
    fresh = {
        "s3.access-key-id": s3.access_key,
        "s3.secret-access-key": s3.secret_key,
        "s3.session-token-expires-at-ms": str(now_ms + 3_600_000),
    }
    server.configure(endpoints=[f"GET {ENDPOINT}", f"POST {ENDPOINT}", f"GET {ENDPOINT}/credentials"])
    ServedTable(
        server,
        location,
        config={"s3.endpoint": s3.endpoint, "s3.region": "us-east-1"},
        **{"storage-credentials": [{"prefix": location, "config": expired}]},
    )
    server.on("GET", f"{TABLE}/credentials", Answer({"storage-credentials": [{"prefix": location, "config": fresh}]}))
    catalog = connect(token="of-the-user", **{"header.x-tenant": "blue"})
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1]}))
    assert table.scan().count() == 1
    renewals = server.received("GET", f"{TABLE}/credentials")
    assert renewals
    assert {request.headers["authorization"] for request in renewals} == {"Bearer of-the-user"}
    assert {request.headers["x-tenant"] for request in renewals} == {"blue"}


def test_reads_are_repeated_after_a_failed_gateway(server, connect, waits):
    server.on("GET", NAMESPACES, [Answer(None, 502), Answer(None, 504), Answer({"namespaces": [["a"]]})])
    assert connect().list_namespaces() == [("a",)]
    assert len(waits) == 2


def test_catalog_that_stops_is_a_storage_error_without_secrets(server, connect):
    catalog = connect(uri=server.uri.replace("://", "://user:password@"), token="abcdef")
    catalog._connection.client.close()
    object.__setattr__(catalog._connection.endpoints, "uri", "http://user:password@127.0.0.1:1")
    with pytest.raises(StorageError, match=r"cannot reach the server.*http://127\.0\.0\.1:1/v1/namespaces") as raised:
        catalog.list_namespaces()
    assert "password" not in str(raised.value)
    assert isinstance(catalog, RestCatalog)


def test_renamed_table_that_cannot_be_loaded_is_not_reported_as_a_failed_rename(server, connect):
    server.on("POST", "/v1/tables/rename", Answer(b"", 204))
    server.on("GET", f"{NAMESPACES}/db/tables/new", error(403, "ForbiddenException"))
    with pytest.raises(
        CommitStateUnknownException, match=r"the server renamed table db\.t to db\.new, and loading it failed"
    ):
        connect().rename_table("db.t", "db.new")
