"""Removal of orphan files: files that no snapshot needs are deleted, and no other file is."""

import pickle
from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError, ValidationError

from tests.unit.table.maintenance.every_file import (
    SCHEMA,
    add_statistics,
    files_of,
    ids_of,
    make_old,
    put,
    rows,
    table_of_every_kind,
)
from tests.unit.table.maintenance.path_rewrite.copies import copied


@pytest.fixture
def table(catalog):
    made = catalog.create_table("db.t", SCHEMA)
    made.append(rows(1))
    made.append(rows(2))
    make_old(made)
    return made


def removal(table):
    return table.maintenance.remove_orphan_files()


def orphans(builder):
    return set(builder.plan().orphans.column("location").to_pylist())


def test_orphans_are_deleted_and_nothing_else(table):
    before = files_of(table)
    made = {put(table, "data/x/a.parquet"), put(table, "metadata/b.avro"), put(table, "c")}
    plan = removal(table).plan()
    assert set(plan.rows().column("orphan_file_location").to_pylist()) == made
    assert (plan.file_count, plan.total_bytes, plan.listed_count) == (3, 18, len(before) + 3)
    assert files_of(table) == before | made
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert (result.deletion.deleted_files, result.deletion.deleted_bytes) == (3, 18)
    assert set(result.orphan_file_locations.to_pylist()) == made
    assert files_of(table) == before
    assert removal(table).plan().is_empty


@pytest.mark.parametrize("kind", ["memory", "hadoop", "sql"])
def test_no_file_of_any_kind_is_an_orphan(kind, tmp_path):
    """Every kind of file that the specification knows, in branches, tags, staged snapshots and shared manifests."""
    options = {"sql": {"uri": f"sqlite:///{tmp_path}/catalog.db"}}.get(kind, {})
    with load_catalog("lake", type=kind, warehouse=str(tmp_path / "warehouse"), **options) as catalog:
        catalog.create_namespace("db")
        properties = {"write.metadata.previous-versions-max": "100"}
        table = table_of_every_kind(catalog, properties=properties)
        make_old(table)
        assert orphans(removal(table)) == set()
        assert orphans(removal(table).location(f"{table.location()}/metadata")) == set()


def test_untracked_metadata_files_are_orphans(catalog):
    table = catalog.create_table("db.log", SCHEMA, properties={"write.metadata.previous-versions-max": "1"})
    for number in range(4):
        table.append(rows(number))
    make_old(table)
    found = orphans(removal(table))
    assert len(found) == 3
    assert all(location.endswith(".metadata.json") for location in found)


def test_version_hint_stays(tmp_path):
    with load_catalog("lake", type="hadoop", warehouse=str(tmp_path)) as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", SCHEMA)
        hint = f"{table.location()}/metadata/version-hint.text"
        assert table.io.core.exists(hint)
        make_old(table)
        removal(table).execute()
        assert table.io.core.exists(hint)


@pytest.mark.parametrize("ending", ["", "/"])
def test_version_hint_stays_whatever_the_end_of_the_location_is(catalog, tmp_path, ending):
    table = catalog.create_table("db.ending", SCHEMA, location=f"{tmp_path}/ending{ending}")
    hint = f"{tmp_path}/ending/metadata/version-hint.text"
    table.io.core.write(hint, b"1", overwrite=False)
    orphan = f"{tmp_path}/ending/metadata/version-hint.txt"
    table.io.core.write(orphan, b"1", overwrite=False)
    make_old(table)
    assert {path.removeprefix("file://") for path in orphans(removal(table))} == {orphan}


def test_statistics_stay(table):
    add_statistics(table, table.current_snapshot().snapshot_id)
    assert orphans(removal(table)) == set()


def test_young_files_stay(table):
    table.io.core.write(f"{table.location()}/data/young.parquet", b"x", overwrite=False)
    assert orphans(removal(table)) == set()
    an_hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    with pytest.raises(ValidationError, match=r"at least 24 hours ago, got .*: .* call force\(\), or pass --force"):
        removal(table).older_than(an_hour_ago).plan()
    assert orphans(removal(table).older_than(an_hour_ago).force()) == set()
    assert len(orphans(removal(table).older_than(datetime.now(timezone.utc) + timedelta(hours=1)).force())) == 1


def test_hidden_names_stay_unless_they_are_partition_values(catalog):
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "_kind"))
    table = catalog.create_table("db.hidden", SCHEMA, partition_spec=spec)
    for name in ("data/_temporary/0/a", "data/.a.crc", "_SUCCESS", "data/_kind=b/.c"):
        put(table, name)
    found = put(table, "data/_kind=b/c")
    assert orphans(removal(table)) == {found}


def test_commit_between_listing_and_reading_keeps_its_files(table, catalog, monkeypatch):
    """A slow job commits old files after the listing: metadata is read after the listing."""
    from icefloe.table.maintenance.orphans import remove_orphan_files as module

    other = catalog.load_table("db.t")
    list_files = module.listed_files

    def list_then_commit(*arguments):
        other.append(rows(3))
        make_old(other)
        found = list_files(*arguments)
        other.append(rows(4))
        return found

    monkeypatch.setattr(module, "listed_files", list_then_commit)
    assert orphans(removal(table)) == set()


def test_commit_between_plan_and_execution_keeps_its_files(table, catalog):
    (source,) = {task.file.file_path for task in table.scan("id = 1").plan_files()}
    late = put(table, "data/late.parquet", table.io.core.read(source))
    lost = put(table, "data/lost.parquet")
    plan = removal(table).plan()
    assert plan.file_count == 2
    catalog.load_table("db.t").add_files([late])
    result = table.maintenance.execute(plan)
    assert (result.spared, result.orphan_file_locations.to_pylist()) == ((late,), [lost])
    assert ids_of(table.scan()) == [1, 1, 2]


def test_unreadable_manifest_deletes_nothing(table):
    orphan = put(table, "data/orphan.parquet")
    table.io.core.delete(table.snapshots()[0].manifest_list)
    with pytest.raises(IcebergError, match="no such file"):
        removal(table).execute()
    assert table.io.core.exists(orphan)


def test_all_directories_of_the_table_are_searched(catalog, tmp_path):
    data, metadata = f"{tmp_path}/elsewhere/data", f"{tmp_path}/elsewhere/metadata"
    table = catalog.create_table(
        "db.split", SCHEMA, properties={"write.data.path": data, "write.metadata.path": metadata}
    )
    table.append(rows(1))
    plan = removal(table).plan()
    assert set(plan.roots) == {table.location(), data, metadata}
    assert (plan.is_empty, plan.listed_count) == (True, 5)


def test_inventory_replaces_the_listing(table):
    orphan = put(table, "data/orphan.parquet")
    missing = f"{table.location()}/data/missing.parquet"
    neighbour = f"{table.location()}2/data/orphan.parquet"
    paths = [*files_of(table), missing, neighbour, f"file:{orphan.removeprefix('file://')}"]
    old = datetime(2001, 1, 1, microsecond=123_456)
    for kind in (pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo")):
        inventory = pa.table(
            {
                "file_path": paths,
                "last_modified": pa.array([old] * len(paths), pa.timestamp("us")).cast(kind, safe=False),
            }
        )
        plan = removal(table).inventory(inventory).plan()
        assert set(plan.orphans.column("location").to_pylist()) == {missing, paths[-1]}  # one spelling of each file
    result = table.maintenance.execute(plan)
    assert not table.io.core.exists(orphan)
    assert result.deletion.failures == ()


def test_sizes_that_an_inventory_lacks_are_unknown(table):
    path = put(table, "data/a.parquet")
    report = pa.table({"file_path": [path], "last_modified": pa.array([0], pa.timestamp("us"))})
    plan = removal(table).inventory(report).plan()
    assert "delete 1 orphan file of unknown size, of 1 listed file" in plan.summary()
    assert table.maintenance.execute(plan).summary() == "db.t: deleted 1 orphan file of unknown size"


def test_directory_without_files_is_named(table):
    directory = f"{table.location()}/dta"
    plan = removal(table).location(directory).plan()
    assert plan.is_empty
    assert plan.summary().startswith(f"db.t: no file was found below {directory}; expected")


def test_newest_version_of_a_file_in_an_inventory_decides(table):
    """A report of a bucket that keeps versions."""
    orphan, young = put(table, "data/orphan.parquet"), put(table, "data/young.parquet")
    old, older, now = datetime(2002, 1, 1), datetime(2001, 1, 1), datetime.now()
    rows = [(orphan, older, 1), (young, old, 1), (orphan, old, 6), (young, now, 6)]
    paths, times, sizes = zip(*rows, strict=True)
    inventory = pa.table({"file_path": paths, "last_modified": pa.array(times, pa.timestamp("ms")), "size": sizes})
    plan = removal(table).inventory(inventory).plan()
    assert plan.orphans.select(["location", "size"]).to_pylist() == [{"location": orphan, "size": 6}]


@pytest.mark.parametrize(
    ("inventory", "message"),
    [
        (pa.table({"file_path": ["a"]}), "column 'last_modified' is missing"),
        (pa.table({"file_path": ["a"], "last_modified": ["x"]}), "last_modified as a timestamp"),
        (
            pa.table({"file_path": ["a"], "last_modified": pa.array([None], pa.timestamp("ms"))}),
            "in every row, got null",
        ),
        (7, "expected Arrow data with file_path and last_modified"),
    ],
)
def test_wrong_inventory_is_refused(table, inventory, message):
    with pytest.raises(ValidationError, match=message):
        removal(table).inventory(inventory).plan()


def renamed(table, prefix):
    """An inventory with the table's files below another prefix, and the rules to compare them."""
    paths = [path.replace("file://", prefix) if "://" in path else f"{prefix}{path}" for path in files_of(table)]
    return pa.table(
        {"file_path": paths, "last_modified": pa.array([datetime(2001, 1, 1)] * len(paths), pa.timestamp("ms"))}
    )


def test_changed_authority_is_refused_and_deletes_nothing(table):
    """Storage under a new name: all files of the table would look like orphans."""
    inventory = renamed(table, "hdfs://new")
    builder = lambda: (  # noqa: E731 - one builder for each mode
        removal(table)
        .check_neighbours(False)
        .location(f"hdfs://new{table.location().removeprefix('file://')}", allow_outside=True)
    )
    with pytest.raises(ValidationError, match=r"below another scheme or authority: hdfs://new/.* and file://"):
        builder().inventory(inventory).plan()
    kept = builder().inventory(inventory).prefix_mismatch_mode("ignore").plan()
    assert (kept.is_empty, len(kept.ignored)) == (True, len(files_of(table)))
    deleted = builder().inventory(inventory).prefix_mismatch_mode("DELETE").plan()
    assert deleted.file_count == len(files_of(table))
    equal = builder().inventory(inventory).equal_schemes({"hdfs": "file"}).equal_authorities({"new": ""}).plan()
    assert (equal.is_empty, equal.ignored) == (True, ())
    with pytest.raises(ValidationError, match="expected one of error, ignore, delete, got 'none'"):
        removal(table).prefix_mismatch_mode("none")


def test_other_directories_are_refused(table, tmp_path):
    with pytest.raises(
        ValidationError,
        match=r"is outside of the table.s directories .*pass allow_outside=True, or --allow-outside to the command",
    ):
        removal(table).location(str(tmp_path)).plan()
    assert orphans(removal(table).location(str(tmp_path), allow_outside=True)) == set()


def test_table_below_the_location_is_refused(catalog, table):
    inner = catalog.create_table("db.inner", SCHEMA, location=f"{table.location()}/inner")
    inner.append(rows(5))
    make_old(inner)
    with pytest.raises(ValidationError, match=r"table db\.inner shares its directories"):
        removal(table).plan()
    catalog.create_namespace("far")
    catalog.rename_table("db.inner", "far.inner")
    with pytest.raises(ValidationError, match=r"another table is below its directories: .*/inner/metadata/"):
        removal(table).plan()


def test_data_path_of_a_table_of_another_namespace_is_refused(catalog, table, tmp_path):
    """Tables that share a data path have no metadata file there."""
    shared = f"{tmp_path}/shared"
    for name in ("far", ("far", "away")):
        catalog.create_namespace(name)
    other = catalog.create_table("far.away.t", SCHEMA, properties={"write.data.path": shared})
    other.append(rows(5))
    with table.update_properties() as update:
        update.set_properties({"write.data.path": shared})
    table.append(rows(6))
    for path in table.io.core.list(shared).column("location").to_pylist():
        make_old(table, path)
    with pytest.raises(ValidationError, match=r"table far\.away\.t shares its directories"):
        removal(table).plan()
    assert len(orphans(removal(table).check_neighbours(False))) == 1


def test_staged_copy_of_the_table_is_no_other_table(catalog, table):
    table.maintenance.rewrite_table_path(table.location(), f"{table.location()}-copy").execute()
    staged = {path for path in files_of(table) if "/copy-table-staging-" in path}
    assert orphans(removal(table)) == set()
    make_old(table)
    assert orphans(removal(table)) == staged


def test_copy_of_the_table_below_its_location_is_refused(catalog, table):
    """It has the UUID of the table."""
    copied(table.maintenance.rewrite_table_path(table.location(), f"{table.location()}/inner").execute())
    make_old(table)
    with pytest.raises(ValidationError, match=r"another table is below its directories: .*/inner/metadata/"):
        removal(table).plan()


def test_table_above_the_location_is_refused(catalog, table):
    inner = catalog.create_table("db.inner", SCHEMA, location=f"{table.location()}/inner")
    with pytest.raises(ValidationError, match=r"table db\.t shares its directories"):
        removal(inner).plan()


def test_shared_location_is_refused(catalog, table, tmp_path):
    """A table of another catalog in the same directory."""
    with load_catalog("other", type="memory", warehouse=str(tmp_path)) as other:
        other.create_namespace("db")
        other.create_table("db.t", SCHEMA, location=table.location()).append(rows(9))
        with pytest.raises(ValidationError, match=r"another table is below its directories: .*metadata\.json"):
            removal(table).plan()


def test_values_are_json(table):
    put(table, "data/orphan.parquet")
    plan = removal(table).plan()
    assert plan.as_dict()["orphan_file_locations"] == plan.orphans.column("location").to_pylist()
    assert str(plan).splitlines()[0].startswith("db.t: delete 1 orphan file of 6 B, of ")
    result = table.maintenance.execute(plan)
    assert result.as_dict()["deleted_files"] == 1
    assert str(result) == "db.t: deleted 1 orphan file of 6 B"


@pytest.mark.parametrize("location", ["", "/", "file:///", "s3://"])
def test_root_of_a_file_system_is_refused(table, location):
    with pytest.raises(ValidationError, match="location: expected a directory"):
        removal(table).location(location, allow_outside=True)


def test_table_whose_files_others_share_is_refused_at_every_step(table, catalog):
    put(table, "data/orphan.parquet")
    builder = removal(catalog.load_table("db.t"))
    make_old(table)
    plan = removal(catalog.load_table("db.t")).plan()
    assert plan.file_count == 1
    with catalog.load_table("db.t").update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    before = files_of(table)
    for step in (builder.plan, lambda: builder.execute(plan), table.refresh().maintenance.remove_orphan_files):
        with pytest.raises(ValidationError, match=r"gc\.enabled"):
            step()
    assert files_of(table) == before
