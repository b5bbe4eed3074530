"""Filters that compare a whole struct, list or map with null."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.expressions import AlwaysTrue
from icefloe.types import IntegerType, ListType, NestedField, StructType

COLUMNS = {
    "place": (pa.struct([("x", pa.int64()), ("y", pa.int64())]), [{"x": 1, "y": 2}, {"x": None, "y": None}]),
    "tags": (pa.list_(pa.string()), [["a"], []]),
    "marks": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], []]),
    "outer": (pa.struct([("inner", pa.struct([("z", pa.int64())]))]), [{"inner": {"z": 1}}, {"inner": {"z": None}}]),
}
FILES = [[1, 2, 3], [4, 5], [6]]


def rows(ids: list[int]) -> pa.Table:
    """Return rows whose nested columns have a value for odd ids, an empty value for 2 and 6, and null for 4."""
    columns = {"id": pa.array(ids, pa.int64())}
    for name, (kind, (full, empty)) in COLUMNS.items():
        columns[name] = pa.array([None if n == 4 else full if n % 2 else empty for n in ids], kind)
    return pa.table(columns)


@pytest.fixture(params=["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def table(request, tmp_path):
    catalog = load_catalog("nested", type="in-memory", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("db")
    made = catalog.create_table(
        "db.nested",
        rows([]).schema,
        properties={"write.format.default": request.param, "write.delete.mode": "merge-on-read"},
    )
    for ids in FILES:
        made.append(rows(ids))
    return made


def ids_of(table, row_filter):
    return sorted(table.scan(row_filter).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("outer_nulls", [True, False])
def test_values_after_nulls_of_nested_structs_keep_their_places(table, outer_nulls):
    """The ORC writer of pyarrow stores values below the nulls of a struct within a struct without nulls."""
    kind = COLUMNS["outer"][0]
    outer = [{"inner": None}, {"inner": {"z": 7}}, {"inner": None}, {"inner": {"z": None}}, {"inner": {"z": 8}}]
    outer = [None, *outer] if outer_nulls else outer
    data = pa.table(
        {
            "id": pa.array(range(len(outer)), pa.int64()),
            "outer": pa.array(outer, kind),
            "deep": pa.array([{"outer": one} for one in outer], pa.struct([("outer", kind)])),
            "all": pa.array([outer[n:] for n in range(len(outer))], pa.list_(kind)),
            "by": pa.array([[("k", one)] for one in outer], pa.map_(pa.string(), kind)),
        }
    )
    made = table.catalog.create_table("db.deep", data.schema, properties=table.properties)
    made.append(data)
    made.append(data.slice(2))
    found = made.scan().to_arrow().to_pylist()
    expected = [*data.to_pylist(), *data.slice(2).to_pylist()]
    assert sorted(found, key=lambda row: row["id"]) == sorted(expected, key=lambda row: row["id"])


@pytest.mark.parametrize("column", [*COLUMNS, "outer.inner"])
def test_null_test_of_nested_column_selects_its_rows(table, column):
    assert ids_of(table, f"{column} is null") == [4]
    assert ids_of(table, f"{column} is not null") == [1, 2, 3, 5, 6]
    assert ids_of(table, f"not ({column} is null) and id > 3") == [5, 6]
    assert ids_of(table, f"{column} is null or id = 6") == [4, 6]
    assert table.scan(f"{column} is null").count() == 1
    assert table.scan(f"{column} is null", selected_fields=("id",)).to_arrow().to_pydict() == {"id": [4]}


def test_null_test_of_struct_is_independent_of_its_fields(table):
    assert ids_of(table, "place is not null and place.x is null") == [2, 6]
    assert ids_of(table, "place is null and place.x is null") == [4]
    assert ids_of(table, "place is null and place.x is not null") == []


def test_null_test_of_absent_nested_column_selects_every_old_row(table):
    with table.update_schema() as update:
        update.add_column("added", ListType(100, IntegerType(), element_required=False))
        update.add_column("pair", StructType(NestedField(101, "one", IntegerType())))
    for column in ("added", "pair"):
        assert ids_of(table, f"{column} is null") == [1, 2, 3, 4, 5, 6]
        assert ids_of(table, f"{column} is not null") == []


def test_delete_by_null_test_of_nested_column_keeps_the_other_rows(table):
    table.delete("tags is null")
    assert ids_of(table, AlwaysTrue()) == [1, 2, 3, 5, 6]
    table.delete("place is not null and id > 1")
    assert ids_of(table, AlwaysTrue()) == [1]


def test_other_comparison_of_nested_column_is_refused(table):
    with pytest.raises(FeatureUnsupportedError, match="use is-null or not-null"):
        table.scan("tags = 'a'").to_arrow()
