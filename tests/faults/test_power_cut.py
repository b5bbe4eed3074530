"""Commits sync their files and the directories above them before the swap."""

from pathlib import Path

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField

from tests.faults.strace import Call, calls, needs_strace

pytestmark = needs_strace
NAMES = "?mkdir,mkdirat,?link,linkat,?rename,?renameat,renameat2,fsync,openat"
APPEND = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
table = load_catalog("cat", type="hadoop", warehouse=sys.argv[1]).load_table("db.t")
table.append(pa.table({"p": [1, 1, 2, 3], "q": [1, 2, 1, 1]}))
"""
CREATE = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("cat", type="hadoop", warehouse=sys.argv[1])
catalog.create_namespace("above.db")
catalog.create_table("above.db.t", pa.schema([("p", pa.int64())]))
"""
CREATE_WITH_ROWS = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("cat", type="sql", uri=f"sqlite:///{sys.argv[1]}/catalog.db", warehouse=f"{sys.argv[1]}/tables")
catalog.create_namespace("above.db")
rows = pa.table({"p": [1]})
with catalog.create_table_transaction("above.db.t", rows.schema) as transaction:
    transaction.append(rows)
"""


def synced_paths(found: list[Call], before: int) -> set[str]:
    """Return the paths that were synced before the call at index `before` and not changed in between."""
    synced: set[str] = set()
    for call in found[:before]:
        if not call.succeeded:
            continue
        if call.name == "fsync":
            synced.add(call.paths[0])
        elif call.name.startswith(("mkdir", "link", "rename")):
            synced.discard(str(Path(call.paths[-1]).parent))
    return synced


def published(found: list[Call], name: str) -> int:
    """Return the index of the call that published a file under its final name."""
    places = [
        place
        for place, call in enumerate(found)
        if call.name.startswith(("link", "rename")) and call.paths[-1].endswith(name) and call.succeeded
    ]
    return places[0]


def test_append_syncs_every_file_and_directory_before_the_swap(tmp_path):
    warehouse = str(tmp_path / "warehouse")
    catalog = load_catalog("cat", type="hadoop", warehouse=warehouse)
    catalog.create_namespace("db")
    spec = PartitionSpec(
        PartitionField(1, 1000, IdentityTransform(), "p"), PartitionField(2, 1001, IdentityTransform(), "q")
    )
    fields = (NestedField(1, "p", LongType()), NestedField(2, "q", LongType()))
    from icefloe.schema import Schema

    table = catalog.create_table("db.t", Schema(*fields), partition_spec=spec)
    found = calls(APPEND, NAMES, tmp_path / "trace", (warehouse,))
    synced = synced_paths(found, published(found, "/v2.metadata.json"))
    table.refresh()
    files = [Path(path) for path in table.inspect.files().column("file_path").to_pylist()]
    assert len(files) == 4
    missing = {str(path) for path in files} - synced
    top = Path(table.location()).parent
    for file in [*files, Path(table.current_snapshot().manifest_list)]:
        missing |= {str(path) for path in file.parents if path.is_relative_to(top) and path != top} - synced
    assert missing == set()


def test_append_syncs_directories_that_another_process_created(tmp_path):
    warehouse = str(tmp_path / "warehouse")
    catalog = load_catalog("cat", type="hadoop", warehouse=warehouse)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("p", pa.int64()), ("q", pa.int64())]))
    (Path(table.location()) / "data").mkdir()
    found = calls(APPEND, NAMES, tmp_path / "trace", (warehouse,))
    synced = synced_paths(found, published(found, "/v2.metadata.json"))
    assert {table.location(), f"{table.location()}/data"} <= synced


def test_each_directory_is_synced_once_for_all_data_files(tmp_path):
    warehouse = str(tmp_path / "warehouse")
    catalog = load_catalog("cat", type="hadoop", warehouse=warehouse)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("p", pa.int64()), ("q", pa.int64())]))
    found = calls(APPEND, NAMES, tmp_path / "trace", (warehouse,))
    directories = [f"{table.location()}/data", table.location()]
    for directory in directories:
        assert sum(call.name == "fsync" and call.paths[0] == directory for call in found) == 1


def test_new_namespace_and_table_are_synced(tmp_path):
    warehouse = str(tmp_path / "warehouse")
    found = calls(CREATE, NAMES, tmp_path / "trace", (warehouse,))
    synced = synced_paths(found, len(found))
    assert {str(tmp_path), warehouse, f"{warehouse}/above", f"{warehouse}/above/db"} <= synced


def test_directories_of_a_table_that_is_created_with_rows_are_synced(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    found = calls(CREATE_WITH_ROWS, NAMES, tmp_path / "trace", (str(top),))
    made = {call.paths[-1] for call in found if call.name.startswith("mkdir") and call.succeeded}
    assert len(made) == 6
    assert {str(Path(path).parent) for path in made} <= synced_paths(found, len(found))
