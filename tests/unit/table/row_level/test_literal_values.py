"""Python values as values of columns: a literal that would be stored as another value is refused."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError

if TYPE_CHECKING:
    from icefloe.catalog import Catalog

PAIR = pa.struct([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.int64())])
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("n", pa.int64()),
        ("f", pa.float32()),
        ("t", pa.string()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("s", PAIR),
        ("l", pa.list_(pa.int64())),
        ("m", pa.map_(pa.string(), pa.int64())),
    ]
)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("n", 1.5),
        ("n", Decimal("1.5")),
        ("n", 2**63),
        ("n", pa.scalar(1.5)),
        ("n", pa.scalar(datetime(2026, 1, 31))),
        ("f", 1e300),
        ("t", b"x"),
        ("day", 5),
        ("day", datetime(2026, 1, 31, 12)),
        ("at", 5),
        ("s", {"a": 1, "c": 2}),
        ("s", {"b": 2}),
        ("s", {"a": 1, "b": 1.5}),
        ("l", [1.5]),
        ("m", {"k": 1.5}),
    ],
)
def test_update_refuses_literal_that_would_be_stored_as_another_value(
    catalog: Catalog, column: str, value: object
) -> None:
    table = catalog.create_table("db.refused", SCHEMA)
    table.append(pa.Table.from_pylist([{"id": 1}], SCHEMA))
    with pytest.raises(SchemaMismatchError, match="the literal does not fit"):
        table.update("id = 1", {column: value})
    assert len(table.snapshots()) == 1


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("n", 2.0, 2),
        ("n", Decimal(7), 7),
        ("f", 5, 5.0),
        ("f", float("inf"), float("inf")),
        ("day", datetime(2026, 1, 31), date(2026, 1, 31)),
        ("at", datetime(2026, 1, 31, 12), datetime(2026, 1, 31, 12)),
        ("s", {"b": None, "a": 1}, {"a": 1, "b": None}),
        ("s", None, None),
        ("l", [1, None], [1, None]),
        ("m", {"k": 1}, [("k", 1)]),
    ],
)
def test_update_stores_literal(catalog: Catalog, column: str, value: Any, expected: Any) -> None:
    table = catalog.create_table("db.stored", SCHEMA)
    table.append(pa.Table.from_pylist([{"id": 1}], SCHEMA))
    table.update("id = 1", {column: value})
    assert table.scan().to_arrow().column(column).to_pylist() == [expected]


@pytest.mark.parametrize("source", [pa.table({"id": [1]}), pa.table({"id": [99]})])
def test_merge_resolves_names_of_pyarrow_expressions_before_rows_are_read(catalog: Catalog, source: pa.Table) -> None:
    table = catalog.create_table("db.names", SCHEMA)
    table.append(pa.Table.from_pylist([{"id": 1}], SCHEMA))
    for condition in (pc.field("nope") == 1, pc.field("n") == 1):
        with pytest.raises(ResolveError, match=r"no such column here; expected one of source\.id, target\.at"):
            table.merge(source, ["id"]).when_matched_delete(condition).execute()
    with pytest.raises(ResolveError, match=r"expected one of source\.id"):
        table.merge(source, ["id"]).when_not_matched_insert({"id": pc.field("target.id")}).execute()
    with pytest.raises(ValidationError, match="pyarrow cannot evaluate"):
        table.merge(source, ["id"]).when_matched_delete(pc.field("source.id") == "a").execute()
    assert len(table.snapshots()) == 1
