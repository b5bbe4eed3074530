"""The join of a merge's source with its target, and the changes that its clauses make of the result."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ValidationError
from icefloe.expressions import And, GreaterThanOrEqual, LessThanOrEqual
from icefloe.spark.dml.clauses import (
    CLAUSE,
    Clause,
    check_expressions,
    check_source,
    clause_number,
    values_of_clauses,
)
from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.types.columns import column_of, quoted
from icefloe.table.row_level.clauses import Action

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.spark.dml.target import PinnedTarget

_MAX_BROADCAST_ROWS = 1_000_000
_RANGED_TYPES = ("tinyint", "smallint", "int", "bigint", "date", "string")
_KEY = "__icefloe_key_{}"


class MergeSource:
    """A merge's source, computed once: every use of it sees the same rows, whatever made them."""

    def __init__(self, frame: DataFrame, keys: Mapping[str, str]) -> None:
        missing = [name for name in keys.values() if name not in frame.columns]
        if missing:
            raise ValidationError(f"The source has no key column {missing[0]!r}; it has {', '.join(frame.columns)}")
        self.frame = frame
        self.keys = keys
        self.spark = frame.sparkSession
        self._bounds: Any = None

    def __enter__(self) -> Self:
        """Keep the rows and look at the keys' ranges."""
        self.frame = self.frame.persist()
        ranged = [
            name for name in self.keys.values() if self.frame.schema[name].dataType.simpleString() in _RANGED_TYPES
        ]
        bounds = [
            column
            for name in ranged
            for column in (F.min(quoted(name)).alias(f"min {name}"), F.max(quoted(name)).alias(f"max {name}"))
        ]
        self._bounds = self.frame.agg(F.count(F.lit(1)).alias("rows"), *bounds).first()
        return self

    def __exit__(self, *error: object) -> None:
        """Let the rows go."""
        self.frame.unpersist()

    def key_range(self) -> BooleanExpression | None:
        """Return a filter that every target row with a matching key satisfies; it prunes files."""
        ranges: list[BooleanExpression] = []
        for target, source in self.keys.items():
            found = self._bounds.asDict()
            low, high = found.get(f"min {source}"), found.get(f"max {source}")
            if low is not None:
                ranges.append(And(GreaterThanOrEqual(target, _literal(low)), LessThanOrEqual(target, _literal(high))))
        return functools.reduce(And, ranges) if ranges else None

    def hinted(self, frame: DataFrame) -> DataFrame:
        """Return rows of the source, marked for broadcast if they are few: Spark cannot tell by itself."""
        return F.broadcast(frame) if self._bounds["rows"] <= _MAX_BROADCAST_ROWS else frame

    def matches(self) -> Column:
        """Return the join condition of ``target`` and ``source``."""
        pairs = [column_of("target", target) == column_of("source", source) for target, source in self.keys.items()]
        return functools.reduce(lambda left, right: left & right, pairs)


@contextmanager
def merged(pinned: PinnedTarget, source: MergeSource, clauses: Sequence[Clause]) -> Iterator[RowChanges]:
    """Yield what a merge changes. Matched rows are computed once and kept until the block ends.

    Raises:
        ValidationError: A condition or value is refused; see :func:`check_expressions`.
        SchemaMismatchError: The source or a value does not fit the table.
    """
    of_kind = {
        kind: [clause for clause in clauses if clause.kind == kind]
        for kind in ("matched", "not matched", "not matched by source")
    }
    struct = pinned.struct()
    check_source(clauses, struct, source.frame.schema)
    located = located_frame(pinned.spark, pinned.planned).alias("target")
    rows = source.frame.alias("source")
    frames = {"matched": located.join(rows, source.matches()), "not matched": rows, "not matched by source": located}
    check_expressions(clauses, struct, frames)
    matched = _matched(located, source, of_kind["matched"], struct).persist()
    kept = [matched]
    try:
        parts = [(matched, of_kind["matched"])]
        if of_kind["not matched by source"]:
            rest = _not_matched_by_source(located, source, of_kind["not matched by source"], struct).persist()
            kept.append(rest)
            parts.append((rest, of_kind["not matched by source"]))
        yield RowChanges(
            pinned=pinned,
            gone=_union([part.where(F.col(CLAUSE).isNotNull()).select(FILE, POSITION) for part, own in parts if own]),
            updated=_union(
                [_updated(part, own, struct) for part, own in parts if any(one.action is Action.UPDATE for one in own)]
            ),
            inserted=_inserted(source, matched, of_kind["not matched"], struct),
            only_updates=all(one.action is not Action.DELETE for one in clauses),
        )
    finally:
        for frame in kept:
            frame.unpersist()


def _matched(located: DataFrame, source: MergeSource, clauses: Sequence[Clause], struct: Any) -> DataFrame:
    joined = located.join(source.hinted(source.frame.alias("source")), source.matches()).withColumn(
        CLAUSE, clause_number(clauses)
    )
    keys = [column_of("source", name).alias(_KEY.format(index)) for index, name in enumerate(source.keys.values())]
    return joined.select(FILE, POSITION, CLAUSE, *keys, *values_of_clauses(clauses, struct, source.frame.columns))


def _not_matched_by_source(
    located: DataFrame, source: MergeSource, clauses: Sequence[Clause], struct: Any
) -> DataFrame:
    keys = source.frame.select(*[column_of(name) for name in source.keys.values()]).alias("source")
    rest = located.join(source.hinted(keys), source.matches(), "left_anti").withColumn(CLAUSE, clause_number(clauses))
    rest = rest.where(F.col(CLAUSE).isNotNull())
    return rest.select(FILE, POSITION, CLAUSE, *values_of_clauses(clauses, struct, None))


def _updated(part: DataFrame, clauses: Sequence[Clause], struct: Any) -> DataFrame:
    numbers = [index for index, clause in enumerate(clauses) if clause.action is Action.UPDATE]
    return part.where(F.col(CLAUSE).isin(numbers)).select(*[column_of(field.name) for field in struct.fields])


def _inserted(source: MergeSource, matched: DataFrame, clauses: Sequence[Clause], struct: Any) -> DataFrame | None:
    """Return the rows to insert: those of the source whose keys no matched pair has."""
    if not clauses:
        return None
    keys = matched.select(*[F.col(_KEY.format(index)) for index in range(len(source.keys))]).alias("matched")
    pairs = [
        column_of("source", name) == column_of("matched", _KEY.format(index))
        for index, name in enumerate(source.keys.values())
    ]
    rows = source.frame.alias("source").join(
        source.hinted(keys), functools.reduce(lambda a, b: a & b, pairs), "left_anti"
    )
    rows = rows.withColumn(CLAUSE, clause_number(clauses)).where(F.col(CLAUSE).isNotNull())
    return rows.select(*values_of_clauses(clauses, struct, source.frame.columns))


def _union(frames: Sequence[DataFrame]) -> DataFrame | None:
    return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None


def _literal(value: Any) -> Any:
    return value if isinstance(value, int | str) else value.isoformat()
