"""Metadata of replaced tables, compared with replacements by the Java reference 1.12.

`tests/golden/replacements` has three versions of a table: before, after a first replacement, and after a second one.
"""

import json
from pathlib import Path

import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadataUtil
from icefloe.table.replacement import Replacement
from icefloe.table.sorting import UNSORTED_SORT_ORDER, NullOrder, SortDirection, SortField, SortOrder
from icefloe.table.update import update_table_metadata
from icefloe.transforms import BucketTransform, IdentityTransform, TruncateTransform
from icefloe.types import DoubleType, ListType, LongType, NestedField, StringType, StructType

GOLDEN = Path(__file__).parents[2] / "golden" / "replacements"
FIRST = Replacement(
    Schema(NestedField(10, "name", StringType()), NestedField(11, "y", LongType()), NestedField(12, "id", LongType())),
    PartitionSpec(
        PartitionField(11, 1000, IdentityTransform(), "y"),
        PartitionField(12, 1001, BucketTransform(4), "id_bucket"),
        PartitionField(10, 1002, TruncateTransform(2), "name_trunc"),
    ),
    SortOrder(SortField(11, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST)),
    None,
    {"b": "2", "c": "2"},
)
SECOND = Replacement(
    Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()), NestedField(3, "x", DoubleType())),
    PartitionSpec(
        PartitionField(1, 1000, BucketTransform(4), "id_bucket"), PartitionField(2, 1001, IdentityTransform(), "name")
    ),
    UNSORTED_SORT_ORDER,
    None,
    {},
)


def metadata(value):
    return TableMetadataUtil.parse_raw(json.dumps(value))


def replaced(current, replacement, location=None):
    return update_table_metadata(current, replacement.updates(current), metadata_location=location)


def plain(schema, **others):
    given = {
        "partition_spec": UNPARTITIONED_PARTITION_SPEC,
        "sort_order": UNSORTED_SORT_ORDER,
        "location": None,
        "properties": {},
    }
    return Replacement(schema, **{**given, **others})


@pytest.fixture(params=["1", "2"])
def versions(request):
    return json.loads((GOLDEN / f"format_version_{request.param}.json").read_text())


@pytest.mark.parametrize(("before", "replacement"), [(0, FIRST), (1, SECOND)], ids=["first", "second"])
def test_replacement_equals_the_reference(versions, before, replacement):
    expected = versions[before + 1]
    location = expected["metadata-log"][-1]["metadata-file"]
    found = json.loads(replaced(metadata(versions[before]), replacement, location).json_bytes())
    assert {**found, "last-updated-ms": 0} == {**expected, "last-updated-ms": 0}


def test_column_of_the_same_full_name_keeps_its_id_at_every_depth(versions):
    inner = StructType(NestedField(3, "a", LongType()), NestedField(4, "b", LongType()))
    first = Schema(NestedField(1, "s", inner), NestedField(2, "l", ListType(5, LongType())))
    current = replaced(metadata(versions[0]), plain(first))
    again = StructType(NestedField(1, "c", LongType()), NestedField(2, "b", LongType()))
    second = Schema(
        NestedField(9, "l", ListType(7, LongType())), NestedField(8, "s", again), NestedField(6, "b", LongType())
    )
    result, ids = replaced(current, plain(second)), current.schema().find_field
    assert result.schema().find_field("s.b").field_id == ids("s.b").field_id
    assert result.schema().find_field("l.element").field_id == ids("l.element").field_id
    new = {result.schema().find_field(name).field_id for name in ("b", "s.c")}
    assert new == {current.last_column_id + 1, current.last_column_id + 2}
    assert result.last_column_id == current.last_column_id + 2


def test_replacement_raises_the_format_version_and_moves_the_location(versions):
    current = metadata(versions[0])
    result = replaced(current, plain(current.schema(), location="/lake/other/", properties={"format-version": "2"}))
    assert (result.format_version, result.location) == (2, "/lake/other")
    assert "format-version" not in result.properties
    if current.format_version == 2:
        with pytest.raises(ValidationError, match="cannot lower the format version"):
            replaced(current, plain(current.schema(), properties={"format-version": "1"}))
