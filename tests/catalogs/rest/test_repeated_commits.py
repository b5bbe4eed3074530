"""Commits that a proxy reports as not processed although the server made them, and what their repetition finds."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog.rest import RestCatalog, TableCommit
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, ServiceUnavailableError
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.table.environment import SYSTEM
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate
from icefloe.table.write.file_writer import FileWriter

from tests.catalogs.rest.protocol_server import Answer, error, protocol_server
from tests.catalogs.rest.served_table import ENDPOINT, TABLE, ServedTable
from tests.catalogs.rest.test_nonsense import ENDPOINTS

ROWS = pa.table({"id": [1, 2, 3]})
CONFLICT = error(409, "CommitFailedException")
BUSY = Answer(None, 503)
TRANSACTIONS = "/v1/transactions/commit"


@pytest.fixture
def served(server, tmp_path):
    return ServedTable(server, str(tmp_path))


def data_files(location):
    return [str(path) for path in location.rglob("*.parquet")]


def commit_behind_a_proxy(server, served, *, later, broken=False):
    """Have the server commit the first request, reply 503 to it, and reply `later` to all others."""
    sent = []

    def reply(request):
        sent.append(request)
        if len(sent) > 1:
            return later
        served.commit(request)
        if broken:
            server.on("GET", TABLE, Answer(None, 500))
        return BUSY

    server.on("POST", TABLE, reply)


def test_files_stay_when_the_conflict_of_a_repeated_commit_cannot_be_checked(server, connect, served, tmp_path, waits):
    table = connect().load_table("db.t")
    commit_behind_a_proxy(server, served, later=CONFLICT, broken=True)
    with pytest.raises(CommitStateUnknownException, match="unknown whether the change took effect"):
        table.append(ROWS)
    server.on("GET", TABLE, lambda request: Answer(served.body))
    assert connect().load_table("db.t").scan().count() == 3


@pytest.mark.parametrize("retries", ["0", "4"])
def test_repeated_commit_that_conflicts_with_itself_succeeds(server, connect, served, waits, retries):
    table = connect().load_table("db.t")
    table.transaction().set_properties({"commit.retry.num-retries": retries}).commit_transaction()
    commit_behind_a_proxy(server, served, later=CONFLICT)
    table.append(ROWS)
    assert connect().load_table("db.t").scan().count() == 3


def test_repeated_commit_of_properties_that_conflicts_is_unknown(server, connect, served, waits):
    table = connect().load_table("db.t")
    commit_behind_a_proxy(server, served, later=CONFLICT)
    with pytest.raises(CommitStateUnknownException):
        table.transaction().set_properties(a="b").commit_transaction()


def test_conflict_after_a_limit_of_requests_is_definite(server, connect, served, tmp_path, waits):
    table = connect().load_table("db.t")
    table.transaction().set_properties({"commit.retry.num-retries": "0"}).commit_transaction()
    server.on("POST", TABLE, [Answer(None, 429), CONFLICT])
    with pytest.raises(CommitFailedException):
        table.append(ROWS)
    assert data_files(tmp_path) == []


def test_files_of_a_commit_stay_when_the_service_is_unavailable(server, connect, served, tmp_path, waits):
    """A proxy may reply 503 while the server is still committing."""
    table = connect().load_table("db.t")
    server.on("POST", TABLE, BUSY)
    with pytest.raises(ServiceUnavailableError):
        table.append(ROWS)
    assert len(data_files(tmp_path)) == 1
    [request, *_] = server.received("POST", TABLE)
    served.commit(request)
    assert connect().load_table("db.t").scan().count() == 3


@pytest.mark.parametrize("status", [400, 401, 403, 406, 419, 422, 429, 501])
def test_files_stay_when_only_the_repetition_is_refused(server, connect, served, tmp_path, waits, status):
    """The first request may have been committed behind a proxy that replied 503."""
    table = connect().load_table("db.t")
    commit_behind_a_proxy(server, served, later=error(status, "Refused"), broken=True)
    with pytest.raises(CommitStateUnknownException, match=f"status {status}.*; unknown whether the change took effect"):
        table.append(ROWS)
    server.on("GET", TABLE, lambda request: Answer(served.body))
    assert connect().load_table("db.t").scan().count() == 3


def test_files_stay_when_the_repetition_does_not_reach_the_server(tmp_path, monkeypatch):
    with contextlib.ExitStack() as running:
        server = running.enter_context(protocol_server())
        served = ServedTable(server, str(tmp_path))
        monkeypatch.setattr(RestCatalog, "environment", replace(SYSTEM, sleep=lambda _: running.close()))
        table = RestCatalog("prod", uri=server.uri).load_table("db.t")

        def commit_and_stop(request):
            served.commit(request)
            return Answer(None, 503, {"Connection": "close"})

        server.on("POST", TABLE, commit_and_stop)
        with pytest.raises(CommitStateUnknownException, match=r"cannot reach the server.*; unknown whether the change"):
            table.append(ROWS)
    assert len(data_files(tmp_path)) == 1


def test_files_stay_when_there_is_no_token_for_the_repetition(server, connect, served, tmp_path, waits):
    server.on("POST", "/v1/oauth/tokens", Answer({"access_token": "of-a-moment", "expires_in": 0}))
    table = connect(credential="me:of-the-user").load_table("db.t")

    def commit_and_lock_out(request):
        served.commit(request)
        server.on("POST", "/v1/oauth/tokens", Answer(None, 400))
        return BUSY

    server.on("POST", TABLE, commit_and_lock_out)
    with pytest.raises(CommitStateUnknownException, match=r"cannot repeat the request: .*; unknown whether the change"):
        table.append(ROWS)
    assert len(data_files(tmp_path)) == 1


def test_repeated_commit_of_several_tables_that_conflicts_is_unknown(server, connect, served, waits):
    server.configure(endpoints=ENDPOINTS)
    catalog = connect()
    table = catalog.load_table("db.t")
    server.on("POST", TRANSACTIONS, [BUSY, CONFLICT])
    requirement = AssertTableUUID(uuid=table.metadata.table_uuid)
    with pytest.raises(CommitStateUnknownException):
        catalog.commit_transaction(
            [TableCommit(table.name(), (requirement,), (SetPropertiesUpdate(updates={"a": "b"}),))]
        )


def test_removal_that_the_server_calls_not_modified_is_unknown(server, connect, served, waits):
    server.configure(endpoints=[*ENDPOINTS, f"DELETE {ENDPOINT}"])
    server.on("DELETE", TABLE, Answer(None, 304))
    server.on("HEAD", TABLE, Answer(None))
    with pytest.raises(CommitStateUnknownException):
        connect().drop_table("db.t")


def test_files_of_executors_stay_when_the_service_is_unavailable(server, connect, served, tmp_path, waits):
    table = connect().load_table("db.t")
    server.on("POST", TABLE, BUSY)
    files = FileWriter(table.io, table.metadata, "executors").data_files(ROWS)
    transaction = table.transaction()
    transaction.new_append().append(files).commit()
    with pytest.raises(ServiceUnavailableError), files_deleted_on_failure(table, [files]):
        transaction.commit_transaction()
    assert len(data_files(tmp_path)) == 1


@pytest.mark.parametrize("partial", [False, True])
def test_compaction_whose_service_is_unavailable_is_not_reported_as_done_in_part(
    server, connect, served, tmp_path, waits, partial
):
    table = connect().load_table("db.t")
    for _ in range(2):
        table.append(ROWS)
    server.on("POST", TABLE, BUSY)
    rewrite = table.maintenance.rewrite_data_files().options(min_input_files=2, partial_progress_enabled=partial)
    with pytest.raises(ServiceUnavailableError, match="unknown whether the change took effect"):
        rewrite.execute()
    assert len(data_files(tmp_path)) == 3


@pytest.mark.parametrize("retries", ["0", "4"])
def test_files_stay_when_the_table_cannot_be_loaded_after_a_conflict(server, connect, served, tmp_path, waits, retries):
    """A proxy may send a request twice, and the second one conflicts with the first."""
    table = connect().load_table("db.t")
    table.transaction().set_properties({"commit.retry.num-retries": retries}).commit_transaction()

    def commit_twice(request):
        served.commit(request)
        server.on("GET", TABLE, Answer(None, 500))
        return CONFLICT

    server.on("POST", TABLE, commit_twice)
    with pytest.raises(
        CommitStateUnknownException, match=r"db\.t: the catalog reported a conflict, and loading the newest"
    ):
        table.append(ROWS)
    server.on("GET", TABLE, lambda request: Answer(served.body))
    assert connect().load_table("db.t").scan().count() == 3
