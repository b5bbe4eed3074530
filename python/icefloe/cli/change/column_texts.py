"""Schemas, partition specs and sort orders from text: `id long not null, at timestamptz`, `day(at), bucket(16, id)`."""

from __future__ import annotations

import re

from icefloe.exceptions import ValidationError
from icefloe.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from icefloe.transforms import parse_transform
from icefloe.types import NestedField
from icefloe.types.parsing import type_from_text

_REQUIRED = re.compile(r"\s+(not\s+null|required)$", re.IGNORECASE)
_CALL = re.compile(r"(\w+)\s*\(\s*(?:(\d+)\s*,\s*)?(.+?)\s*(?:,\s*(\d+)\s*)?\)")
_TRANSFORM_NAMES = {"years": "year", "months": "month", "days": "day", "hours": "hour"}
_SORT = re.compile(r"(?P<key>.+?)(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?", re.IGNORECASE)


def schema_from_text(text: str) -> Schema:
    """Return a schema of primitive columns, with field ids from 1.

    Raises:
        ValidationError: A part is not a name with a primitive type.

    Examples:
        >>> [str(field) for field in schema_from_text("id long not null, price decimal(9, 2)").fields]
        ['1: id: required long', '2: price: optional decimal(9, 2)']
    """
    fields = []
    for position, part in enumerate(_parts(text), start=1):
        is_required = _REQUIRED.search(part) is not None
        name, _, kind = _REQUIRED.sub("", part).strip().partition(" ")
        if kind.strip() == "":
            raise ValidationError(f"schema: expected a name and a type such as `id long`, got {part!r}")
        fields.append(NestedField(position, name, type_from_text(kind.strip()), required=is_required))
    if not fields:
        raise ValidationError("schema: expected columns such as `id long, name string`, got nothing")
    return Schema(*fields)


def spec_from_text(text: str, schema: Schema) -> PartitionSpec:
    """Return a partition spec of a schema.

    Raises:
        ValidationError: A part is neither a column nor a transform of one.

    Examples:
        >>> schema = schema_from_text("id long, at timestamptz, kind string")
        >>> [str(field) for field in spec_from_text("day(at), bucket(16, id), kind", schema).fields]
        ['1000: at_day: day(2)', '1001: id_bucket: bucket[16](1)', '1002: kind: identity(3)']
    """
    fields = []
    for position, part in enumerate(_parts(text)):
        transform, column = _transform(part)
        source = schema.find_field(column)
        word = transform.partition("[")[0]
        name = column if word == "identity" else f"{column}_{'trunc' if word == 'truncate' else word}"
        field_id = PARTITION_FIELD_ID_START + position
        fields.append(PartitionField(source.field_id, field_id, parse_transform(transform), name))
    return PartitionSpec(*fields)


def sort_order_from_text(text: str, schema: Schema) -> SortOrder:
    """Return a sort order of a schema.

    Raises:
        ValidationError: A part is neither a column nor a transform of one.

    Examples:
        >>> schema = schema_from_text("id long, at timestamptz")
        >>> [str(field) for field in sort_order_from_text("day(at) desc, id nulls last", schema).fields]
        ['day(2) DESC NULLS LAST', '1 ASC NULLS LAST']
    """
    fields = []
    for part in _parts(text):
        match = _SORT.fullmatch(part)
        assert match is not None
        transform, column = _transform(match["key"])
        direction = SortDirection[(match["direction"] or "asc").upper()]
        nulls = match["nulls"] or ("first" if direction is SortDirection.ASC else "last")
        source = schema.find_field(column).field_id
        fields.append(SortField(source, parse_transform(transform), direction, NullOrder[f"NULLS_{nulls.upper()}"]))
    return SortOrder(*fields)


def _transform(text: str) -> tuple[str, str]:
    """Return transform and column of `column`, `day(column)`, `bucket(16, column)` or `truncate(column, 10)`."""
    match = _CALL.fullmatch(text)
    if match is None:
        return "identity", text.strip()
    name, before, column, after = match.groups()
    word = _TRANSFORM_NAMES.get(name.lower(), name.lower())
    width = before or after
    return (word if width is None else f"{word}[{width}]"), column


def _parts(text: str) -> list[str]:
    """Return the parts between commas outside of parentheses and brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += (one in "([<") - (one in ")]>")
        if one == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += one
    return [part.strip() for part in parts if part.strip() != ""]
