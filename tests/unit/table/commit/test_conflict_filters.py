"""The filter of a conflict check is the filter of the operation: its schema, its case rule, its literals."""

from datetime import datetime

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationException
from icefloe.expressions import LessThan
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, TimestamptzType

NEW_YEAR = datetime(2026, 1, 1)
EVENTS = Schema(NestedField(1, "id", LongType()), NestedField(2, "ts", TimestamptzType()))


def events(*rows):
    ids, times = zip(*rows, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "ts": pa.array(times, pa.timestamp("us", tz="UTC"))})


@pytest.fixture
def handles(catalog, mode):
    table = catalog.create_table("db.events", EVENTS, properties=mode)
    table.append(events((1, datetime(2025, 1, 1)), (2, datetime(2027, 1, 1))))
    return catalog.load_table("db.events"), catalog.load_table("db.events")


def test_delete_by_a_moment_validates_against_a_concurrent_append(handles):
    first, second = handles
    first.append(events((3, datetime(2028, 1, 1))))
    second.delete(LessThan("ts", NEW_YEAR))
    assert sorted(second.scan().to_arrow().column("id").to_pylist()) == [2, 3]


def test_delete_by_a_moment_loses_to_an_append_of_earlier_rows(handles):
    first, second = handles
    first.append(events((3, datetime(2024, 1, 1))))
    with pytest.raises(ValidationException, match="added data"):
        second.delete(LessThan("ts", NEW_YEAR))


def test_overwrite_by_a_moment_validates_against_a_concurrent_append(handles):
    first, second = handles
    first.append(events((3, datetime(2028, 1, 1))))
    second.overwrite(events((4, datetime(2024, 1, 1))), LessThan("ts", NEW_YEAR))
    assert sorted(second.scan().to_arrow().column("id").to_pylist()) == [2, 3, 4]


def test_delete_without_regard_to_case_validates_against_a_concurrent_append(handles):
    first, second = handles
    first.append(events((3, datetime(2028, 1, 1))))
    second.delete("ID = 1", case_sensitive=False)
    assert sorted(second.scan().to_arrow().column("id").to_pylist()) == [2, 3]


def test_delete_validates_with_the_names_that_it_read(handles):
    first, second = handles
    first.update_schema().rename_column("id", "number").commit()
    first.append(pa.table({"number": pa.array([3], pa.int64()), "ts": pa.array([None], pa.timestamp("us", tz="UTC"))}))
    second.delete("id = 1")
    assert sorted(second.scan().to_arrow().column("number").to_pylist()) == [2, 3]


def test_delete_loses_to_an_append_of_its_rows_under_a_new_name(handles):
    first, second = handles
    first.update_schema().rename_column("id", "number").commit()
    first.append(pa.table({"number": pa.array([1], pa.int64()), "ts": pa.array([None], pa.timestamp("us", tz="UTC"))}))
    with pytest.raises(ValidationException, match="added data"):
        second.delete("id = 1")
