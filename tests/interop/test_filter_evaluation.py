"""Filters beside PyIceberg's evaluators: projections, residuals, literals and pruning agree where theirs are right."""

from __future__ import annotations

import itertools
import math
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe import expressions as ours
from icefloe.conversions import to_bytes
from icefloe.exceptions import ValidationError
from icefloe.expressions import parser
from icefloe.expressions.rest_json import expression_to_json
from icefloe.expressions.visitors import inclusive_projection, strict_projection
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import StaticTable
from icefloe.types import NestedField, type_from_text
from pyiceberg import expressions as theirs
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import parser as their_parser
from pyiceberg.expressions import visitors as their_visitors
from pyiceberg.expressions.literals import literal as their_literal
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionSpec as TheirSpec
from pyiceberg.schema import Schema as TheirSchema

pytestmark = pytest.mark.interop

COMPARISONS = ["LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "EqualTo", "NotEqualTo"]
VALUES = {
    "int": [-11, -10, 0, 9, 10, 100],
    "long": [-11, 0, 99, 100, 2**40],
    "decimal(9, 2)": [Decimal("-10.05"), Decimal("0.00"), Decimal("12.34")],
    "date": [date(1970, 1, 1), date(2017, 12, 1), date(2026, 1, 31)],
    "timestamp": [datetime(1970, 1, 1), datetime(2017, 12, 1, 10, 12, 55), datetime(2026, 1, 31, 23)],
    "string": ["", "ab", "abc", "abcd"],
}
TRANSFORMS = {
    "int": ["identity", "bucket[16]", "truncate[10]"],
    "long": ["identity", "bucket[16]", "truncate[10]"],
    "decimal(9, 2)": ["identity", "bucket[16]", "truncate[10]"],
    "date": ["identity", "bucket[16]", "year", "month", "day"],
    "timestamp": ["identity", "bucket[16]", "year", "month", "day", "hour"],
    "string": ["identity", "bucket[16]", "truncate[3]"],
}


def schemas(kind: str) -> tuple[Schema, TheirSchema]:
    mine = Schema(NestedField(1, "x", kind))
    return mine, TheirSchema.model_validate_json(mine.model_dump_json())


def both(name: str, *arguments):
    return getattr(ours, name)("x", *arguments), getattr(theirs, name)("x", *arguments)


def rows_of(expression, schema: Schema, rows: pa.RecordBatch) -> list[bool]:
    return _core.filter_rows(schema.model_dump_json(), expression_to_json(expression), rows).to_pylist()


def normal(expression) -> str:
    """An expression as text that does not tell whose it is."""
    kind = type(expression).__name__
    if kind in {"And", "Or"}:
        return f"{kind}({normal(expression.left)}, {normal(expression.right)})"
    if kind.startswith("Always"):
        return kind
    values = getattr(expression, "literals", None) or {getattr(expression, "literal", None)}
    return f"{kind}({sorted(str(value.value) for value in values if value is not None)})"


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("direction", ["inclusive", "strict"])
def test_projections_are_theirs(kind, direction):
    """From 1970 on: before it we look for what old writers wrote, and they do not."""
    mine, their_schema = schemas(kind)
    seen = 0
    for transform, name, value in itertools.product(TRANSFORMS[kind], COMPARISONS, VALUES[kind]):
        spec = PartitionSpec(PartitionField(1, 1000, transform, "p"))
        their_spec = TheirSpec.model_validate_json(spec.model_dump_json())
        my_filter, their_filter = both(name, value)
        before_1970 = kind in {"date", "timestamp"} and (value.year == 1970 or name == "LessThan")
        if before_1970 and transform not in {"identity", "bucket[16]"}:
            continue
        if direction == "inclusive":
            found = inclusive_projection(mine, spec)(my_filter)
            expected = their_visitors.inclusive_projection(their_schema, their_spec)(their_filter)
        else:
            found = strict_projection(mine, spec)(my_filter)
            expected = their_visitors.strict_projection(their_schema, their_spec)(their_filter)
        # A wrapped partition of the least numbers is ours alone.
        kept = found.left if type(found).__name__ in {"Or", "And"} else found
        texts = normal(bound_to_tuples(kept, mine, spec)), normal(bound_to_tuples(expected, their_schema, their_spec))
        assert texts[0] == texts[1], (transform, name, value)
        seen += 1
    assert seen > 20


def bound_to_tuples(expression, schema, spec):
    """The same literals whatever they were written as."""
    partition = spec.partition_type(schema)
    if isinstance(schema, Schema):
        return ours.bind(Schema(*partition.fields), expression)
    return their_visitors.bind(TheirSchema(*partition.fields), expression, case_sensitive=True)


LITERALS = [
    ("int", 5),
    ("int", 2**40),
    ("int", -(2**40)),
    ("long", 5),
    ("float", 0.5),
    ("double", 0.5),
    ("double", 5),
    ("date", "2017-12-01"),
    ("timestamp", "2017-12-01T10:12:55.038194"),
    ("timestamptz", "2017-12-01T10:12:55+08:00"),
    ("time", "22:31:08"),
    ("decimal(9, 2)", "14.20"),
    ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("boolean", True),
    ("string", "x"),
    ("binary", b"\x00\x01"),
    ("fixed[2]", b"\x00\x01"),
    ("date", datetime(2017, 12, 1)),
    ("timestamp", date(2017, 12, 1)),
]


@pytest.mark.parametrize(("kind", "value"), LITERALS)
def test_literals_bind_as_theirs(kind, value):
    """In Python and, by JSON, in the core."""
    mine, their_schema = schemas(kind)
    for name in ["EqualTo", "NotEqualTo"] if kind == "boolean" else COMPARISONS:
        my_filter, their_filter = both(name, value)
        try:
            expected = their_visitors.bind(their_schema, their_filter, case_sensitive=True)
        except (TypeError, ValueError):
            continue
        bound = ours.bind(mine, my_filter)
        if type(expected).__name__ == "AlwaysTrue":
            # Theirs is true of null, for which the comparison is unknown.
            assert type(bound).__name__ == "BoundNotNull"
            continue
        assert type(bound).__name__ == type(expected).__name__
        raw = getattr(getattr(expected, "literal", None), "value", None)
        assert getattr(getattr(bound, "literal", None), "value", None) == getattr(raw, "bytes", raw)


def test_literals_that_they_refuse_are_refused():
    for kind, value in [("int", "abc"), ("date", "2017-13-01"), ("uuid", "f79c"), ("boolean", "perhaps")]:
        mine, their_schema = schemas(kind)
        my_filter, their_filter = both("EqualTo", value)
        with pytest.raises((TypeError, ValueError)):
            their_visitors.bind(their_schema, their_filter, case_sensitive=True)
        with pytest.raises(ValidationError, match="filter on x"):
            ours.bind(mine, my_filter)
        with pytest.raises(ValidationError, match="filter on x"):
            rows_of(my_filter, mine, pa.record_batch({"x": pa.nulls(1)}))


BOUNDS = [(10, 30), (10, 10), (None, None)]
COUNTS = [(50, 0), (50, 50), (50, 1), (None, None)]


@pytest.mark.parametrize("text", ["x < 10", "x <= 10", "x > 30", "x >= 30", "x = 9", "x = 10", "x = 20", "x != 10"])
@pytest.mark.parametrize("more", ["", " and x is not null", " or x is null", " or x in (5, 6)"])
def test_pruning_keeps_no_more_than_theirs(text, more):
    """Whatever they prove from statistics, we do."""
    mine, their_schema = schemas("long")
    expression = parser.parse(text + more)
    for (lower, upper), (values, nulls) in itertools.product(BOUNDS, COUNTS):
        packed = [None if bound is None else to_bytes(type_from_text("long"), bound) for bound in (lower, upper)]
        file = DataFile.from_args(
            record_count=50,
            value_counts=None if values is None else {1: values},
            null_value_counts=None if nulls is None else {1: nulls},
            nan_value_counts=None,
            lower_bounds=None if packed[0] is None else {1: packed[0]},
            upper_bounds=None if packed[1] is None else {1: packed[1]},
        )
        parsed = their_parser.parse(text + more)
        inclusive = their_visitors._InclusiveMetricsEvaluator(their_schema, parsed).eval(file)
        might, must = _core.prune_files(mine.model_dump_json(), expression_to_json(expression), arrow(file))
        assert not might[0].as_py() or inclusive, (lower, upper, values, nulls)
        strict = their_visitors._StrictMetricsEvaluator(their_schema, parsed).eval(file)
        # Without a count of nulls they claim that there are none; and to them `x != 10` is true of null.
        of_nulls = "!=" in text and nulls != 0
        assert must[0].as_py() or not strict or nulls is None or of_nulls, (lower, upper, values, nulls)


def arrow(file: DataFile) -> pa.RecordBatch:
    def one(counts, kind):
        return pa.array([list((counts or {}).items())], pa.map_(pa.int32(), kind))

    return pa.record_batch(
        {
            "record_count": pa.array([file.record_count], pa.int64()),
            "value_counts": one(file.value_counts, pa.int64()),
            "null_value_counts": one(file.null_value_counts, pa.int64()),
            "lower_bounds": one(file.lower_bounds, pa.binary()),
            "upper_bounds": one(file.upper_bounds, pa.binary()),
        }
    )


def test_their_literal_of_a_python_value_is_ours():
    for value in [5, 0.5, "x", True, Decimal("1.20"), date(2017, 12, 1), b"\x00"]:
        assert ours.literal(value).value == their_literal(value).value


def test_scans_find_the_rows_of_their_scans(tmp_path):
    """Nulls, NaN, zeros of both signs and negations, and the four filters of which they are true of other rows."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("db")
    values = [1.0, math.nan, None, -0.0, 0.0, 5.0]
    rows = pa.table({"id": range(6), "x": values, "s": ["ab", None, "b", "", "abc", None]})
    table = catalog.create_table("db.t", rows.schema)
    table.append(rows)
    table.append(rows.slice(1, 2))
    mine = StaticTable.from_metadata(table.metadata_location)
    for text in [
        "x != 5",
        "not x = 5",
        "x >= 5",
        "x > 0.5",
        "x = 0",
        "x in (1, 5)",
        "s != 'ab'",
        "s not like 'a%'",
        "not (x = 5 and s = 'ab')",
        "not (x = 5 or s = 'ab')",
        "s is null or x != 1",
    ]:
        theirs_found = sorted(table.scan(row_filter=text).to_arrow()["id"].to_pylist())
        assert sorted(mine.scan(text).to_arrow()["id"].to_pylist()) == theirs_found, text
    # Here `not in` of null is unknown, `is nan` never is, and a negated comparison is the opposite one.
    for text in ("x not in (1, 5)", "not x in (1, 5)"):
        assert sorted(mine.scan(text).to_arrow()["id"].to_pylist()) == [1, 1, 3, 4]
        assert sorted(table.scan(text).to_arrow()["id"].to_pylist()) == [1, 1, 2, 2, 3, 4]
    assert sorted(mine.scan("x is not nan").to_arrow()["id"].to_pylist()) == [0, 2, 2, 3, 4, 5]
    assert sorted(table.scan("x is not nan").to_arrow()["id"].to_pylist()) == [0, 3, 4, 5]
    assert mine.scan("not x < 5").to_arrow()["id"].to_pylist() == [5]
    assert sorted(table.scan("not x < 5").to_arrow()["id"].to_pylist()) == [1, 1, 5]
