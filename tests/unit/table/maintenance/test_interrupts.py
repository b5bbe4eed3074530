"""Ctrl-C while a verb writes or commits: files that no commit was sent for are deleted, all others stay."""

import uuid

import pyarrow as pa
import pytest
from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.commit.transaction import Transaction
from icefloe.table.maintenance.fold.fold_changes import FilesFold
from icefloe.table.write.file_writer import FileWriter

from tests.unit.table.maintenance.every_file import files_of

MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "write.icefloe.fold-min-files": "4"}


def fold(table):
    FilesFold(table, "main").execute()


VERBS = {
    "rewrite_data_files": lambda table: table.maintenance.rewrite_data_files().options(rewrite_all=True).execute(),
    "rewrite_position_deletes": lambda table: (
        table.maintenance.rewrite_position_deletes().options(rewrite_all=True).execute()
    ),
    "convert_equality_deletes": lambda table: table.maintenance.convert_equality_deletes().execute(),
    "fold": fold,
}


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture
def table(new_table, rows):
    """A table with small data files, position deletes and equality deletes."""
    table = new_table(None, MERGE_ON_READ)
    for number in range(4):
        table.append(rows((10 + number, "a", None)))
    table.delete("id = 1")
    for key in (2, 3, 4, 10):
        writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
        keys = pa.table({"id": pa.array([key], pa.int64()), "kind": ["a"]})
        table.new_row_delta().add_deletes(writer.equality_deletes(keys, [1])).commit()
    return table


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("place", [(RewriteFiles, "stage"), (Transaction, "sync_files")], ids=["staging", "sync"])
def test_interrupt_before_the_commit_is_sent_leaves_no_file(table, content, monkeypatch, verb, place):
    before, stored = content(table), files_of(table)
    with monkeypatch.context() as patch:
        patch.setattr(*place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](table)
    assert files_of(table) == stored
    assert content(table) == before
    count = len(table.snapshots())
    VERBS[verb](table)
    assert len(table.snapshots()) == count + 1


@pytest.mark.parametrize("verb", VERBS)
def test_interrupt_after_the_commit_is_sent_keeps_the_files(table, content, monkeypatch, verb):
    before, count = content(table), len(table.snapshots())
    commit = type(table.catalog).commit_table

    def interrupted(self, *arguments):
        commit(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(table.catalog), "commit_table", interrupted)
        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](table)
    table.refresh()
    assert len(table.snapshots()) == count + 1
    assert content(table) == before
