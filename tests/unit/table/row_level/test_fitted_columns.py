"""Columns of a source in the types of the table's columns: what means something else is refused, and nothing is lost."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import SchemaMismatchError
from icefloe.table.row_level.fitted_columns import fitted

if TYPE_CHECKING:
    from icefloe.catalog import Catalog
    from icefloe.table import Table

NOON = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
PAIR = pa.struct([("a", pa.int64()), ("b", pa.int64())])


@pytest.mark.parametrize(
    ("value", "source", "target"),
    [
        (date(2026, 1, 31), pa.date32(), pa.int32()),
        (NOON, pa.timestamp("us", "UTC"), pa.int64()),
        (5, pa.int64(), pa.timestamp("us")),
        (5, pa.int32(), pa.date32()),
        (NOON, pa.timestamp("us", "UTC"), pa.time64("us")),
        (NOON, pa.timestamp("us", "UTC"), pa.date32()),
        (5, pa.int64(), pa.bool_()),
        (2.5, pa.float64(), pa.int64()),
        (1e300, pa.float64(), pa.float32()),
        (Decimal("2.505"), pa.decimal128(9, 3), pa.decimal128(9, 2)),
        (b"5", pa.binary(), pa.int64()),
        ("0123456789abcdef", pa.string(), pa.binary(16)),
    ],
)
def test_fitted_refuses_values_that_would_change(value: object, source: pa.DataType, target: pa.DataType) -> None:
    with pytest.raises(SchemaMismatchError, match="does not fit column 'v'"):
        fitted(pa.chunked_array([pa.array([value, None], source)]), pa.field("v", target))


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (5, pa.int64(), pa.decimal128(9, 2), Decimal("5.00")),
        (2**40, pa.uint64(), pa.int64(), 2**40),
        (2.0, pa.float64(), pa.int32(), 2),
        (0.1, pa.float64(), pa.float32(), pa.scalar(0.1, pa.float32()).as_py()),
        (float("inf"), pa.float64(), pa.float32(), float("inf")),
        (datetime(2026, 1, 31), pa.timestamp("ns"), pa.date32(), date(2026, 1, 31)),
        ("+7", pa.large_string(), pa.int64(), 7),
        (1, pa.int64(), pa.bool_(), True),
    ],
)
def test_fitted_converts_values_without_loss(
    value: object, source: pa.DataType, target: pa.DataType, expected: object
) -> None:
    found = fitted(pa.chunked_array([pa.array([value, None], source)]), pa.field("v", target))
    assert found.type == target
    assert found.to_pylist() == [expected, None]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (pa.struct([("a", pa.int64()), ("c", pa.int64())]), "c is no field"),
        (pa.struct([("a", pa.int64()), ("a", pa.int64())]), "a is there twice"),
        (pa.struct([("a", pa.date32())]), "a: date32"),
        (pa.list_(pa.int64()), "list"),
    ],
)
def test_fitted_refuses_structs_with_other_fields(source: pa.DataType, place: str) -> None:
    with pytest.raises(SchemaMismatchError, match=place):
        fitted(pa.chunked_array([pa.nulls(1, source)]), pa.field("v", PAIR))


def test_fitted_refuses_fields_within_lists_and_maps() -> None:
    extra = pa.struct([("a", pa.int64()), ("c", pa.int64())])
    with pytest.raises(SchemaMismatchError, match=r"element\.c is no field"):
        fitted(pa.chunked_array([pa.nulls(1, pa.large_list(extra))]), pa.field("v", pa.list_(PAIR)))
    with pytest.raises(SchemaMismatchError, match=r"value\.c is no field"):
        fitted(pa.chunked_array([pa.nulls(1, pa.map_(pa.string(), extra))]), pa.field("v", pa.map_(pa.string(), PAIR)))


@pytest.mark.recent_pyarrow
def test_fitted_matches_fields_of_structs_by_name() -> None:
    values = pa.array([{"b": 2, "a": 1}, {"b": 3, "a": None}, None], pa.struct([("b", pa.int32()), ("a", pa.int64())]))
    found = fitted(pa.chunked_array([values]), pa.field("v", PAIR))
    assert found.to_pylist() == [{"a": 1, "b": 2}, {"a": None, "b": 3}, None]


def _changes(table: Table, rows: pa.Table, verb: str) -> None:
    if verb == "upsert":
        table.upsert(rows, ["id"])
    elif verb == "merge":
        table.merge(rows, ["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
    else:
        table.apply_changes(rows.append_column("op", pa.array(["U"] * rows.num_rows)), ["id"], "op")


@pytest.mark.parametrize("verb", ["upsert", "merge", "apply_changes"])
def test_change_refuses_fields_that_the_table_lacks(catalog: Catalog, verb: str) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", PAIR)])
    table = catalog.create_table("db.pairs", schema)
    table.append(pa.Table.from_pylist([{"id": 1, "s": {"a": 1, "b": 2}}], schema))
    renamed: list[dict[str, Any]] = [{"id": 1, "s": {"x": 1, "y": 2}}]
    with pytest.raises(SchemaMismatchError, match="x"):
        _changes(table, pa.Table.from_pylist(renamed), verb)
    assert len(table.snapshots()) == 1


@pytest.mark.parametrize("verb", ["upsert", "merge", "apply_changes"])
def test_change_reads_run_end_encoded_columns(catalog: Catalog, verb: str) -> None:
    table = catalog.create_table("db.runs", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    columns = {"id": pa.array([2, 3]), "v": pa.array(["x", "x"])}
    _changes(table, pa.table({name: pc.run_end_encode(values) for name, values in columns.items()}), verb)
    assert table.scan().to_arrow().sort_by("id").to_pydict() == {"id": [1, 2, 3], "v": ["a", "x", "x"]}


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.uint32(), pa.string_view())])
@pytest.mark.parametrize("verb", ["upsert", "merge", "apply_changes"])
def test_change_reads_views_of_texts(catalog: Catalog, verb: str, kind: pa.DataType) -> None:
    table = catalog.create_table("db.views", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    values = pa.array(["x", None], pa.string_view())
    if pa.types.is_dictionary(kind):
        values = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.uint32()), values)
    _changes(table, pa.table({"id": [2, 3], "v": values}), verb)
    assert table.scan().to_arrow().sort_by("id").to_pydict() == {"id": [1, 2, 3], "v": ["a", "x", None]}


def test_merge_reads_fields_of_a_struct_that_the_table_lacks(catalog: Catalog) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", PAIR)])
    table = catalog.create_table("db.wider", schema)
    table.append(pa.Table.from_pylist([{"id": 1, "s": {"a": 1, "b": 2}}], schema))
    source = pa.Table.from_pylist([{"id": 1, "s": {"c": 9}}])
    table.merge(source, ["id"]).when_matched_update({"s.b": "source.s.c"}).execute()
    assert table.scan().to_arrow().column("s").to_pylist() == [{"a": 1, "b": 9}]
