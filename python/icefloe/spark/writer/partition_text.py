"""Partition fields as Spark writes them: ``bucket(16, id)``, ``days(ts)``, ``region``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark.lexer import Cursor, words_of
from icefloe.transforms import BucketTransform, IdentityTransform, TimeTransform, TruncateTransform, parse_transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

    from icefloe.schema import Schema
    from icefloe.transforms import Transform

_COLUMN_TEXT = re.compile(r"Column<'(.*)'>", re.DOTALL)
_NAMES = {
    "years": "year",
    "year": "year",
    "months": "month",
    "month": "month",
    "days": "day",
    "day": "day",
    "date": "day",
    "hours": "hour",
    "hour": "hour",
    "date_hour": "hour",
    "identity": "identity",
}
_WITH_NUMBER = {"bucket": "bucket", "truncate": "truncate", "trunc": "truncate"}
_FIRST_FIELD_ID = 1000


def partition_spec(schema: Schema, fields: Sequence[str | Column], *, case_sensitive: bool = False) -> PartitionSpec:
    """Return the partition spec of a new table.

    Args:
        schema: Schema of the table.
        fields: Texts such as ``region``, ``days(ts)``, ``bucket(16, id)``, ``truncate(3, name)``, or columns such as
            ``F.partitioning.days("ts")``.
        case_sensitive: Match names of columns in their case alone.

    Raises:
        ValidationError: A text is no partition field, the column does not exist, the transform does not apply to its type, or a column
            has the same transform or two units of time.

    Examples:
        >>> from icefloe.schema import Schema
        >>> from icefloe.types import LongType, NestedField
        >>> partition_spec(Schema(NestedField(1, "id", LongType())), ["bucket(16, id)"]).fields[0].name
        'id_bucket'
    """
    made: list[PartitionField] = []
    for number, one in enumerate(fields):
        name, transform = _whole_text(one if isinstance(one, str) else _text_of(one))
        source = schema.find_field(name, case_sensitive=case_sensitive)
        if not transform.can_transform(source.field_type):
            raise ValidationError(
                f"partition field {one!r}: the transform does not apply to column {name!r}; expected a type that {transform} has, "
                f"got {source.field_type}"
            )
        column = schema.find_column_name(source.field_id) or source.name
        field = PartitionField(source.field_id, _FIRST_FIELD_ID + number, transform, created_name(column, transform))
        _check_not_redundant(field, made, column)
        made.append(field)
    spec = PartitionSpec(*made)
    spec.check_names(schema)
    return spec


def _check_not_redundant(field: PartitionField, earlier: Sequence[PartitionField], column: str) -> None:
    """Raise ValidationError if an earlier field partitions the column by the same transform, or by another unit of time.

    A coarser unit of time follows from a finer one. As in the Java library, units that are added to an existing table do not conflict
    with its fields.
    """
    alike = (field.source_id, field.transform.dedup_name)
    same = next((one for one in earlier if (one.source_id, one.transform.dedup_name) == alike), None)
    if same is not None:
        raise ValidationError(
            f"PARTITIONED BY: {field.transform} of column {column!r} is redundant beside {same.transform}; expected one of the two, got both"
        )


def created_name(column: str, transform: Transform) -> str:
    """Return the name of a partition field of a new table: as the Java runtime names it, without the number of the transform.

    A field that is added to an existing table has the number in its name.

    Examples:
        >>> created_name("id", BucketTransform(16)), created_name("s", TruncateTransform(3)), created_name("region", IdentityTransform())
        ('id_bucket', 's_trunc', 'region')
    """
    if isinstance(transform, BucketTransform):
        return f"{column}_bucket"
    if isinstance(transform, TruncateTransform):
        return f"{column}_trunc"
    return f"{column}_{transform}" if isinstance(transform, TimeTransform) else column


def partition_field(cursor: Cursor) -> tuple[str, Transform]:
    """Return the column and the transform of the partition field that follows.

    Raises:
        ValidationError: No column follows, or the transform is unknown.

    Examples:
        >>> partition_field(Cursor("bucket(16, a.b)"))
        ('a.b', BucketTransform(num_buckets=16))
    """
    start = cursor.index
    parts = cursor.names()
    # Columns of Spark write the number of a transform in brackets before the parentheses.
    bracketed = [str(cursor.number())] if len(parts) == 1 and cursor.accept("[") else []
    if bracketed:
        cursor.expect("]")
    following = cursor.peek()
    if not bracketed and (len(parts) > 1 or following is None or not following.is_keyword("(")):
        return ".".join(parts), IdentityTransform()
    kind, items = parts[0].lower(), cursor.items()
    if kind in _NAMES and not bracketed and len(items) == 1:
        return _column(items[0]), parse_transform(_NAMES[kind])
    if kind in _WITH_NUMBER:
        numbers = bracketed or [one for one in items if one.isdecimal()]
        columns = [one for one in items if not one.isdecimal()]
        if len(numbers) == 1 and len(columns) == 1:
            return _column(columns[0]), parse_transform(f"{_WITH_NUMBER[kind]}[{numbers[0]}]")
    shown = cursor.text[cursor.words[start].start : cursor.words[cursor.index - 1].end]
    raise ValidationError(
        "partition field: expected a column name, years(c), months(c), days(c), hours(c), bucket(N, c) or truncate(W, c), got "
        f"{shown!r}"
    )


def _text_of(column: Column) -> str:
    """Return the expression of a Spark column; its string form is the only one that classic and Connect share."""
    match = _COLUMN_TEXT.fullmatch(str(column))
    return str(column) if match is None else match[1]


def _whole_text(text: str) -> tuple[str, Transform]:
    """Return the column and the transform of a text; one without parentheses is the name of a column."""
    if "(" not in text:
        return _column(text), IdentityTransform()
    cursor = Cursor(text)
    found = partition_field(cursor)
    cursor.finish()
    return found


def _column(text: str) -> str:
    """Return the name of a column, without the backquotes of its parts; Spark's columns have names with spaces unquoted."""
    words = words_of(text)
    dotted = len(words) % 2 == 1 and all(
        word.is_keyword(".") if index % 2 else word.is_name for index, word in enumerate(words)
    )
    return ".".join(word.text for word in words[::2]) if dotted else text.strip()
