"""Removals of tables from a Glue catalog: purges beside other changes, and purges that Glue refuses halfway."""

import pytest
from icefloe.catalog.glue.glue_catalog import RENAMED
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    LeftoverFilesWarning,
    NoSuchTableError,
    StorageError,
)

from tests.catalogs.glue.tables import PLAIN, ROWS, entry_of, files


def test_purge_fails_after_a_concurrent_commit(catalog, table, server):
    def overtake(operation, body):
        if operation == "UpdateTable":
            server.before = None
            catalog.load_table(table.name()).append(ROWS)

    server.before = overtake
    with pytest.raises(CommitFailedException, match="another commit was first"):
        catalog.purge_table(table.name())
    assert table.refresh().scan().count() == 3


def test_purge_deletes_the_files(catalog, table):
    table.append(ROWS)
    catalog.purge_table(table.name())
    assert files(table) == set()


def test_purge_whose_deletion_is_refused_leaves_the_table_in_use(catalog, table, server):
    table.append(ROWS)
    before = entry_of(catalog, table.name())["Parameters"]
    server.faults = [None, 400]
    with pytest.raises(StorageError, match="AWS Glue, delete_table: "):
        catalog.purge_table(table.name())
    assert entry_of(catalog, table.name())["Parameters"] == before
    catalog.load_table(table.name()).append(ROWS)
    assert table.refresh().scan().count() == 6
    catalog.purge_table(table.name())
    assert files(table) == set()


def test_purge_that_can_be_neither_completed_nor_undone_says_how_to_repair_the_entry(catalog, table, namespace, server):
    table.append(ROWS)
    server.faults = [None, 400, 400]
    with pytest.raises(
        CommitStateUnknownException,
        match=r"table_type to ICEBERG in Glue to use the table again, or call drop_table\(\)",
    ):
        catalog.purge_table(table.name())
    assert entry_of(catalog, table.name())["Parameters"]["table_type"] == RENAMED
    assert table.metadata_location in files(table)
    catalog.drop_table(table.name())
    assert catalog.register_table((namespace, "t"), table.metadata_location).scan().count() == 3


def test_drop_removes_the_leftover_entry_of_a_rename(catalog, table, namespace, server):
    table.append(ROWS)
    server.faults = [None, None, 500]
    with pytest.warns(LeftoverFilesWarning):
        catalog.rename_table(table.name(), (namespace, "u"))
    catalog.drop_table(table.name())
    with pytest.raises(NoSuchTableError):
        catalog.drop_table(table.name())
    catalog.create_table(table.name(), PLAIN)
    assert catalog.load_table((namespace, "u")).scan().count() == 3
