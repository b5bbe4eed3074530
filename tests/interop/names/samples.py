"""Values written the same way in both packages: how each prints, compares, copies and fails."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from tests.interop.names.public import OURS, THEIRS, public_names

SOURCES = (
    "types",
    "schema",
    "partitioning",
    "transforms",
    "expressions",
    "expressions.literals",
    "expressions.visitors",
    "table.sorting",
    "table.snapshots",
    "table.refs",
    "table.statistics",
    "table.name_mapping",
    "table.metadata",
    "table.update",
    "manifest",
    "typedef",
    "exceptions",
    "conversions",
)

PREPARED = """
from {package}.expressions.parser import parse
from {package}.expressions.parser import parse
import copy, json, pickle, uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal
nested = Schema(
    NestedField(1, 'id', LongType(), required=True),
    NestedField(2, 'tags', ListType(3, StringType(), element_required=False), doc='labels'),
    NestedField(4, 'attributes', MapType(5, StringType(), 6, IntegerType(), value_required=False)),
    NestedField(7, 'point', StructType(NestedField(8, 'x', DoubleType()), NestedField(9, 'y', DoubleType()))),
    NestedField(10, 'points', ListType(11, StructType(NestedField(12, 'z', FloatType())), True)),
    schema_id=3, identifier_field_ids=[1],
)
flat = Schema(NestedField(1, 'id', LongType(), required=True), NestedField(2, 'ts', TimestampType()),
              NestedField(3, 'name', StringType()), NestedField(4, 'price', DecimalType(9, 2)))
spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(16), 'id_bucket'), PartitionField(2, 1001, DayTransform(), 'ts_day'), spec_id=3)
order = SortOrder(SortField(1, IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST),
                  SortField(3, TruncateTransform(4), SortDirection.DESC, NullOrder.NULLS_LAST), order_id=4)
snapshot = Snapshot(snapshot_id=25, parent_snapshot_id=19, sequence_number=200, timestamp_ms=1602638573590,
                    manifest_list='s3:/a/b/c.avro', summary=Summary(Operation.APPEND), schema_id=3)
detailed = Snapshot(snapshot_id=25, sequence_number=200, timestamp_ms=1602638573590, manifest_list='s3:/a/b/c.avro',
                    summary=Summary(Operation.APPEND, foo='bar'), schema_id=3)
"""


@dataclass(frozen=True)
class Outcome:
    """The result of an expression: the text of its value, or the names by which its error is caught."""

    text: str
    caught_as: tuple[str, ...] = ()

    def agrees_with(self, theirs: Outcome) -> bool:
        """Return whether code that relies on the other outcome works with this one."""
        return self.text == theirs.text and (theirs.caught_as[:1] == () or theirs.caught_as[0] in self.caught_as)


def namespace(package: str) -> dict[str, Any]:
    """Return the names of a package that samples use, and the values prepared from them."""
    names: dict[str, Any] = {}
    for path in SOURCES:
        their_names = public_names(importlib.import_module(f"{THEIRS}.{path}"))
        module = importlib.import_module(f"{package}.{path}")
        names.update({name: getattr(module, name) for name in their_names if hasattr(module, name)})
    exec(PREPARED.replace("{package}", package), names)
    return names


def outcome(code: str, names: dict[str, Any]) -> Outcome:
    """Return what an expression gives, without the package's name."""
    try:
        value = eval(code, names)
        return Outcome(f"{value!r} | {value}".replace(THEIRS, OURS))
    except Exception as error:  # noqa: BLE001 - any error is the outcome
        return Outcome("raises", caught_as(error))


def caught_as(error: Exception) -> tuple[str, ...]:
    """Return the names of an error's classes that both packages have: the language's and `exceptions`'."""
    homes = {"builtins", f"{THEIRS}.exceptions", f"{OURS}.exceptions"}
    return tuple(kind.__name__ for kind in type(error).__mro__ if kind.__module__ in homes)
