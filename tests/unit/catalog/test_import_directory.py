"""Tables over directories of Parquet, ORC and Avro files."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.import_directory import migrate_directory, snapshot_directory
from icefloe.exceptions import (
    CorruptFileError,
    FeatureUnsupportedError,
    SchemaMismatchError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.types import StringType

KINDS = ("b", "a%2Fb", "__HIVE_DEFAULT_PARTITION__")


@pytest.fixture
def catalog(tmp_path):
    made = load_catalog("lake", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "lake"))
    made.create_namespace("db")
    return made


@pytest.fixture
def directory(tmp_path):
    """A Hive-style directory: `day=<date>/kind=<text>/`, one row in each of six files."""
    number = 0
    for day in ("2026-01-01", "2026-01-02"):
        for kind in KINDS:
            folder = tmp_path / "hive" / f"day={day}" / f"kind={kind}"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"id": [number], "name": [f"n{number}"]}), folder / f"part-{number}.parquet")
            (folder / "_SUCCESS").write_bytes(b"")
            number += 1
    (tmp_path / "hive" / "_temporary").mkdir()
    (tmp_path / "hive" / "_temporary" / "x.parquet").write_bytes(b"partial")
    return tmp_path / "hive"


def rows_of(table):
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


EXPECTED = [
    (number, f"n{number}", dt.date(2026, 1, 1 + number // 3), ("b", "a/b", None)[number % 3]) for number in range(6)
]


def test_snapshot_refers_to_files_in_place(catalog, directory, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    builder = snapshot_directory(catalog, str(directory), "db.s", location=str(tmp_path / "own"), properties={"a": "b"})
    plan = builder.plan()
    assert (plan.file_count, [str(one.field_type) for one in plan.schema.fields]) == (
        6,
        ["long", "string", "date", "string"],
    )
    assert not catalog.table_exists("db.s")
    assert builder.execute(plan).imported_files_count == 6
    table = catalog.load_table("db.s")
    assert rows_of(table) == EXPECTED
    assert table.scan("day = '2026-01-02' and kind = 'b'").to_arrow().column("id").to_pylist() == [3]
    assert table.location() == str(tmp_path / "own")
    assert {"a": "b", "snapshot": "true", "gc.enabled": "false"}.items() <= table.properties.items()
    for verb in (table.maintenance.expire_snapshots, table.maintenance.remove_orphan_files):
        with pytest.raises(ValidationError, match=r"gc\.enabled is false"):
            verb()
    table.append(pa.table({"id": [9], "name": ["n"], "day": [dt.date(2026, 1, 3)], "kind": ["b"]}))
    assert len(rows_of(table)) == 7
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before


def test_migrated_directory_is_the_table(catalog, directory):
    result = migrate_directory(catalog, str(directory), "db.m").execute()
    table = catalog.load_table("db.m")
    assert (result.location, table.location()) == (str(directory), str(directory))
    assert rows_of(table) == EXPECTED
    assert table.properties["migrated"] == "true"
    table.overwrite(pa.table({"id": [9], "name": ["n"], "day": [dt.date(2026, 1, 3)], "kind": ["b"]}))
    assert table.maintenance.expire_snapshots().older_than("0s").retain_last(1).execute().deleted_data_files_count == 6
    with pytest.raises(ValidationError, match="an Iceberg table already"):
        migrate_directory(catalog, str(directory), "db.again").plan()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("1", "-20"), "int"),
        (("1", "3000000000"), "long"),
        (("2026-01-01", "2024-02-29"), "date"),
        (("2026-01-01", "2026-02-30"), "string"),
        (("1", "x"), "string"),
        (("__HIVE_DEFAULT_PARTITION__",), "string"),
        (("7", "__HIVE_DEFAULT_PARTITION__"), "int"),
    ],
)
def test_types_of_partitions_are_inferred(catalog, tmp_path, values, kind):
    for value in values:
        folder = tmp_path / "d" / f"p={value}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"id": [1]}), folder / "a.parquet")
    plan = snapshot_directory(catalog, str(tmp_path / "d"), "db.s").plan()
    assert str(plan.schema.find_type("p")) == kind
    text = snapshot_directory(catalog, str(tmp_path / "d"), "db.s", partition_types={"p": StringType()})
    text.execute()
    found = catalog.load_table("db.s").scan().to_arrow().column("p").to_pylist()
    assert set(found) == {None if value.startswith("__") else value for value in values}


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(data), folder / name)


def test_contradictory_directories_are_refused(catalog, tmp_path):
    def plan(source, **arguments):
        return snapshot_directory(catalog, str(source), "db.s", **arguments).plan()

    (tmp_path / "empty").mkdir()
    with pytest.raises(ValidationError, match="expected a directory of Parquet, ORC or Avro files, got no file"):
        plan(tmp_path / "empty")
    write(tmp_path / "deep", "a.parquet", {"id": [1]})
    write(tmp_path / "deep" / "p=1", "a.parquet", {"id": [1]})
    with pytest.raises(ValidationError, match=r"expected the partition directories \(none\).*got p"):
        plan(tmp_path / "deep")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.parquet").write_text("no Parquet")
    with pytest.raises(CorruptFileError, match="expected a Parquet, ORC or Avro file, got one that starts with"):
        plan(tmp_path / "text")
    write(tmp_path / "good", "a.parquet", {"id": [1]})
    with pytest.raises(ValidationError, match="expected names of partition directories"):
        plan(tmp_path / "good", partition_types={"p": StringType()})
    with pytest.raises(ValidationError, match="expected a directory apart from the source"):
        plan(tmp_path / "good", location=str(tmp_path / "good" / "table"))
    catalog.create_table("db.s", pa.schema([("id", pa.int64())]))
    with pytest.raises(TableAlreadyExistsError):
        plan(tmp_path / "good")


@pytest.mark.parametrize(
    ("name", "other", "error"),
    [
        ("b.parquet", {"id": ["a text that makes this file the larger one"]}, SchemaMismatchError),
        ("b.parquet", {"id": [2], "more": ["x"]}, SchemaMismatchError),
        ("b.csv", None, FeatureUnsupportedError),
    ],
)
def test_files_that_do_not_fit_leave_no_table(catalog, tmp_path, name, other, error):
    write(tmp_path / "d", "a.parquet", {"id": [1]})
    if other is None:
        (tmp_path / "d" / name).write_text("1,2\n" * 10_000)
    else:
        write(tmp_path / "d", name, other)
    with pytest.raises(error, match=name):
        migrate_directory(catalog, str(tmp_path / "d"), "db.m").execute()
    assert not catalog.table_exists("db.m")


def test_file_without_a_column_has_nulls(catalog, tmp_path):
    write(tmp_path / "d", "a.parquet", {"id": [1]})
    write(tmp_path / "d", "b.parquet", {"id": [2], "more": ["x"]})
    schema = pa.schema([("id", pa.int64()), ("more", pa.string())])
    snapshot_directory(catalog, str(tmp_path / "d"), "db.s", schema=schema).execute()
    assert rows_of(catalog.load_table("db.s")) == [(1, None), (2, "x")]


@pytest.mark.parametrize("verb", [snapshot_directory, migrate_directory])
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"catalog": None}, "catalog: expected a catalog, such as load_catalog"),
        ({"source": 7}, "location: expected text"),
        ({"identifier": 7}, "7 contains an empty segment"),
        ({"properties": None}, "properties: expected a mapping"),
        ({"schema": "id"}, "schema: expected a pyarrow.Schema, got 'id'"),
        ({"partition_types": ["kind"]}, "partition_types: expected a mapping"),
        (
            {"partition_types": {"kind": "string"}},
            "partition_types: expected a primitive type of column kind, got 'string'",
        ),
    ],
    ids=str,
)
def test_argument_of_a_wrong_type_is_refused(catalog, directory, verb, wrong, reason):
    arguments = {"catalog": catalog, "source": str(directory), "identifier": "db.t", **wrong}
    with pytest.raises(ValidationError, match=reason):
        verb(**arguments)
