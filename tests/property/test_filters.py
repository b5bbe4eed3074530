"""Filters against a naive oracle: both return the same rows, pruning loses no row, and strict answers claim no other row."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core
from icefloe.conversions import to_bytes, to_json_value
from icefloe.expressions.rest_json import expression_from_json
from icefloe.expressions.visitors import expression_evaluator
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import parse_transform
from icefloe.typedef import Record
from icefloe.types import NestedField, type_from_text
from icefloe.types.arrow import primitive_to_arrow

EPOCH = datetime(1970, 1, 1)
moments = st.integers(-4000, 4000).map(lambda hours: EPOCH + timedelta(hours=hours, microseconds=hours % 3))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int": st.one_of(st.integers(-20, 20), st.sampled_from([-(2**31), 2**31 - 1])),
    "long": st.one_of(st.integers(-20, 20), st.sampled_from([-(2**63), 2**63 - 1])),
    "float": st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.25, math.inf, math.nan]),
    "double": st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.1, math.inf, math.nan]),
    "decimal(9, 2)": st.integers(-300, 300).map(lambda cents: Decimal(cents).scaleb(-2)),
    "date": st.integers(-400, 400).map(lambda days: date(1970, 1, 1) + timedelta(days=days)),
    "timestamp": moments,
    "timestamptz": moments.map(lambda moment: moment.replace(tzinfo=timezone.utc)),
    "string": st.text(alphabet="abé\ud7ff\uffff😀", max_size=4),
    "binary": st.lists(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]), max_size=4).map(bytes),
}
TRANSFORMS = ["identity", "bucket[3]", "truncate[2]", "truncate[7]", "year", "month", "day", "hour", "void"]
COMPARISONS = ["lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"]


class Case(NamedTuple):
    """Rows of one column and a filter on it."""

    kind: str
    values: list[Any]
    filter: Any

    @property
    def schema(self) -> Schema:
        return Schema(NestedField(1, "x", self.kind))

    def batch(self) -> pa.RecordBatch:
        return pa.record_batch({"x": pa.array(self.values, primitive_to_arrow(type_from_text(self.kind)))})

    def expected(self) -> list[bool]:
        return [naive(self.filter, self.kind, value) is True for value in self.values]


def transforms_of(kind: str) -> list[str]:
    return [text for text in TRANSFORMS if parse_transform(text).can_transform(type_from_text(kind))]


def result_of(transform: str, kind: str, value: Any) -> Any:
    """A value's result as rows hold it: days of a date, text, a number."""
    source = type_from_text(kind)
    return None if value is None or transform == "void" else parse_transform(transform).transform(source)(value)


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def naive(node: Any, kind: str, value: Any) -> bool | None:
    """Return the value of a filter for a cell: True, False, or None for unknown, by Kleene's logic."""
    match node["type"]:
        case "not":
            found = naive(node["child"], kind, value)
            return None if found is None else not found
        case "and" | "or":
            sides = [naive(node[side], kind, value) for side in ("left", "right")]
            decides = node["type"] == "or"
            return decides if decides in sides else None if None in sides else not decides
    operator, term = node["type"], node["term"]
    if isinstance(term, dict):
        value = (
            None
            if value is None
            else to_json_value(result_type(term["transform"], kind), result_of(term["transform"], kind, value))
        )
        kind = str(result_type(term["transform"], kind))
        value = typed(kind, value)
    if value is None:
        return {"is-null": True, "not-null": False, "is-nan": False, "not-nan": True}.get(operator)
    literals = [typed(kind, each) for each in node.get("values", [node.get("value")])]
    return answers(operator, value, literals, kind)


def answers(operator: str, value: Any, literals: list[Any], kind: str) -> bool | None:
    match operator:
        case "is-null" | "not-null":
            return operator == "not-null"
        case "is-nan" | "not-nan":
            return is_nan(value) is (operator == "is-nan")
        case "starts-with" | "not-starts-with":
            return value.startswith(literals[0]) is (operator == "starts-with")
        case "eq" | "in":
            return value in literals
        case "not-eq" | "not-in":
            return value not in literals
    if kind == "string":
        value, literals = value.encode(), [each.encode() for each in literals]
    if is_nan(value):
        return None
    first = literals[0]
    return {"lt": value < first, "lt-eq": value <= first, "gt": value > first, "gt-eq": value >= first}[operator]


def result_type(transform: str, kind: str) -> Any:
    return parse_transform(transform).result_type(type_from_text(kind))


def typed(kind: str, value: Any) -> Any:
    """A JSON literal as a Python value of a type."""
    if value is None:
        return None
    if kind == "date":
        return date.fromisoformat(value)
    if kind.startswith("timestamp"):
        return datetime.fromisoformat(value)
    if kind.startswith("decimal"):
        return Decimal(value)
    if kind == "binary":
        return bytes.fromhex(value)
    return float(value) if kind in {"float", "double"} else value


@st.composite
def leaves(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    term: Any = "x"
    transform = draw(st.sampled_from([None, None, *transforms_of(kind)]))
    if transform in {"identity", "void"}:
        transform = None
    value_kind = kind
    if transform is not None:
        term = {"type": "transform", "transform": transform, "term": "x"}
        value_kind = str(result_type(transform, kind))
    operators = [*COMPARISONS, "in", "not-in", "is-null", "not-null"]
    operators += ["is-nan", "not-nan"] if kind in {"float", "double"} else []
    operators += ["starts-with", "not-starts-with"] if value_kind == "string" else []
    operator = draw(st.sampled_from(operators))
    if operator in {"is-null", "not-null", "is-nan", "not-nan"}:
        return {"type": operator, "term": term}

    def literal() -> Any:
        value = draw(VALUES[kind].filter(lambda value: not is_nan(value)))
        result = value if transform is None else result_of(transform, kind, value)
        made = to_json_value(type_from_text(value_kind), result)
        return str(made) if isinstance(made, float) and math.isinf(made) else made

    if operator in {"in", "not-in"}:
        return {"type": operator, "term": term, "values": [literal() for _ in range(draw(st.integers(2, 4)))]}
    return {"type": operator, "term": term, "value": literal()}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(list(VALUES)))
    pairs = lambda inner: st.builds(  # noqa: E731 - one expression for hypothesis
        lambda operator, left, right: {"type": operator, "left": left, "right": right},
        st.sampled_from(["and", "or"]),
        inner,
        inner,
    )
    negations = lambda inner: st.builds(lambda child: {"type": "not", "child": child}, inner)  # noqa: E731 - likewise
    node = draw(st.recursive(leaves(kind), lambda inner: pairs(inner) | negations(inner), max_leaves=4))
    return Case(kind, draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=8)), node)


@settings(max_examples=300)
@given(cases())
def test_rows_are_those_of_the_oracle(case: Case) -> None:
    mask = _core.filter_rows(case.schema.model_dump_json(), json.dumps(case.filter), case.batch())
    assert mask.to_pylist() == case.expected()


@settings(max_examples=200)
@given(cases())
def test_one_row_in_python_is_one_row_in_the_core(case: Case) -> None:
    asks = expression_evaluator(case.schema, expression_from_json(case.filter), case_sensitive=True)
    assert [asks(Record(value)) for value in case.values] == case.expected()


def spec_of(transform: str) -> PartitionSpec:
    return PartitionSpec(PartitionField(1, 1000, parse_transform(transform), "p"))


def tuples_of(case: Case, transform: str) -> tuple[Schema, pa.RecordBatch, list[str]]:
    """Each row's partition: as a schema, as rows of it, as JSON arrays."""
    (field,) = spec_of(transform).partition_type(case.schema).fields
    results = [result_of(transform, case.kind, value) for value in case.values]
    texts = [json.dumps([tuple_value(field.field_type, result)]) for result in results]
    arrow = parse_transform(transform).pyarrow_transform(type_from_text(case.kind))
    column = (
        pa.nulls(len(results), primitive_to_arrow(field.field_type))
        if transform == "void"
        else arrow(case.batch()["x"])
    )
    return Schema(field), pa.record_batch({"p": column}), texts


def tuple_value(kind: Any, result: Any) -> Any:
    """Appendix D's JSON: numbers are numbers, every other value is text."""
    if isinstance(result, float) and not math.isfinite(result):
        return "NaN" if math.isnan(result) else "Infinity" if result > 0 else "-Infinity"
    return None if result is None else to_json_value(kind, result)


@settings(max_examples=300)
@given(cases(), st.data())
def test_projections_lose_no_row_and_claim_no_other(case: Case, data: st.DataObject) -> None:
    transform = data.draw(st.sampled_from(transforms_of(case.kind)))
    tuple_schema, tuples, _ = tuples_of(case, transform)

    def holds(*, strict: bool) -> list[bool]:
        spec = spec_of(transform).model_dump_json()
        projected = _core.project_filter(case.schema.model_dump_json(), spec, json.dumps(case.filter), strict=strict)
        return _core.filter_rows(tuple_schema.model_dump_json(), projected, tuples).to_pylist()

    for matches, might, must in zip(case.expected(), holds(strict=False), holds(strict=True), strict=True):
        assert might or not matches
        assert matches or not must


@settings(max_examples=300)
@given(cases(), st.data())
def test_residual_decides_as_the_filter(case: Case, data: st.DataObject) -> None:
    transform = data.draw(st.sampled_from(transforms_of(case.kind)))
    schema, spec = case.schema.model_dump_json(), spec_of(transform).model_dump_json()
    _, _, partitions = tuples_of(case, transform)
    for place, (partition, expected) in enumerate(zip(partitions, case.expected(), strict=True)):
        left = _core.residual_filter(schema, spec, json.dumps(case.filter), partition)
        assert _core.filter_rows(schema, left, case.batch().slice(place, 1)).to_pylist() == [expected]


@settings(max_examples=300)
@given(cases(), st.data())
def test_covered_partitions_are_those_whose_residual_is_true(case: Case, data: st.DataObject) -> None:
    transform = data.draw(st.sampled_from(transforms_of(case.kind)))
    arguments = case.schema.model_dump_json(), spec_of(transform).model_dump_json(), json.dumps(case.filter)
    _, _, partitions = tuples_of(case, transform)
    covered = _core.covered_partitions(*arguments, list(partitions)).to_pylist()
    assert covered == [_core.residual_filter(*arguments, partition) == "true" for partition in partitions]
    assert all(expected or not is_covered for expected, is_covered in zip(case.expected(), covered, strict=True))


@settings(max_examples=300)
@given(cases(), st.integers(1, 3), st.sets(st.sampled_from(["value", "null", "nan", "lower", "upper"])))
def test_statistics_lose_no_row_and_claim_no_other(case: Case, width: int, absent: set[str]) -> None:
    files = statistics(case, width, absent)
    might, must = _core.prune_files(case.schema.model_dump_json(), json.dumps(case.filter), files)
    assert might[0].as_py() or not any(case.expected())
    assert not must[0].as_py() or all(case.expected())


def statistics(case: Case, width: int, absent: set[str]) -> pa.RecordBatch:
    """One file of the rows, its bounds of texts and bytes cut to a width."""
    kind = type_from_text(case.kind)
    present = [value for value in case.values if value is not None]
    ordered = sorted(
        (value for value in present if not is_nan(value)),
        key=lambda value: value.encode() if case.kind == "string" else value,
    )

    def one(name: str, value: Any, arrow: pa.DataType) -> pa.Array:
        return pa.array([[] if name in absent or value is None else [(1, value)]], pa.map_(pa.int32(), arrow))

    def bound(place: int) -> bytes | None:
        if not ordered:
            return None
        value = ordered[place]
        if case.kind in {"string", "binary"} and len(value) > width:
            value = value[:width] if place == 0 else above(value[:width])
        if isinstance(value, float) and value == 0:
            value = math.copysign(0.0, 1 if place else -1)
        return None if value is None else to_bytes(kind, value)

    nan_count = len(present) - len(ordered) if case.kind in {"float", "double"} else None
    return pa.record_batch(
        {
            "record_count": pa.array([len(case.values)], pa.int64()),
            "value_counts": one("value", len(case.values), pa.int64()),
            "null_value_counts": one("null", len(case.values) - len(present), pa.int64()),
            "nan_value_counts": one("nan", nan_count, pa.int64()),
            "lower_bounds": one("lower", bound(0), pa.binary()),
            "upper_bounds": one("upper", bound(-1), pa.binary()),
        }
    )


def above(prefix: Any) -> Any:
    """Return a short text or bytes greater than everything with a prefix; None if no value is greater."""
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    return prefix + "\U0010ffff\U0010ffff"
