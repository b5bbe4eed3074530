"""Dynamic overwrites replace the rows of the written partitions in files of any spec."""

from datetime import date, datetime, timezone

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform
from icefloe.types import DateType, DoubleType, LongType, NestedField, StringType, TimestamptzType

EVENTS = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "at", TimestamptzType()),
    NestedField(3, "kind", StringType()),
    NestedField(4, "day", DateType()),
    NestedField(5, "x", DoubleType()),
)


def at(day, hour=0, month=1):
    return datetime(2026, month, day, hour, tzinfo=timezone.utc)


def events(*rows):
    """Rows of (id, at, kind, day, x)."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    types = [pa.int64(), pa.timestamp("us", tz="UTC"), pa.string(), pa.date32(), pa.float64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=["id", "at", "kind", "day", "x"])


ROWS = [
    (1, at(1), "a", date(2026, 1, 1), 0.5),
    (2, at(1, 12), "b", date(2026, 1, 1), float("nan")),
    (3, at(2), "a", None, None),
    (4, at(1, month=2), None, date(2026, 2, 1), 0.0),
    (5, None, "b", date(2026, 1, 2), 0.5),
]


def partitioned_by(table, *terms):
    """Set a table's partition spec, a list of (source, transform)."""
    with table.update_spec() as update:
        for field in table.spec().fields:
            update.remove_field(field.name)
        for number, (source, transform) in enumerate(terms):
            update.add_field(source, transform, f"{source}_{number}_{len(table.specs())}")


def ids(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


@pytest.fixture
def events_table(catalog):
    return catalog.create_table("db.events", EVENTS)


@pytest.fixture(params=["1", "2"])
def versioned(request, catalog):
    return catalog.create_table("db.events", EVENTS, properties={"format-version": request.param})


SPECS = {
    "unpartitioned to day": ([], [("at", "day")], {1, 2}),
    "day to month": ([("at", "day")], [("at", "month")], {1, 2, 3}),
    "month to day": ([("at", "month")], [("at", "day")], {1, 2}),
    "day to identity": ([("at", "day")], [("at", "identity")], {1}),
    "identity to year": ([("at", "identity")], [("at", "year")], {1, 2, 3, 4}),
    "hour to month": ([("at", "hour")], [("at", "month")], {1, 2, 3}),
    "kind to bucket of id": ([("kind", "identity")], [("id", "bucket[4]")], None),
    "buckets to fewer buckets": ([("id", "bucket[8]")], [("id", "bucket[4]")], None),
    "buckets to more buckets": ([("id", "bucket[4]")], [("id", "bucket[8]")], None),
    "kind to date": ([("kind", "identity")], [("day", "identity")], {1, 2}),
    "two fields to one": ([("kind", "identity"), ("at", "day")], [("kind", "identity")], {1, 3}),
    "one field to two": ([("kind", "identity")], [("at", "day"), ("kind", "identity")], {1}),
    "day to unpartitioned": ([("at", "day")], [], {1, 2, 3, 4, 5}),
    "unpartitioned to double": ([], [("x", "identity")], {1, 5}),
    "truncated to identity": ([("kind", "truncate[1]")], [("kind", "identity")], {1, 3}),
}


@pytest.mark.parametrize("name", SPECS)
def test_partition_overwrite_reaches_files_of_older_specs(versioned, name):
    table = versioned
    old, new, replaced = SPECS[name]
    partitioned_by(table, *old)
    table.append(events(*ROWS))
    partitioned_by(table, *new)
    table.dynamic_partition_overwrite(events((10, *ROWS[0][1:])) if replaced is not None else events(ROWS[0]))
    if replaced is None:
        buckets = BucketTransform(int(new[0][1][7:-1])).transform(LongType())
        replaced = {row[0] for row in ROWS if buckets(row[0]) == buckets(1)}
        assert ids(table) == sorted({1, 2, 3, 4, 5} - replaced | {1})
    else:
        assert ids(table) == sorted({1, 2, 3, 4, 5} - replaced | {10})


def test_partition_overwrite_of_the_null_partition_reaches_files_of_older_specs(events_table):
    table = events_table
    table.append(events(*ROWS))
    partitioned_by(table, ("kind", "identity"), ("at", "day"))
    table.dynamic_partition_overwrite(events((10, at(1, month=2), None, None, None), (11, None, "b", None, None)))
    assert ids(table) == [1, 2, 3, 10, 11]


def test_partition_overwrite_of_the_nan_partition_reaches_files_of_older_specs(events_table):
    table = events_table
    table.append(events(*ROWS))
    partitioned_by(table, ("x", "identity"))
    table.dynamic_partition_overwrite(events((10, None, None, None, float("nan")), (11, None, None, None, None)))
    assert ids(table) == [1, 4, 5, 10, 11]


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_partition_overwrite_of_a_zero_refuses_files_of_older_specs_with_zeros(events_table, zero):
    table = events_table
    table.append(events(*ROWS))
    partitioned_by(table, ("x", "identity"))
    with pytest.raises(ValidationError, match=r"parquet of another partition spec.*0\.0 and -0\.0"):
        table.dynamic_partition_overwrite(events((10, None, None, None, zero)))
    assert ids(table) == [1, 2, 3, 4, 5]
    table.delete("x = 0.0")
    table.dynamic_partition_overwrite(events((10, None, None, None, zero)))
    assert ids(table) == [1, 2, 3, 5, 10]


def test_partition_overwrite_reaches_files_of_a_dropped_column(events_table):
    table = events_table
    partitioned_by(table, ("kind", "identity"))
    table.append(events(*ROWS))
    partitioned_by(table, ("at", "day"))
    with table.update_schema() as update:
        update.delete_column("kind")
    table.dynamic_partition_overwrite(events((10, *ROWS[0][1:])).drop_columns("kind"))
    assert ids(table) == [3, 4, 5, 10]


def test_partition_overwrite_drops_files_of_older_specs_whose_rows_all_fall_in(events_table):
    table = events_table
    partitioned_by(table, ("at", "day"))
    table.append(events(*ROWS[:3]))
    partitioned_by(table, ("at", "month"))
    table.dynamic_partition_overwrite(events((10, *ROWS[0][1:])))
    assert table.current_snapshot().summary["added-data-files"] == "1"
    assert table.current_snapshot().summary["deleted-data-files"] == "2"
    assert table.current_snapshot().summary["replace-partitions"] == "true"


def test_partition_overwrite_keeps_deleted_rows_of_rewritten_files_deleted(catalog):
    table = catalog.create_table("db.events", EVENTS, properties={"write.delete.mode": "merge-on-read"})
    table.append(events(*ROWS))
    table.delete("id = 3")
    partitioned_by(table, ("at", "day"))
    table.dynamic_partition_overwrite(events((10, *ROWS[0][1:])))
    assert ids(table) == [4, 5, 10]


def test_partition_overwrite_of_many_partitions_of_two_fields(events_table):
    table = events_table
    moments = [(number, at(1 + number % 28, number % 24), f"k{number % 40}", None, None) for number in range(600)]
    table.append(events(*moments))
    partitioned_by(table, ("at", "day"), ("kind", "identity"))
    table.dynamic_partition_overwrite(events(*[(1000 + row[0], *row[1:]) for row in moments[:300]]))
    written = {(row[1].day, row[2]) for row in moments[:300]}
    remaining = [row[0] for row in moments if (row[1].day, row[2]) not in written]
    assert ids(table) == sorted([*remaining, *range(1000, 1300)])


# ---- concurrent commits


@pytest.fixture(params=["serializable", "snapshot"])
def isolation(request):
    return request.param


@pytest.fixture
def handles(catalog, isolation):
    table = catalog.create_table("db.events", EVENTS, properties={"write.delete.isolation-level": isolation})
    partitioned_by(table, ("kind", "identity"))
    table.append(events(*ROWS))
    return table, catalog.load_table("db.events"), catalog.load_table("db.events")


def test_partition_overwrite_validates_appends_to_its_partitions(handles, isolation):
    table, first, second = handles
    first.append(events((6, None, "a", None, None)))
    if isolation == "snapshot":
        second.dynamic_partition_overwrite(events((10, None, "a", None, None)))
        assert ids(table.refresh()) == [2, 4, 5, 6, 10]
    else:
        with pytest.raises(ValidationException, match="partitions that this operation replaces"):
            second.dynamic_partition_overwrite(events((10, None, "a", None, None)))
        assert ids(table.refresh()) == [1, 2, 3, 4, 5, 6]


def test_partition_overwrite_tolerates_appends_to_other_partitions(handles):
    table, first, second = handles
    first.append(events((6, None, "b", None, None), (7, None, None, None, None)))
    second.dynamic_partition_overwrite(events((10, None, "a", None, None)))
    assert ids(table.refresh()) == [2, 4, 5, 6, 7, 10]


def test_second_partition_overwrite_of_a_partition_loses(handles):
    table, first, second = handles
    first.dynamic_partition_overwrite(events((10, None, "a", None, None)))
    with pytest.raises(ValidationException):
        second.dynamic_partition_overwrite(events((11, None, "a", None, None)))
    assert ids(table.refresh()) == [2, 4, 5, 10]


def test_partition_overwrites_of_different_partitions_both_succeed(handles):
    table, first, second = handles
    first.dynamic_partition_overwrite(events((10, None, "a", None, None)))
    second.dynamic_partition_overwrite(events((11, None, "b", None, None)))
    assert ids(table.refresh()) == [4, 10, 11]


def test_partition_overwrites_of_a_new_partition_do_not_both_succeed(handles, isolation):
    table, first, second = handles
    first.dynamic_partition_overwrite(events((10, None, "new", None, None)))
    if isolation == "snapshot":
        second.dynamic_partition_overwrite(events((11, None, "new", None, None)))
        assert ids(table.refresh()) == [1, 2, 3, 4, 5, 10, 11]
    else:
        with pytest.raises(ValidationException, match="partitions that this operation replaces"):
            second.dynamic_partition_overwrite(events((11, None, "new", None, None)))
        assert ids(table.refresh()) == [1, 2, 3, 4, 5, 10]


def test_partition_overwrite_loses_to_a_delete_of_rows_that_it_rewrites(catalog, isolation):
    properties = {"write.delete.mode": "merge-on-read", "write.delete.isolation-level": isolation}
    table = catalog.create_table("db.events", EVENTS, properties=properties)
    table.append(events(*ROWS))
    partitioned_by(table, ("kind", "identity"))
    first, second = catalog.load_table("db.events"), catalog.load_table("db.events")
    first.delete("id = 2")
    with pytest.raises(ValidationException):
        second.dynamic_partition_overwrite(events((10, None, "a", None, None)))
    assert ids(table.refresh()) == [1, 3, 4, 5]


def test_partition_overwrite_validates_data_of_another_spec(catalog):
    table = catalog.create_table("db.events", EVENTS)
    partitioned_by(table, ("kind", "identity"))
    table.append(events(*ROWS))
    older = catalog.load_table("db.events")
    partitioned_by(table, ("at", "day"))
    newer, third = catalog.load_table("db.events"), catalog.load_table("db.events")
    older.append(events((6, at(1, 5), "a", None, None)))
    with pytest.raises(ValidationException, match="partitions that this operation replaces"):
        newer.dynamic_partition_overwrite(events((10, at(1), "c", None, None)))
    third.dynamic_partition_overwrite(events((11, at(20), "c", None, None)))
    assert ids(table.refresh()) == [1, 2, 3, 4, 5, 6, 11]
