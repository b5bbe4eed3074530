"""Maintenance that conflicts, loses a reply, is refused by storage or interrupted: exit code, report and a sound table."""

import os
import signal
import subprocess
import sys

import pexpect
import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.sql import SqlCatalog
from icefloe.cli.carry_out import carry_out
from icefloe.cli.failure import ExitCode
from icefloe.cli.maintain.maintaining import run_maintenance
from icefloe.cli.session import Session
from icefloe.exceptions import CommitFailedException, StorageError
from icefloe.io import FileIO
from icefloe.table.commit.transaction import Transaction
from icefloe.table.maintenance import deletion
from icefloe.table.maintenance.deletes.position_delete_run import PositionDeleteRun
from icefloe.table.maintenance.progress import MaintenanceProgress
from icefloe.table.maintenance.rewrite.run import RewriteRun

EXPIRE = ("expire", "db.t", "--older-than", "0s", "-y", "-o", "json")
IDS = [1, 2, 3, 4, 5, 6]


def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)


def is_sound(lake):
    """Whether the table has its rows and accepts a commit, and nothing but orphan files is left to delete."""
    table = lake.load_table("db.t")
    table.append(pa.table({"id": [99], "kind": ["z"]}))
    table.maintenance.remove_orphan_files().older_than("0s").force().execute()
    return sorted(table.scan().to_arrow().column("id").to_pylist()) == [*IDS, 99]


@pytest.fixture(autouse=True)
def own_interrupts():
    """Python's handler of interrupts, which a Spark session of other tests in this process replaces."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def rewritten(table):
    """The table `db.t`, whose first snapshots have files that the current one does not need."""
    table.overwrite(pa.table({"id": IDS, "kind": ["a"] * 6}))
    return table


def test_conflict_that_no_attempt_wins_exits_with_4(icefloe, lake, rewritten, monkeypatch):
    with rewritten.update_properties() as update:
        update.set_properties({"commit.retry.num-retries": "0"})

    def lose(*_):
        raise CommitFailedException("another writer was first")

    with monkeypatch.context() as patches:
        patches.setattr(SqlCatalog, "_swap", lose)
        done = icefloe(*EXPIRE)
    assert (done.code, done.out, done.error()["type"]) == (4, b"", "CommitFailedException")
    assert "run the command again" in done.error()["hint"]
    assert is_sound(lake)


def test_unknown_outcome_exits_with_5_and_deletes_nothing(icefloe, lake, rewritten, monkeypatch):
    before = set(rewritten.io.core.list(rewritten.location()).column("location").to_pylist())
    with monkeypatch.context() as patches:

        def unreachable(*_):
            raise StorageError("the catalog is unreachable")

        swap = SqlCatalog._swap

        def swap_and_lose(self, *arguments):
            swap(self, *arguments)
            patches.setattr(SqlCatalog, "_pointer", unreachable)
            raise OutcomeUnknownError("the reply was lost")

        patches.setattr(SqlCatalog, "_swap", swap_and_lose)
        done = icefloe(*EXPIRE)
    assert (done.code, done.error()["type"]) == (5, "CommitStateUnknownException")
    assert "no file was deleted" in done.error()["hint"]
    assert before <= set(rewritten.io.core.list(rewritten.location()).column("location").to_pylist())
    assert is_sound(lake)


def test_storage_that_refuses_deletes_exits_with_6(icefloe, lake, rewritten, monkeypatch):
    core = FileIO.core

    class Refusing:
        def __init__(self, real):
            self._real = real

        def __getattr__(self, name):
            return getattr(self._real, name)

        def delete_many(self, locations):
            return [(location, "access denied") for location in locations]

    with monkeypatch.context() as patches:
        found = _core.files_of_snapshots
        patches.setattr(_core, "files_of_snapshots", lambda io, **options: found(getattr(io, "_real", io), **options))
        patches.setattr(FileIO, "core", property(lambda self: Refusing(core.fget(self))))
        patches.setattr("icefloe.table.maintenance.expiry.expire_snapshots.Transaction", _real_storage(core))
        done = icefloe(*EXPIRE)
    result = done.json("change")["result"]
    assert (done.code, result["partly"], result["deleted_files"]) == (6, True, 0)
    assert {one["reason"] for one in result["failures"]} == {"access denied"}
    assert is_sound(lake)


def _real_storage(core):
    """Return a transaction whose commit uses the storage itself."""

    class Committing(Transaction):
        def commit_transaction(self):
            refusing = FileIO.core
            FileIO.core = core
            try:
                return super().commit_transaction()
            finally:
                FileIO.core = refusing

    return Committing


def test_compaction_of_which_a_group_was_committed_exits_with_6(icefloe, lake, monkeypatch):
    table = lake.create_table(
        "db.p",
        pa.schema([("id", pa.int64()), ("kind", pa.string())]),
        properties={"write.delete.mode": "merge-on-read"},
    )
    table.update_spec().add_identity("kind").commit()
    for first in range(0, 60, 6):
        table.append(pa.table({"id": range(first, first + 6), "kind": ["a", "b"] * 3}))
    victims, write = iter(range(0, 60, 6)), RewriteRun._write

    def interfering(self, group, workers):
        write(self, group, workers)
        if '"a"' in group.partition:
            lake.load_table("db.p").delete(f"id = {next(victims)}")

    with monkeypatch.context() as patches:
        patches.setattr(RewriteRun, "_write", interfering)
        done = icefloe("compact", "db.p", "-y", "-o", "json")
    result = done.json("change")["result"]
    assert (done.code, result["partly"], len(result["failures"])) == (6, True, 1)
    assert "replaced 10 data files" in result["summary"]
    assert "concurrent commits changed its files again and again" in result["summary"]
    assert table.refresh().scan().to_arrow().num_rows == 56


def test_rewrite_of_deletes_of_which_a_partition_was_committed_exits_with_6(lake, monkeypatch, capfd):
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    table = lake.create_table("db.p", pa.schema([("id", pa.int64()), ("kind", pa.string())]), properties=properties)
    table.update_spec().add_identity("kind").commit()
    table.append(pa.table({"id": range(12), "kind": ["a", "b", "c"] * 4}))
    for number in range(3):
        table.delete(f"id = {number}")
    rewrite, done = PositionDeleteRun._rewrite, []

    def interfering(self, groups):
        if done:
            # The delete files of the newest commit are rewritten first.
            lake.load_table("db.p").overwrite(pa.table({"id": [99], "kind": ["a"]}), "kind = 'a'")
        done.append(groups)
        return rewrite(self, groups)

    options = {"rewrite_all": True, "partial_progress_enabled": True, "partial_progress_max_failed_commits": 0}
    with monkeypatch.context() as patches:
        patches.setattr(PositionDeleteRun, "_rewrite", interfering)
        for expected in (ExitCode.PARTLY, ExitCode.DONE):
            builder = table.maintenance.rewrite_position_deletes().options(**options)
            code = run_maintenance(Session(), "rewrite-deletes", "db.p", table, builder, dry_run=False, yes=True)
            assert code == expected
            table.refresh()
            patches.undo()
    assert "partly done: rewrite_position_deletes: replaced 2 delete files" in capfd.readouterr().out
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [4, 5, 7, 8, 10, 11, 99]


def test_missing_file_exits_with_3_and_names_the_command_that_finds_it(icefloe, table):
    (location, *_) = (task.file.file_path for task in table.scan().plan_files())
    table.io.delete(location)
    done = icefloe("scan", "db.t", "-o", "json")
    assert (done.code, done.error()["type"]) == (3, "MissingFileError")
    assert "`icefloe doctor TABLE --files list`" in done.error()["hint"]
    assert "icefloe list" not in done.error()["hint"]


def test_plan_that_another_writer_made_stale_exits_with_4(icefloe, lake, rewritten, monkeypatch):
    oldest = rewritten.snapshots()[0].snapshot_id

    def tag(*arguments, **options):
        lake.load_table("db.t").manage_snapshots().create_tag(oldest, "audit").commit()
        return carry_out(*arguments, **options)

    with monkeypatch.context() as patches:
        patches.setattr("icefloe.cli.maintain.maintaining.carry_out", tag)
        done = icefloe(*EXPIRE)
    assert (done.code, done.out) == (4, b"")
    assert "has become the head of tag 'audit'; make a new plan" in done.error()["message"]
    assert is_sound(lake)


def test_interrupt_between_deletes_exits_with_130_and_a_report(icefloe, lake, rewritten, monkeypatch):
    with monkeypatch.context() as patches:
        patches.setattr(deletion, "_GROUP", 1)
        patches.setattr(MaintenanceProgress, "advance", interrupt)
        done = icefloe(*EXPIRE)
    assert done.code == 130
    assert "files were deleted, the others are left to remove_orphan_files" in done.error()["message"]
    assert len(rewritten.refresh().snapshots()) == 1
    assert is_sound(lake)


def test_interrupt_during_compaction_exits_with_130_and_changes_nothing(icefloe, lake, table, monkeypatch):
    version = table.metadata_location
    with monkeypatch.context() as patches:
        patches.setattr(MaintenanceProgress, "advance", interrupt)
        done = icefloe("compact", "db.t", "--rewrite-all", "-y", "-o", "json")
    assert (done.code, table.refresh().metadata_location) == (130, version)
    assert "interrupted; rewrite_data_files: nothing was rewritten" in done.error()["message"]
    assert is_sound(lake)


# Draws bars from the start of a run, and not after a second only.
COMMAND = """
import icefloe.table.maintenance.progress
icefloe.table.maintenance.progress.QUIET_SECONDS = 0
from icefloe.cli.__main__ import main
main()
"""


def test_terminal_has_progress_bars_and_a_pipe_has_none(lake, rewritten, tmp_path):
    for start in range(10, 14):
        rewritten.append(pa.table({"id": [start], "kind": ["a"]}))
    arguments = ["-c", COMMAND, "compact", "db.t", "-y", "--rewrite-all"]
    terminal = {**os.environ, "TERM": "xterm-256color"}
    child = pexpect.spawn(sys.executable, arguments, cwd=str(tmp_path), env=terminal, encoding="utf-8", timeout=120)
    child.expect_exact("rewriting")
    child.expect(r"\d+/10")
    child.expect_exact("replaced 5 data files")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    arguments[2:] = ["expire", "db.t", "--older-than", "0s", "-y"]
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "deleted" in done.stdout
    assert "deleting" not in done.stderr


# Each batch waits for the interrupt, so that the terminal sends it during the rewrite.
INTERRUPTED = f"""
import signal, threading
from icefloe.table.maintenance.progress import MaintenanceProgress
pressed = threading.Event()
def interrupted(*arguments):
    pressed.set()
    signal.default_int_handler(*arguments)
def advance(self, count, draw=MaintenanceProgress.advance):
    draw(self, count)
    assert pressed.wait(60)
MaintenanceProgress.advance = advance
signal.signal(signal.SIGINT, interrupted)
{COMMAND}"""


def test_ctrl_c_in_a_terminal_exits_with_130_and_leaves_a_sound_table(lake, table, tmp_path):
    version, files = table.metadata_location, {path for path in tmp_path.rglob("*") if path.is_file()}
    arguments = ["-c", INTERRUPTED, "compact", "db.t", "-y", "--rewrite-all"]
    terminal = {**os.environ, "TERM": "xterm-256color"}
    child = pexpect.spawn(sys.executable, arguments, cwd=str(tmp_path), env=terminal, encoding="utf-8", timeout=120)
    child.expect_exact("rewriting")
    child.sendintr()
    child.expect_exact("interrupted; rewrite_data_files: nothing was rewritten")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in child.before
    assert table.refresh().metadata_location == version
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == files
    assert is_sound(lake)
