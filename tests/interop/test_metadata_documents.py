"""Table metadata that leaves keys out: what PyIceberg and the Java reference both read is read, to the same table."""

from __future__ import annotations

import json
from typing import Any

import pyiceberg.table.metadata as theirs
import pytest
from icefloe.exceptions import InvalidMetadataError, MetadataWarning
from icefloe.table.metadata import TableMetadataUtil
from pyiceberg.exceptions import ValidationError as TheirValidationError

from tests.unit.vectors.test_json import LAGGING, document, ids
from tests.unit.vectors.vector_cases import cases

pytestmark = pytest.mark.interop


def pyiceberg_reads(value: Any) -> Any | None:
    """Return PyIceberg's metadata of a document, or None if PyIceberg refuses it."""
    try:
        return theirs.TableMetadataUtil.parse_raw(json.dumps(value))
    except (TheirValidationError, KeyError, TypeError, AttributeError):
        return None


def java_reads(case: dict[str, Any]) -> bool:
    return case["written"] is not None


READ_BY_PYICEBERG = [case for case in cases("metadata_json") if pyiceberg_reads(document(case, "json")) is not None]
READ_BY_BOTH = [case for case in READ_BY_PYICEBERG if java_reads(case)]


@pytest.mark.parametrize("case", READ_BY_BOTH, ids=ids)
def test_metadata_that_pyiceberg_and_java_read_is_read(case: dict[str, Any]) -> None:
    value = document(case, "json")
    ours, other = TableMetadataUtil.parse_raw(json.dumps(value)), pyiceberg_reads(value)
    written = json.loads(ours.model_dump_json())
    assert ours.properties == other.properties
    assert [shape(spec) for spec in ours.partition_specs] == [shape(spec) for spec in other.partition_specs]
    assert [json_of(order) for order in ours.sort_orders] == [json_of(order) for order in other.sort_orders]
    assert shape(ours.spec()) == shape(other.spec())
    assert json_of(ours.sort_order()) == json_of(other.sort_order())
    assert ours.last_partition_id == other.last_partition_id
    assert ours.current_snapshot_id == other.current_snapshot_id
    assert {name: ref.snapshot_id for name, ref in ours.refs.items()} == {
        name: ref.snapshot_id for name, ref in other.refs.items()
    }
    again = pyiceberg_reads(written)
    assert str(again.schema()) == str(ours.schema())
    assert len(again.statistics) == len(other.statistics) == len(ours.statistics)


def shape(spec: Any) -> Any:
    """Return a spec without the texts of its transforms: PyIceberg does not keep the texts of unknown transforms."""
    return spec.spec_id, [(field.field_id, field.source_id, field.name) for field in spec.fields]


def json_of(value: Any) -> Any:
    return json.loads(value.model_dump_json())


@pytest.mark.parametrize(
    "keys",
    [
        ("sort-orders", "default-sort-order-id"),
        ("schemas", "current-schema-id"),
        ("partition-specs", "default-spec-id"),
        ("last-partition-id",),
        ("refs",),
        ("snapshot-log",),
        ("metadata-log",),
        ("properties",),
        ("statistics",),
        ("partition-statistics",),
        ("table-uuid",),
        ("sort-orders",),
        ("schemas",),
        ("partition-specs",),
    ],
    ids=", ".join,
)
def test_version_1_metadata_may_leave_out(keys: tuple[str, ...]) -> None:
    note = f"v1 in full without {', '.join(keys)}"
    assert [case["note"] for case in READ_BY_BOTH if case["note"] == note] == [note]
    (case,) = (case for case in READ_BY_BOTH if case["note"] == note)
    TableMetadataUtil.parse_raw(json.dumps(document(case, "json")))


# Keys without which PyIceberg invents a value, and contradictions that it does not look at: named in docs/from-pyiceberg.md.
REFUSED_BY_JAVA = [
    case for case in READ_BY_PYICEBERG if not java_reads(case) and case["read"] is None and case["note"] != LAGGING
]
# Deviations among these that lose nothing.
DEVIATIONS = (
    "last update before the log",
    "log out of order",
    "current-snapshot-id",
    "without last-partition-id",
    "number as property",
)


@pytest.mark.parametrize("case", REFUSED_BY_JAVA, ids=ids)
def test_metadata_that_only_pyiceberg_reads_is_refused_or_read_with_a_warning(case: dict[str, Any]) -> None:
    text = json.dumps(document(case, "json"))
    if any(deviation in case["note"] for deviation in DEVIATIONS):
        with pytest.warns(MetadataWarning, match="`"):
            TableMetadataUtil.parse_raw(text)
        return
    with pytest.raises(InvalidMetadataError, match="`"):
        TableMetadataUtil.parse_raw(text)
