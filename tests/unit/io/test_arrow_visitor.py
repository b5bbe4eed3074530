"""Visitors of Arrow schemas: the order of visits is that of PyIceberg."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyiceberg.io.pyarrow as theirs
import pytest
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.io.pyarrow import PyArrowSchemaVisitor, visit_pyarrow

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("key", pa.uuid()),
        ("word", pa.dictionary(pa.int32(), pa.string())),
        ("tags", pa.list_(pa.large_string())),
        ("pair", pa.list_(pa.float32(), 2)),
        ("wide", pa.large_list(pa.struct([("x", pa.date32())]))),
        ("named", pa.map_(pa.string(), pa.struct([("y", pa.list_(pa.int8())), ("z", pa.binary(3))]))),
        ("empty", pa.struct([])),
    ]
)


class Steps:
    """A visitor that records every step and returns the text of the visited node."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith(("before_", "after_")):
            return lambda field: self.steps.append(f"{name} {field.name}: {field.type}")
        return super().__getattribute__(name)

    def schema(self, schema: pa.Schema, struct_result: str) -> str:
        return f"schema {len(schema)} {struct_result}"

    def struct(self, struct: pa.StructType, field_results: list[str]) -> str:
        return f"struct {struct} of {field_results}"

    def field(self, field: pa.Field, field_result: str) -> str:
        return f"{field.name}={field_result}"

    def list(self, list_type: pa.ListType, element_result: str) -> str:
        return f"{list_type} of {element_result}"

    def map(self, map_type: pa.MapType, key_result: str, value_result: str) -> str:
        return f"{map_type} of {key_result}, {value_result}"

    def primitive(self, primitive: pa.DataType) -> str:
        self.steps.append(str(primitive))
        return str(primitive)


class Ours(Steps, PyArrowSchemaVisitor[str]):
    """Return the steps of icefloe's visit."""


class Theirs(Steps, theirs.PyArrowSchemaVisitor[str]):
    """Return the steps of PyIceberg's visit."""


@pytest.mark.parametrize("visited", [SCHEMA, *SCHEMA, *SCHEMA.types], ids=str)
def test_visit_pyarrow_takes_the_steps_of_pyiceberg(visited: Any) -> None:
    ours, other = Ours(), Theirs()
    assert visit_pyarrow(visited, ours) == theirs.visit_pyarrow(visited, other)
    assert ours.steps == other.steps


@pytest.mark.parametrize("kind", [pa.list_view(pa.int32()), pa.large_list_view(pa.int32())], ids=str)
def test_visit_pyarrow_visits_list_views_as_lists(kind: pa.DataType) -> None:
    assert visit_pyarrow(kind, Ours()) == f"{kind} of int32"


def test_visit_pyarrow_visits_the_values_of_runs() -> None:
    assert visit_pyarrow(pa.run_end_encoded(pa.int32(), pa.string()), Ours()) == "string"


def test_visit_pyarrow_names_the_column_of_a_union() -> None:
    union = pa.sparse_union([pa.field("a", pa.int32())])
    schema = pa.schema([("s", pa.struct([("tags", pa.list_(union))]))])
    with pytest.raises(FeatureUnsupportedError, match=r"column s\.tags\.element: Arrow type sparse_union"):
        visit_pyarrow(schema, Ours())


def test_visitor_methods_around_children_do_nothing_by_default() -> None:
    class Names(PyArrowSchemaVisitor[list]):
        def schema(self, schema: pa.Schema, struct_result: list) -> list:
            return struct_result

        def struct(self, struct: pa.StructType, field_results: list[list]) -> list:
            return [name for names in field_results for name in names]

        def field(self, field: pa.Field, field_result: list) -> list:
            return [field.name, *field_result]

        def list(self, list_type: pa.ListType, element_result: list) -> list:
            return element_result

        def map(self, map_type: pa.MapType, key_result: list, value_result: list) -> list:
            return [*key_result, *value_result]

        def primitive(self, primitive: pa.DataType) -> list:
            return []

    names = ["id", "key", "word", "tags", "pair", "wide", "x", "named", "y", "z", "empty"]
    assert visit_pyarrow(SCHEMA, Names()) == names
