"""Parts of the REST protocol that the Java reference's server lacks, on a server with prepared replies."""

from __future__ import annotations

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
from icefloe.schema import Schema
from icefloe.table.update import SetPropertiesUpdate
from icefloe.types import LongType, NestedField

from tests.catalogs.rest.protocol_server import Answer, error
from tests.catalogs.rest.served_table import TABLE, table_json

NAMESPACES = "/v1/namespaces"


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
    with pytest.raises(ServiceUnavailableError, match=r"status 503.*; unknown whether the change took effect"):
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


@pytest.mark.parametrize("is_same", [True, False])
def test_lost_rename_is_found_by_the_table_and_not_by_the_name(server, connect, waits, tmp_path, is_same):
    """Another client may have dropped the table and created another one of the new name."""
    renamed = table_json(str(tmp_path))
    server.on("GET", TABLE, [Answer(renamed), error(404, "NoSuchTableException")])
    server.on("POST", "/v1/tables/rename", error(500, "InternalServerError"))
    server.on("GET", f"{NAMESPACES}/db/tables/new", Answer(renamed if is_same else table_json(str(tmp_path))))
    catalog = connect()
    if is_same:
        assert str(catalog.rename_table("db.t", "db.new").metadata.table_uuid) == renamed["metadata"]["table-uuid"]
        return
    with pytest.raises(CommitStateUnknownException, match="unknown whether the change took effect"):
        catalog.rename_table("db.t", "db.new")
