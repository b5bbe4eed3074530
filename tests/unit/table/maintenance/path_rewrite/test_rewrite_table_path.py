"""Copies of a table at another location, by the list of `rewrite_table_path`."""

import json
import pickle

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.table.static import StaticTable
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.maintenance.every_file import SCHEMA, ids_of, rows, table_of_every_kind
from tests.unit.table.maintenance.path_rewrite.copies import copied, hidden, merge_on_read, path_of, rewritten


@pytest.fixture
def catalog(tmp_path):
    made = load_catalog("paths", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "source"))
    made.create_namespace("db")
    return made


def test_copy_has_every_kind_of_file_and_equal_rows(catalog, tmp_path):
    table = table_of_every_kind(catalog)
    expected = {one.snapshot_id: ids_of(table.scan(snapshot_id=one.snapshot_id)) for one in table.snapshots()}
    plan = rewritten(table, tmp_path / "copy").plan()
    kinds = set(plan.rows().column("kind").to_pylist())
    assert kinds == {
        "data",
        "position_deletes",
        "equality_deletes",
        "manifest",
        "manifest_list",
        "statistics",
        "partition_statistics",
        "metadata",
    }
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    pairs = copied(result)
    assert len(pairs) == len({target for _, target in pairs}) == result.file_count == plan.file_count
    assert result.latest_version == table.metadata_location.rsplit("/", 1)[-1]
    hidden(table)
    copy = catalog.register_table("db.copy", result.metadata_location)
    assert copy.location() == str(tmp_path / "copy")
    assert {one.snapshot_id: ids_of(copy.scan(snapshot_id=one.snapshot_id)) for one in copy.snapshots()} == expected
    assert copy.metadata.table_uuid == table.metadata.table_uuid
    for manifest in copy.inspect.all_manifests().to_pylist():
        assert path_of(manifest["path"]).stat().st_size == manifest["length"]
    for file in copy.inspect.all_files().to_pylist():
        assert path_of(file["file_path"]).stat().st_size == file["file_size_in_bytes"]
    assert copy.maintenance.remove_orphan_files().older_than("0s").force().check_neighbours(False).plan().is_empty
    copy.append(pa.table({"id": [99], "kind": ["k1"], "note": ["n"]}))
    assert ids_of(copy.scan()) == sorted([*expected[table.current_snapshot().snapshot_id], 99])


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"write.delete.granularity": "partition"},
        {"write.delete.format.default": "avro"},
        pytest.param({"write.delete.format.default": "orc"}, marks=pytest.mark.recent_pyarrow),
        {"format-version": "1"},
    ],
)
def test_copy_opens_without_the_original(catalog, tmp_path, properties):
    if properties.get("format-version") == "1":
        table = catalog.create_table("db.t", SCHEMA, properties=properties)
        table.append(rows(1, 2, 3))
        table.append(rows(4))
        table.delete("id = 2")
    else:
        table = merge_on_read(catalog, **properties)
    expected = ids_of(table.scan())
    result = rewritten(table, tmp_path / "copy").execute()
    copied(result)
    hidden(table)
    assert ids_of(StaticTable.from_metadata(result.metadata_location).scan()) == expected


def test_increment_lists_new_data_files_alone(catalog, tmp_path):
    table = merge_on_read(catalog)
    first = rewritten(table, tmp_path / "copy").execute()
    copied(first)
    before = set(table.inspect.all_data_files().column("file_path").to_pylist())
    table.append(rows(70, 71))
    table.delete("id = 70")
    result = rewritten(table, tmp_path / "copy", start_version=first.latest_version).execute()
    pairs = copied(result)
    assert {source for source, _ in pairs} & before == set()
    expected = ids_of(table.scan())
    hidden(table)
    copy = StaticTable.from_metadata(result.metadata_location)
    assert ids_of(copy.scan()) == expected
    for manifest in copy.inspect.all_manifests().to_pylist():
        assert path_of(manifest["path"]).stat().st_size == manifest["length"]


def test_increment_has_files_of_a_snapshot_that_expired_since(catalog, tmp_path):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1))
    first = rewritten(table, tmp_path / "copy").execute()
    copied(first)
    table.append(rows(2))
    expired = table.current_snapshot().snapshot_id
    table.append(rows(3))
    table.maintenance.expire_snapshots().by_id(expired).execute()
    result = rewritten(table, tmp_path / "copy", start_version=first.latest_version).execute()
    copied(result)
    hidden(table)
    assert ids_of(StaticTable.from_metadata(result.metadata_location).scan()) == [1, 2, 3]


def test_copy_of_an_earlier_version(catalog, tmp_path):
    table = merge_on_read(catalog)
    expected, version = ids_of(table.scan()), table.metadata_location.rsplit("/", 1)[-1]
    table.append(rows(80))
    result = rewritten(table, tmp_path / "copy", end_version=version).execute()
    assert result.latest_version == version
    copied(result)
    assert ids_of(StaticTable.from_metadata(result.metadata_location).scan()) == expected


def test_large_manifest_becomes_several(catalog, tmp_path):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1))
    location = table.inspect.data_files().column("file_path")[0].as_py()
    files = path_of(location).parent
    for number in range(10_001):
        (files / f"{number}.parquet").hardlink_to(path_of(location))
    table.add_files([str(files / f"{number}.parquet") for number in range(10_001)])
    result = rewritten(table, tmp_path / "copy").execute()
    copied(result)
    copy = StaticTable.from_metadata(result.metadata_location)
    assert copy.scan().count() == 10_002


def test_unknown_keys_and_compression_stay(catalog, tmp_path):
    table = catalog.create_table(
        "db.t", SCHEMA, properties={"write.data.path": str(tmp_path / "source/db/t/elsewhere"), "owner": str(tmp_path)}
    )
    table.append(rows(1))
    metadata = json.loads(table.io.core.read(table.metadata_location))
    result = rewritten(table, tmp_path / "copy, with a comma").execute()
    pairs = copied(result)
    assert all(len(pair) == 2 for pair in pairs)
    found = json.loads(path_of(result.metadata_location).read_bytes())
    assert found["properties"] == {
        **metadata["properties"],
        "write.data.path": f"{tmp_path}/copy, with a comma/elsewhere",
    }
    assert found["table-uuid"] == metadata["table-uuid"]
    assert ids_of(StaticTable.from_metadata(result.metadata_location).scan()) == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source_prefix": "/"}, "source_prefix: expected a directory, got '/'"),
        ({"target_prefix": ""}, "target_prefix: expected a directory, got ''"),
        ({"target_prefix": "SOURCE"}, "expected another directory than the source"),
        ({"source_prefix": "/elsewhere"}, "expected a location below the source prefix /elsewhere"),
        ({"source_prefix": "CUT"}, "expected a location below the source prefix"),
        ({"start_version": "00009-x.metadata.json"}, "start_version: expected a metadata file of the table's log"),
        ({"end_version": "00009-x.metadata.json"}, "end_version: expected a metadata file of the table's log"),
        ({"start_version": "CURRENT"}, "expected a version before"),
        ({"staging_location": "METADATA"}, "staging_location: expected an empty directory"),
    ],
)
def test_contradiction_is_refused_before_work(catalog, arguments, message):
    table = catalog.create_table("db.long", SCHEMA)
    table.append(rows(1))
    location = table.location()
    texts = {
        "SOURCE": f"{location}/",
        "CUT": location[:-1],
        "METADATA": f"{location}/metadata",
        "CURRENT": table.metadata_location,
    }
    given = {"source_prefix": location, "target_prefix": "/copy", **arguments}
    given = {key: texts.get(text, text) for key, text in given.items()}
    before = set(table.io.core.list(table.location()).column("location").to_pylist())
    with pytest.raises(ValidationError, match=message):
        table.maintenance.rewrite_table_path(**given).plan()
    assert set(table.io.core.list(table.location()).column("location").to_pylist()) == before


def test_delete_of_a_file_elsewhere_is_refused(catalog, tmp_path):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    other = catalog.create_table("db.other", SCHEMA, properties={"write.delete.mode": "merge-on-read"})
    other.append(rows(3, 4))
    table.add_files([other.inspect.data_files().column("file_path")[0].as_py()])
    with pytest.raises(ValidationError, match="db/other/data"):
        rewritten(table, tmp_path / "copy").plan()
    whole = table.maintenance.rewrite_table_path(str(tmp_path / "source"), str(tmp_path / "copy")).execute()
    copied(whole)
    assert ids_of(StaticTable.from_metadata(whole.metadata_location).scan()) == [1, 2, 3, 4]


def test_equality_deletes_are_copied_as_they_are(catalog, tmp_path):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    delta = table.new_row_delta()
    for file in write_equality_deletes(table.io, table.metadata, pa.table({"id": [2], "kind": ["k0"]}), [1]):
        delta.add_deletes(file)
    delta.commit()
    result = rewritten(table, tmp_path / "copy").execute()
    assert result.rewritten_delete_file_paths_count == 0
    copied(result)
    hidden(table)
    assert ids_of(StaticTable.from_metadata(result.metadata_location).scan()) == [1]
