"""The join of a merge's source with its target in Spark, and the changes that the clauses make of the pairs."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import And, IsNull, Or
from icefloe.spark.dml.clause_columns import (
    CLAUSE,
    check_clauses,
    check_source,
    clause_number,
    refusal,
    values_by_clause,
)
from icefloe.spark.dml.determinism import check_deterministic
from icefloe.spark.dml.key_bounds import bounds, has_bounds, key_range
from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.dml.value_bytes import row_bytes
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.conform import column_of
from icefloe.table.environment import SYSTEM
from icefloe.table.row_level.clause_sql.scope import named
from icefloe.table.row_level.clauses import Action, Match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column, DataFrame
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.schema import Schema
    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.table.row_level.clauses import Clause, Clauses
    from icefloe.table.row_level.join_keys import JoinKey

_MAX_BROADCAST_ROWS = 1_000_000
_MAX_BROADCAST_BYTES = 100 * 1024 * 1024
_KEY = "__icefloe_key_{}"


@dataclass(frozen=True)
class FurtherCondition:
    """A condition on pairs of rows beside the keys.

    Attributes:
        text: Spark SQL over `target` and `source`.
        source_columns: The columns of the source that the text reads.
        on_source: A part of the text reads the source alone, and Spark may evaluate it for every source row.
    """

    text: str
    source_columns: tuple[str, ...]
    on_source: bool = False


class MergeSource:
    """The source of a merge, computed once: every join reads the same rows, even from a source that is not deterministic.

    Args:
        frame: Rows.
        keys: Key columns.
        only_if: Boolean column of the source; rows where it is not true match nothing.
        further: Condition that a pair must meet beside equal keys; None for every pair.

    Raises:
        ResolveError: The source has no key column of a name.
        ValidationError: The further condition reads a map of the source.
    """

    def __init__(
        self,
        frame: DataFrame,
        keys: Sequence[JoinKey],
        only_if: str | None = None,
        further: FurtherCondition | None = None,
    ) -> None:
        self.keys = tuple(
            key if key.exact else replace(key, source=named(key.source, frame.columns) or key.source) for key in keys
        )
        missing = [key.source for key in self.keys if key.source not in frame.columns]
        if missing:
            raise ResolveError(
                f"merge: the source has no key column {missing[0]!r}; expected one of {', '.join(frame.columns)}"
            )
        self._compared = () if further is None else further.source_columns
        for name in self._compared:
            if "map<" in frame.schema[name].dataType.simpleString():
                raise ValidationError(
                    f"merge: the condition of the join reads the source's column {name!r} of type "
                    f"{frame.schema[name].dataType.simpleString()}; expected columns without maps, which Spark cannot compare: select "
                    "the needed entries in the source's query"
                )
        self.frame = frame
        self.only_if = only_if
        self.further = further
        self.spark = frame.sparkSession
        self._bounds: Any = None
        self._persisted = False

    def __enter__(self) -> Self:
        """Cache the rows, and compute their number and size and the least and greatest keys."""
        level = self.frame.storageLevel
        # A source that its owner has cached stays in the cache afterwards.
        self._persisted = not (level.useMemory or level.useDisk)
        try:
            if self._persisted:
                # Equal plans share a cache: without a plan of its own, another merge of the frame that ends first would release it.
                self.frame = self.frame.where(F.lit(SYSTEM.new_uuid()).isNotNull()).persist()
            self._bounds = self.frame.agg(*self._aggregates()).first()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        """Release the cached rows."""
        self._release()

    def _release(self) -> None:
        if self._persisted:
            self.frame.unpersist()

    def _aggregates(self) -> list[Column]:
        """Return the number of the rows, the bytes of all columns and of those of the join condition, and the bounds of the keys."""
        frame = self.frame
        found = [F.count(F.lit(1)).alias("rows")]
        for what, names in (("all", frame.columns), ("keys", self._names())):
            found.append(F.sum(row_bytes(frame, names)).alias(f"bytes {what}"))
        for name in dict.fromkeys(key.source for key in self.keys):
            kind = frame.schema[name].dataType.simpleString()
            if not has_bounds(kind):
                continue
            value = column_of(name)
            if self.only_if is not None:
                value = F.when(column_of(self.only_if), value)
            least, greatest = bounds(value, kind)
            found += [
                least.alias(f"min {name}"),
                greatest.alias(f"max {name}"),
                F.count(value).alias(f"count {name}"),
            ]
        return found

    def key_range(self, schema: Schema) -> BooleanExpression | None:
        """Return a filter that is true for every target row whose keys equal the keys of a source row; None for no restriction.

        Args:
            schema: The table's schema.
        """
        found = self._bounds.asDict()
        ranges = []
        for key in self.keys:
            least, greatest = found.get(f"min {key.source}"), found.get(f"max {key.source}")
            kind = self.frame.schema[key.source].dataType.simpleString()
            target = schema.find_field(key.target).field_type
            matching = None if least is None else key_range(key.target, target, kind, least, greatest)
            if matching is None:
                continue
            with_nulls = key.null_safe and found[f"count {key.source}"] < found["rows"]
            ranges.append(Or(matching, IsNull(key.target)) if with_nulls else matching)
        return functools.reduce(And, ranges) if ranges else None

    def hinted(self, frame: DataFrame, *, keys: bool = False) -> DataFrame:
        """Return a frame with a broadcast hint if the source has at most 1,000,000 rows and 100 MiB, which Spark does not know.

        Args:
            frame: Rows of the source, or at most as many rows.
            keys: The frame has the columns of the join condition alone.
        """
        size = self._bounds["bytes keys" if keys else "bytes all"] or 0
        is_small = self._bounds["rows"] <= _MAX_BROADCAST_ROWS and size <= _MAX_BROADCAST_BYTES
        return F.broadcast(frame) if is_small else frame

    def matches(self) -> Column:
        """Return the join condition of ``target`` and ``source``."""
        matches = self._equal_keys([column_of("target", key.target) for key in self.keys])
        return matches if self.further is None else matches & F.expr(self.further.text)

    def without_match(self, matched: DataFrame) -> DataFrame:
        """Return the rows of the source whose values in the join condition no matched pair has.

        Args:
            matched: Pairs with the columns of :meth:`identity`.
        """
        columns = [F.col(_KEY.format(index)) for index in range(len(self.keys) + len(self._compared))]
        # A source row may match any number of target rows.
        found = matched.select(*columns).distinct()
        others = [column_of("matched", _KEY.format(index)) for index in range(len(columns))]
        matches = self._equal_keys(others[: len(self.keys)])
        for name, other in zip(self._compared, others[len(self.keys) :], strict=True):
            matches &= other.eqNullSafe(column_of("source", name))
        return self.frame.alias("source").join(self.hinted(found.alias("matched"), keys=True), matches, "left_anti")

    def identity(self) -> list[Column]:
        """Return the columns of ``source`` whose values decide which target rows match, under names of their own."""
        names = [*(key.source for key in self.keys), *self._compared]
        return [column_of("source", name).alias(_KEY.format(index)) for index, name in enumerate(names)]

    def columns(self) -> list[Column]:
        """Return the columns that the join condition reads."""
        return [column_of(name) for name in self._names()]

    def _names(self) -> list[str]:
        """Return the names of the columns that the join condition reads."""
        return list(dict.fromkeys([*(key.source for key in self.keys), *filter(None, [self.only_if]), *self._compared]))

    def _equal_keys(self, keys: Sequence[Column]) -> Column:
        """Return the condition that columns, one for each key, equal the keys of ``source``."""
        pairs = []
        for key, other in zip(self.keys, keys, strict=True):
            own = column_of("source", key.source)
            pairs.append(other.eqNullSafe(own) if key.null_safe else other == own)
        if self.only_if is not None:
            pairs.append(column_of("source", self.only_if))
        return functools.reduce(lambda left, right: left & right, pairs) if pairs else F.lit(True)


@contextmanager
def merged(target: PlannedTarget, source: MergeSource, clauses: Clauses) -> Iterator[RowChanges]:
    """Yield the changes of a merge. Matched rows are computed once and cached until the block ends.

    Raises:
        ValidationError: A condition or value is refused; see :func:`check_clauses`.
        SchemaMismatchError: The source or a value does not fit the table.
    """
    struct = target.struct
    check_source(clauses, struct, source.frame.schema)
    located = located_frame(target.spark, target.planned).alias("target")
    rows = source.frame.alias("source")
    _check_pairs(located, rows, source.further)
    check_clauses(
        clauses,
        struct,
        {
            Match.MATCHED: located.join(rows, source.matches()),
            Match.NOT_MATCHED: rows,
            Match.NOT_MATCHED_BY_SOURCE: located,
        },
    )
    of_matched, of_rest = clauses.of(Match.MATCHED), clauses.of(Match.NOT_MATCHED_BY_SOURCE)
    matched = _matched(located, source, of_matched, struct).persist()
    cached = [matched]
    try:
        parts = [(matched, of_matched)]
        if of_rest:
            rest = _not_matched_by_source(located, source, of_rest, struct).persist()
            cached.append(rest)
            parts.append((rest, of_rest))
        once = clauses.delete_all_matched
        yield RowChanges(
            target=target,
            removed=_union([_positions(part, once=once and own is of_matched) for part, own in parts if own]),
            deleted=_union(
                [_deleted(part, own, once=once and own is of_matched) for part, own in parts if _has_delete(own)]
            ),
            updated=_union([_updated(part, own, struct) for part, own in parts if _has_update(own)]),
            inserted=_inserted(source, matched, clauses.of(Match.NOT_MATCHED), struct),
            only_updates=all(clause.action is not Action.DELETE for clause in clauses.in_order),
        )
    finally:
        for frame in cached:
            frame.unpersist()


def _check_pairs(located: DataFrame, rows: DataFrame, further: FurtherCondition | None) -> None:
    """Check that Spark accepts the condition of a merge on pairs of rows, and that it is deterministic; no job runs."""
    if further is None:
        return
    try:
        # Over Spark Connect, reading the schema makes Spark analyse the condition.
        _ = located.crossJoin(rows).where(further.text).schema
    except AnalysisException as error:
        instead = f", or on=[{further.text!r}] for equal columns" if further.text.isidentifier() else ""
        raise refusal(error, f"merge, on {further.text!r}", instead) from error
    check_deterministic(lambda: located.join(rows, F.expr(further.text)), further.text, "merge, on")


def _matched(located: DataFrame, source: MergeSource, clauses: Sequence[Clause], struct: Any) -> DataFrame:
    """Return the matched pairs: position, clause number, source keys and new values."""
    joined = located.join(source.hinted(source.frame.alias("source")), source.matches()).withColumn(
        CLAUSE, clause_number(clauses)
    )
    values = values_by_clause(clauses, struct, source.frame.columns, joined)
    return joined.select(FILE, POSITION, CLAUSE, *source.identity(), *values)


def _not_matched_by_source(
    located: DataFrame, source: MergeSource, clauses: Sequence[Clause], struct: Any
) -> DataFrame:
    """Return the target rows without a match that a clause applies to: position, clause number and new values."""
    keys = source.frame.select(*source.columns()).alias("source")
    rest = located.join(source.hinted(keys, keys=True), source.matches(), "left_anti").withColumn(
        CLAUSE, clause_number(clauses)
    )
    rest = rest.where(F.col(CLAUSE).isNotNull())
    return rest.select(FILE, POSITION, CLAUSE, *values_by_clause(clauses, struct, None, rest))


def _positions(part: DataFrame, *, once: bool) -> DataFrame:
    """Return the positions of the rows that a clause applies to; `once` if several source rows may match a row."""
    positions = part.where(F.col(CLAUSE).isNotNull()).select(FILE, POSITION)
    return positions.distinct() if once else positions


def _has_delete(clauses: Sequence[Clause]) -> bool:
    return any(clause.action is Action.DELETE for clause in clauses)


def _deleted(part: DataFrame, clauses: Sequence[Clause], *, once: bool) -> DataFrame:
    numbers = [index for index, clause in enumerate(clauses) if clause.action is Action.DELETE]
    return _positions(part.where(F.col(CLAUSE).isin(numbers)), once=once)


def _has_update(clauses: Sequence[Clause]) -> bool:
    return any(clause.action is Action.UPDATE for clause in clauses)


def _updated(part: DataFrame, clauses: Sequence[Clause], struct: Any) -> DataFrame:
    numbers = [index for index, clause in enumerate(clauses) if clause.action is Action.UPDATE]
    return part.where(F.col(CLAUSE).isin(numbers)).select(
        FILE, POSITION, *[column_of(field.name) for field in struct.fields]
    )


def _inserted(source: MergeSource, matched: DataFrame, clauses: Sequence[Clause], struct: Any) -> DataFrame | None:
    """Return the rows to insert, from source rows without a matched pair."""
    if not clauses:
        return None
    rows = source.without_match(matched)
    rows = rows.withColumn(CLAUSE, clause_number(clauses)).where(F.col(CLAUSE).isNotNull())
    return rows.select(*values_by_clause(clauses, struct, source.frame.columns, rows))


def _union(frames: Sequence[DataFrame]) -> DataFrame | None:
    return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None
