"""Relative locations are resolved from the working directory in which the catalog or table was loaded."""

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import MissingFileError, NoSuchTableError, ValidationError
from icefloe.io import FileIO
from icefloe.table import StaticTable
from icefloe.table.metadata.absolute_locations import with_absolute_locations
from icefloe.table.metadata.files import read_metadata
from icefloe.table.read_context import schema_json, specs_json

from tests.unit.table.relative_table import relative_table

LEFT = [0, 2, 3, 5, 6, 7, 8]


def ids(table, **options):
    return sorted(table.scan(**options).to_arrow().column("id").to_pylist())


@pytest.fixture(params=[True, False], ids=["bounds", "no_bounds"])
def location(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return relative_table(tmp_path, with_bounds=request.param)


def test_table_with_relative_locations_is_read_from_its_directory_and_elsewhere(location, tmp_path, monkeypatch):
    table = StaticTable.from_metadata(location)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert ids(table) == LEFT
    assert ids(table, row_filter="id > 3 and id < 8") == [5, 6, 7]
    assert table.scan().count() == 7
    paths = table.scan(selected_fields=("_file",)).to_arrow().column("_file").unique().to_pylist()
    assert all(path.startswith(f"{tmp_path}/warehouse/") for path in paths)
    entries = pc.struct_field(table.inspect.entries().column("data_file"), "file_path")
    for listed in (table.inspect.files().column("file_path"), entries):
        assert all(path.startswith(f"{tmp_path}/") for path in listed.to_pylist())
    assert all(path.startswith(f"{tmp_path}/") for path in table.inspect.manifests().column("path").to_pylist())
    assert table.location() == f"{tmp_path}/{location}"
    assert table.metadata_location.startswith(f"{tmp_path}/{location}/metadata/v")
    assert all(entry.metadata_file.startswith(f"{tmp_path}/") for entry in table.metadata.metadata_log)


def test_deletes_and_data_match_whether_their_paths_are_relative_or_absolute(location, tmp_path):
    catalog = load_catalog("cat", type="hadoop", warehouse="warehouse")
    table = catalog.load_table("db.t")
    table.delete("id = 7")
    assert ids(catalog.load_table("db.t")) == [0, 2, 3, 5, 6, 8]
    changes = table.incremental_changelog_scan(from_snapshot_id_exclusive=table.snapshots()[-2].snapshot_id)
    assert changes.to_arrow().column("id").to_pylist() == [7]


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
def test_writes_to_a_table_with_relative_locations_are_absolute(location, tmp_path, monkeypatch, mode):
    catalog = load_catalog("cat", type="hadoop", warehouse="warehouse")
    table = catalog.load_table("db.t")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    changes = {"write.delete.mode": mode, "commit.manifest.min-count-to-merge": "1"}
    table.transaction().set_properties(changes).commit_transaction()
    table.append(pa.table({"id": [9]}))
    table.delete("id in (5, 6)")
    table.upsert(pa.table({"id": [0, 10]}), join_cols=["id"])
    assert list(elsewhere.iterdir()) == []
    fresh = catalog.load_table("db.t")
    assert ids(fresh) == [0, 2, 3, 7, 8, 9, 10]
    assert '"warehouse/' not in Path(fresh.metadata_location).read_text()
    # Without a working directory locations are as they were written.
    listed = _core.read_manifest_list(_core.FileIo({}), fresh.current_snapshot().manifest_list)
    assert all(path.startswith(f"{tmp_path}/") for path in listed.column("manifest_path").to_pylist())
    new = listed.filter(pc.equal(listed.column("added_snapshot_id"), fresh.current_snapshot().snapshot_id))
    entries = _core.read_manifest(
        _core.FileIo({}), new, schema=schema_json(fresh.schema()), specs=specs_json(fresh.metadata), keep="all"
    )
    assert len(entries) > 0
    assert all(path.startswith(f"{tmp_path}/") for path in entries.column("file_path").to_pylist())


def test_static_table_resolves_parent_directories(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "warehouse" / "db")
    with pytest.raises(MissingFileError, match=f"{tmp_path}/warehouse/db/warehouse/db/t/"):
        StaticTable.from_metadata("../../warehouse/db/t").scan().count()
    table = StaticTable.from_metadata("warehouse/db/t", {"file.working-directory": str(tmp_path)})
    assert ids(table) == LEFT


def test_missing_relative_locations_name_the_path_that_was_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoSuchTableError, match=f"{tmp_path}/lake/t"):
        StaticTable.from_metadata("lake/t")
    with pytest.raises(MissingFileError, match=f"{tmp_path}/lake/v1.metadata.json"):
        StaticTable.from_metadata("lake/v1.metadata.json")
    with pytest.raises(MissingFileError, match=f"{tmp_path}/some/file"):
        FileIO().new_input("some/file").open()
    with pytest.raises(ValidationError, match="write a relative path without file:"):
        FileIO().new_input("file:some/file").open()
    with pytest.raises(ValidationError, match=r"a \.\. segment"):
        FileIO().new_input("some/../file").open()


@pytest.mark.parametrize("kind", ["sql", "hadoop", "memory"])
def test_catalog_with_a_relative_warehouse_stays_where_it_was_opened(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    uri = {"uri": f"sqlite:///{tmp_path}/catalog.db"} if kind == "sql" else {}
    catalog = load_catalog("cat", type=kind, warehouse="./lake", **uri)
    catalog.create_namespace("db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1]}))
    assert table.location().replace("/./", "/") == f"{tmp_path}/lake/db/t"
    assert ids(catalog.load_table("db.t")) == [1]
    if kind != "hadoop":
        placed = catalog.create_table("db.placed", pa.schema([("id", pa.int64())]), location="placed/here")
        assert placed.location() == f"{tmp_path}/placed/here"
        known = catalog.register_table("db.known", str(Path(placed.metadata_location).relative_to(tmp_path)))
        assert known.metadata_location == placed.metadata_location
    assert list(elsewhere.iterdir()) == []


def test_file_io_records_its_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = FileIO()
    monkeypatch.chdir("/")
    for each in (files, pickle.loads(pickle.dumps(files))):
        with each.new_output("deep/file").create(overwrite=True) as stream:
            stream.write(b"here")
        assert (tmp_path / "deep" / "file").read_bytes() == b"here"


def test_data_path_that_is_relative_is_written_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalog = load_catalog("cat", type="memory", warehouse="lake")
    catalog.create_namespace("db")
    properties = {"write.data.path": "rows"}
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]), properties=properties)
    table.append(pa.table({"id": [1]}))
    (path,) = catalog.load_table("db.t").inspect.files().column("file_path").to_pylist()
    assert path.startswith(f"{tmp_path}/rows/")


def test_locations_resolve_after_a_snapshot_was_read_as_an_object(tmp_path):
    catalog = load_catalog("x", type="memory", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("x", pa.int64())]))
    table.append(pa.table({"x": [1]}))
    metadata = read_metadata(table.io, table.metadata_location)
    assert metadata.current_snapshot() is not None
    assert with_absolute_locations(metadata, table.io) == metadata
