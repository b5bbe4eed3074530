"""Purging tables of pointer catalogs: a warning after the drop lists files that could not be deleted."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import LeftoverFilesWarning

ROWS = pa.table({"id": [1, 2]})


@pytest.fixture
def table(pointer_catalog):
    pointer_catalog.create_namespace("db")
    made = pointer_catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    for _ in range(2):
        made.append(ROWS)
    return made


def files(table):
    return sorted(path for path in Path(table.location()).rglob("*") if path.is_file())


def test_purge_deletes_temporary_files_of_killed_writers(pointer_catalog, table):
    (Path(table.location()) / "metadata" / ".icefloe-0b1c").write_bytes(b"{")
    (Path(table.location()) / "metadata" / "stranger").write_bytes(b"stays")
    pointer_catalog.purge_table("db.t")
    assert [path.name for path in files(table)] == ["stranger"]


def test_purge_warns_of_undeleted_files_and_deletes_all_others(pointer_catalog, table):
    undeletable = table.inspect.files().column("file_path")[0].as_py()
    Path(undeletable).unlink()
    # A directory cannot be unlinked, not even by root.
    Path(undeletable).mkdir()
    with pytest.warns(LeftoverFilesWarning, match=r"db\.t is dropped.*directory") as caught:
        pointer_catalog.purge_table("db.t")
    assert [location for location, _ in caught[0].message.files] == [undeletable]
    assert caught[0].filename == __file__
    assert files(table) == []
    assert pointer_catalog.list_tables("db") == []


@pytest.mark.parametrize("what", ["list", "manifest"])
def test_purge_of_a_corrupt_table_warns_of_unreadable_files(pointer_catalog, table, what):
    data = table.inspect.files().column("file_path").to_pylist()
    newest = table.current_snapshot().manifest_list
    damaged = newest if what == "list" else table.inspect.manifests().column("path")[0].as_py()
    Path(damaged).write_bytes(b"damaged")
    with pytest.warns(LeftoverFilesWarning, match="files that only it lists were not deleted") as caught:
        pointer_catalog.purge_table("db.t")
    assert [location for location, _ in caught[0].message.files] == [damaged]
    left = [str(path) for path in files(table)]
    # The data file of the last append, and its manifest where the list is what cannot be read.
    assert len(left) == {"list": 2, "manifest": 1}[what]
    assert len(set(left) & set(data)) == 1
