"""The check of an error's message: its parts in their order, in the names that users write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from icefloe.exceptions import FeatureUnsupportedError, IcebergError
from icefloe.schema import Schema
from icefloe.types import ListType, NestedField, StructType

# The columns that the cases name.
SCHEMA = Schema(
    NestedField(1, "id", "long", required=True),
    NestedField(2, "name", "string"),
    NestedField(3, "at", "timestamp"),
    NestedField(4, "tags", ListType(5, "string")),
    NestedField(6, "point", StructType(NestedField(7, "x", "double"))),
)

# A call that fails, and the parts of its message in order: the subject, what is wrong or expected, what was got, what to do.
Case: TypeAlias = tuple[Callable[[], Any], list[str]]

# Names of Arrow's Rust implementation, of no type that a user writes.
RUST_TYPES = re.compile(
    r"\b(Utf8|LargeUtf8|Int8|Int16|Int32|Int64|UInt64|Float32|Float64|Date32|Timestamp\(|Some\(|None\))"
)


def check_message(call: Callable[[], Any], parts: list[str]) -> None:
    """Assert that a call fails with a message that has the parts in their order and no type of the core."""
    with pytest.raises((IcebergError, FeatureUnsupportedError)) as caught:
        call()
    message = str(caught.value)
    positions = [message.find(part) for part in parts]
    assert -1 not in positions, f"{message!r} lacks {parts[positions.index(-1)]!r}"
    assert positions == sorted(positions), message
    assert RUST_TYPES.search(message) is None, message
