"""Exit codes of changes and reads after failures of the server of a REST catalog."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.catalogs.rest.protocol_server import Answer, error, protocol_server
from tests.catalogs.rest.served_table import TABLE, ServedTable

UNAVAILABLE = Answer(None, 503)
SET = ("properties", "set", "db.t", "a=1", "--yes")


@pytest.fixture
def server(tmp_path):
    with protocol_server() as made:
        ServedTable(made, str(tmp_path / "served"))
        yield made


@pytest.fixture
def on_server(icefloe, server):
    """Run the command with the REST catalog of the server, which sends no request twice."""
    catalog = ("-p", "type=rest", "-p", "rest.client.max-retries=0", "--uri", server.uri, "-c", "prod")
    return lambda *arguments: icefloe(*catalog, *arguments, "-o", "json")


def test_commit_of_files_after_status_503_exits_with_5_and_keeps_the_files(on_server, server, tmp_path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "new.parquet")
    server.on("POST", TABLE, UNAVAILABLE)
    done = on_server("append", "db.t", tmp_path / "new.parquet", "--yes")
    assert (done.code, done.out, done.error()["type"]) == (5, b"", "CommitServiceUnavailableError")
    assert "unknown whether the change took effect" in done.error()["message"]
    assert "before you run the command again" in done.error()["hint"]
    assert len(list((tmp_path / "served").rglob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("arguments", "method", "path"),
    [
        (SET, "POST", TABLE),
        (("create-namespace", "new", "--yes"), "POST", "/v1/namespaces"),
        (("rename", "db.t", "db.u", "--yes"), "POST", "/v1/tables/rename"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_change_after_status_503_exits_with_5(on_server, server, arguments, method, path):
    server.on(method, path, UNAVAILABLE)
    done = on_server(*arguments)
    assert (done.code, done.out, done.error()["type"]) == (5, b"", "CommitServiceUnavailableError")


@pytest.mark.parametrize("arguments", [("files", "db.t"), SET], ids=["read", "change"])
def test_status_503_before_a_change_is_sent_exits_with_1(on_server, server, arguments):
    server.on("GET", TABLE, UNAVAILABLE)
    done = on_server(*arguments)
    assert (done.code, done.out, done.error()["type"]) == (1, b"", "ServiceUnavailableError")
    assert server.received("POST", TABLE) == []


def test_commit_after_a_conflict_exits_with_4(on_server, server):
    server.on("POST", TABLE, error(409, "CommitFailedException"))
    assert on_server("properties", "set", "db.t", "commit.retry.num-retries=0", "--yes").code == 4


def test_server_that_is_not_reached_exits_with_1(icefloe):
    catalog = ("-p", "type=rest", "-p", "rest.client.max-retries=0", "--uri", "http://127.0.0.1:9", "-c", "prod")
    done = icefloe(*catalog, *SET, "-o", "json")
    assert (done.code, done.out, done.error()["type"]) == (1, b"", "StorageError")
