"""Rows as text that tells apart what equality does not: NaN, -0.0, types of numbers."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pyarrow as pa


def exact(rows: pa.Table) -> list[tuple[str, ...]]:
    """The rows of a table, each value as text, in an order of their own."""
    columns = [[text(value) for value in column.to_pylist()] for column in rows.columns]
    return sorted(zip(*columns, strict=True)) if columns else []


def text(value: Any) -> str:
    """A value as text: floats with their sign and bits, maps without an order, UUIDs as Spark has them."""
    match value:
        case float():
            return value.hex()
        case dict():
            return "{" + ", ".join(f"{name}: {text(each)}" for name, each in value.items()) + "}"
        case [(_, _), *_] if all(isinstance(each, tuple) for each in value):
            return "map(" + ", ".join(sorted(f"{text(key)}: {text(each)}" for key, each in value)) + ")"
        case list():
            return "[" + ", ".join(text(each) for each in value) + "]"
        case bytes() if len(value) == 16:
            return str(uuid.UUID(bytes=value))
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
    return str(value)
