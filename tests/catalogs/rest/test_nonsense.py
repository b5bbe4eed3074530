"""Replies that are no replies of a catalog, at every endpoint: one error that names the catalog, the address and the outcome."""

from __future__ import annotations

import copy

import pyarrow as pa
import pytest
from icefloe.catalog.rest import TableCommit
from icefloe.exceptions import CommitStateUnknownException, IcebergError, OAuthError
from icefloe.schema import Schema
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate
from icefloe.types import LongType, NestedField

from tests.catalogs.rest.protocol_server import Answer
from tests.catalogs.rest.served_table import ENDPOINT, TABLE, ServedTable, table_json
from tests.catalogs.rest.test_scan_planning import OFFERED

SECRETS = ("of-the-user", "secret=1", "pass-word")
SCHEMA = Schema(NestedField(1, "id", LongType()))
NAMESPACES = "/v1/namespaces"
VIEWS = f"{NAMESPACES}/db/views"
ENDPOINTS = [
    *OFFERED,
    f"DELETE {ENDPOINT}",
    f"HEAD {ENDPOINT}",
    f"POST {ENDPOINT}/metrics",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit",
    "GET /v1/{prefix}/namespaces/{namespace}/views",
    "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}",
]
PAGE = {"Content-Type": "text/html; charset=utf-8"}
ERROR = {"error": {"message": "it is broken", "type": "InternalServerError", "code": 500}}


def damaged(change):
    """Return a reply with a table whose metadata `change` has damaged."""
    body = copy.deepcopy(table_json("/nowhere"))
    change(body["metadata"])
    return Answer(body)


REPLIES = {
    "page": Answer(b"<html>sign in</html>", 200, PAGE),
    "page without a type": Answer(b"<!doctype html><p>"),
    "redirect": Answer(b"", 302, {"Location": "https://login.example/?secret=1"}),
    "status 419": Answer(b"", 419),
    "page of 403": Answer(b"<html>no</html>", 403, PAGE),
    "page of 404": Answer(b"<html>no</html>", 404, PAGE),
    "page of 500": Answer(b"<html>oops</html>", 500, PAGE),
    "cut body": Answer(b'{"metadata": {"format-version": 2, "table'),
    "empty body": Answer(b""),
    "list": Answer([]),
    "null": Answer(b"null"),
    "other object": Answer({"hello": "world"}),
    "other types": Answer(
        {
            "namespace": 1,
            "namespaces": 1,
            "identifiers": {},
            "properties": 1,
            "metadata": [],
            "metadata-location": 1,
            "updated": 1,
            "removed": 1,
            "status": 1,
        }
    ),
    "error with status 200": Answer(ERROR),
    "bytes": Answer(b"\xff\xfe\x00\x01" * 10),
    "compressed nonsense": Answer(b"not compressed", 200, {"Content-Encoding": "gzip"}),
    "deep": Answer(b'{"metadata": ' + b"[" * 100_000),
    "damaged schema": damaged(lambda it: it.update(schemas=[])),
    "damaged version": damaged(lambda it: it.update({"format-version": "two"})),
    "unknown version": damaged(lambda it: it.update({"format-version": 99})),
    "damaged snapshots": damaged(lambda it: it.update(snapshots=[{"snapshot-id": "x"}])),
    "damaged fields": damaged(lambda it: it["schemas"][0].update(fields=[{"id": 1}])),
    "missing uuid": damaged(lambda it: it.pop("table-uuid")),
}
TABLES = {name for name in REPLIES if name.startswith(("damaged", "unknown", "missing"))}


class Operation:
    """An operation, the request that gets the reply, and whether a reply without content is a success."""

    def __init__(self, method, path, run, *, content=True, table=False) -> None:
        self.method, self.path, self.run, self.content, self.table = method, path, run, content, table

    @property
    def changes(self):
        return self.method in ("POST", "DELETE")


def transaction(catalog):
    table = catalog.load_table("db.t")
    requirement = AssertTableUUID(uuid=table.metadata.table_uuid)
    catalog.commit_transaction([TableCommit(table.name(), (requirement,), (SetPropertiesUpdate(updates={"a": "b"}),))])


def set_properties(catalog):
    with catalog.load_table("db.t").transaction() as change:
        change.set_properties(a="b")


def stage(catalog):
    return catalog.create_table_transaction("db.new", SCHEMA, "/nowhere")


OPERATIONS = {
    "list namespaces": Operation("GET", NAMESPACES, lambda it: it.list_namespaces()),
    "create namespace": Operation("POST", NAMESPACES, lambda it: it.create_namespace("db"), content=False),
    "load namespace": Operation("GET", f"{NAMESPACES}/db", lambda it: it.load_namespace_properties("db")),
    "namespace exists": Operation("HEAD", f"{NAMESPACES}/db", lambda it: it.namespace_exists("db"), content=False),
    "drop namespace": Operation("DELETE", f"{NAMESPACES}/db", lambda it: it.drop_namespace("db"), content=False),
    "set namespace properties": Operation(
        "POST", f"{NAMESPACES}/db/properties", lambda it: it.update_namespace_properties("db", updates={"a": "b"})
    ),
    "list tables": Operation("GET", f"{NAMESPACES}/db/tables", lambda it: it.list_tables("db")),
    "create table": Operation(
        "POST", f"{NAMESPACES}/db/tables", lambda it: it.create_table("db.new", SCHEMA, "/nowhere"), table=True
    ),
    "stage table": Operation("POST", f"{NAMESPACES}/db/tables", stage, table=True),
    "register table": Operation(
        "POST", f"{NAMESPACES}/db/register", lambda it: it.register_table("db.new", "/nowhere/x"), table=True
    ),
    "load table": Operation("GET", TABLE, lambda it: it.load_table("db.t"), table=True),
    "table exists": Operation("HEAD", TABLE, lambda it: it.table_exists("db.t"), content=False),
    "commit": Operation("POST", TABLE, set_properties, table=True),
    "commit several tables": Operation("POST", "/v1/transactions/commit", transaction, content=False),
    "drop table": Operation("DELETE", TABLE, lambda it: it.drop_table("db.t"), content=False),
    "purge table": Operation("DELETE", TABLE, lambda it: it.purge_table("db.t"), content=False),
    "rename table": Operation("POST", "/v1/tables/rename", lambda it: it.rename_table("db.t", "db.t"), content=False),
    "list views": Operation("GET", VIEWS, lambda it: it.list_views("db")),
    "load view": Operation("GET", f"{VIEWS}/v", lambda it: it.load_view("db.v")),
    "view exists": Operation("HEAD", f"{VIEWS}/v", lambda it: it.view_exists("db.v"), content=False),
    "drop view": Operation("DELETE", f"{VIEWS}/v", lambda it: it.drop_view("db.v"), content=False),
    "plan scan": Operation("POST", f"{TABLE}/plan", lambda it: it.load_table("db.t").scan().count()),
}
# Requests by POST that change nothing.
READS = {"plan scan", "stage table"}
# Replies without content that state a success.
PLAIN = {"empty body", "other object", "other types", *TABLES}


@pytest.fixture
def prod(server, connect, tmp_path):
    server.configure(endpoints=ENDPOINTS)
    served = ServedTable(server, str(tmp_path))
    catalog = connect(uri=server.uri.replace("://", "://me:pass-word@"), token="of-the-user")
    table = catalog.load_table("db.t")
    table.append(pa.table({"id": [1]}))
    # The table or namespace that the change would have removed is still there.
    for path in (TABLE, f"{VIEWS}/v", f"{NAMESPACES}/db"):
        server.on("HEAD", path, Answer(None, 204))
    served.body["config"] = {"scan-planning-mode": "server"}
    return catalog


def succeeds(name, operation, reply):
    """Return whether a reply is one of the protocol, as far as this operation needs it."""
    if operation.method == "HEAD":
        return reply in PLAIN | {"page of 404", "cut body", "list", "null", "bytes", "deep", "page without a type"} | {
            "error with status 200",
            "compressed nonsense",
        }
    if name == "create namespace":
        return reply in {"empty body", "other types"}
    return not operation.content and reply in PLAIN


@pytest.mark.parametrize("name", OPERATIONS)
def test_reply_that_is_nonsense_is_one_error(server, prod, waits, name):
    operation = OPERATIONS[name]
    for reply, answer in REPLIES.items():
        # A table in a reply that has none is another object.
        if reply in TABLES and not operation.table:
            continue
        server.on(operation.method, operation.path, answer)
        if succeeds(name, operation, reply):
            operation.run(prod)
            continue
        try:
            operation.run(prod)
        except IcebergError as error:
            check(error, server, name, reply)
        else:
            pytest.fail(f"{reply}: no error")


def check(error, server, name, reply):
    operation, status, text = OPERATIONS[name], REPLIES[reply].status, str(error)
    assert "catalog 'prod'" in text, reply
    assert f"{operation.method} {server.uri}{operation.path}" in text, reply
    assert not any(secret in text for secret in SECRETS), reply
    if reply not in ("compressed nonsense", "unknown version", "other types", "other object", "empty body"):
        assert f"status {status}" in text, reply
    if operation.changes and name not in READS:
        is_unknown = isinstance(error, CommitStateUnknownException)
        assert is_unknown == (status in (200, 302, 500)), reply
        assert is_unknown == ("unknown whether the change took effect" in text), reply
        assert is_unknown != ("nothing has changed" in text), reply


@pytest.mark.parametrize("reply", sorted(REPLIES.keys() - TABLES - {"empty body", "other object", "other types"}))
def test_configuration_that_is_nonsense_is_one_error(server, connect, waits, reply):
    server.on("GET", "/v1/config", REPLIES[reply])
    with pytest.raises(IcebergError, match=r"catalog 'prod': configuration: .*/v1/config") as raised:
        connect(token="of-the-user")
    assert "of-the-user" not in str(raised.value)


@pytest.mark.parametrize("reply", [name for name in REPLIES if name not in TABLES])
def test_token_reply_that_is_nonsense_is_one_error(server, connect, waits, reply):
    server.on("POST", "/v1/oauth/tokens", REPLIES[reply])
    with pytest.raises(OAuthError, match=r"access token: .*/v1/oauth/tokens") as raised:
        connect(credential="me:of-the-user")
    assert "of-the-user" not in str(raised.value)


def test_report_that_gets_nonsense_is_ignored(server, prod, waits):
    server.on("POST", f"{TABLE}/plan", Answer({"status": "completed"}))
    table = prod.load_table("db.t")
    for answer in REPLIES.values():
        server.on("POST", f"{TABLE}/metrics", answer)
        table.append(pa.table({"id": [2]}))
        assert table.scan().count() == 0
    assert waits == []
