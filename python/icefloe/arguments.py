"""Checks of the arguments of public calls, for which Python itself does not check types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

from icefloe.exceptions import ValidationError


def checked_flag(name: str, value: object) -> bool:
    """Return an argument that is True or False.

    Raises:
        ValidationError: The value is anything else, a text or a number for example, whose truth would surprise.
    """
    if not isinstance(value, bool):
        raise ValidationError(f"{name}: expected True or False, got {value!r}")
    return value


def checked_integer(name: str, value: object, least: int | None = None) -> int:
    """Return an argument that is a whole number; integers of NumPy are accepted.

    Args:
        name: The argument.
        value: Its value.
        least: The smallest valid number, None for any.

    Raises:
        ValidationError: The value is no whole number, a boolean, or too small.
    """
    number = integer_of(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f", {least} or above"
        raise ValidationError(f"{name}: expected a whole number{bound}, got {value!r}")
    return number


def checked_snapshot_id(value: object, name: str = "snapshot_id") -> int:
    """Return an argument that is the id of a snapshot, whether the table has the snapshot or not; integers of NumPy are accepted.

    Raises:
        ValidationError: The value is no whole number.
    """
    number = integer_of(value)
    if number is None:
        raise ValidationError(
            f"{name}: expected the id of a snapshot, a whole number, got {value!r}; snapshots() returns the table's snapshots"
        )
    return number


def checked_time_ms(name: str, value: Any) -> int | float:
    """Return an argument that is a time in milliseconds since 1970-01-01 UTC.

    Raises:
        ValidationError: The value is no finite number.
    """
    number = integer_of(value)
    if number is None and isinstance(value, float) and math.isfinite(value):
        return value
    if number is None:
        raise ValidationError(
            f"{name}: expected milliseconds since 1970-01-01 UTC, got {value!r}; pass int(time.timestamp() * 1000)"
        )
    return number


def checked_text(name: str, value: object) -> str:
    """Return an argument that is text.

    Raises:
        ValidationError: The value is not text.
    """
    if not isinstance(value, str):
        raise ValidationError(f"{name}: expected text, got {value!r}")
    return value


def checked_names(name: str, value: object) -> tuple[str, ...]:
    """Return an argument that is several names, such as a list or a tuple.

    Raises:
        ValidationError: The value is one text, whose letters would be the names, or is no collection of texts.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValidationError(f"{name}: expected a list or tuple of names such as ('id',), got {value!r}")
    names = tuple(value)
    for one in names:
        if not isinstance(one, str):
            raise ValidationError(f"{name}: expected names, got {one!r} in {value!r}")
    return names


def checked_mapping(name: str, value: object, of: str) -> Mapping[Any, Any]:
    """Return an argument that is a mapping with texts as keys.

    Args:
        name: The argument.
        value: Its value.
        of: The keys and values that the message expects, such as `names to values`.

    Raises:
        ValidationError: The value is no mapping, or a key is not text.
    """
    if not isinstance(value, Mapping):
        raise ValidationError(f"{name}: expected a mapping of {of}, got {value!r}")
    for key in value:
        if not isinstance(key, str):
            raise ValidationError(f"{name}: expected a mapping of {of}, got the key {key!r}")
    return value


def check_callable(name: str, value: object, form: str) -> None:
    """Raise ValidationError if an argument cannot be called.

    Args:
        name: The argument.
        value: Its value.
        form: The function that the message expects, such as `a function of one row`.
    """
    if not callable(value):
        raise ValidationError(f"{name}: expected {form}, got {value!r}")


def checked_items(name: str, value: object, kind: type | tuple[type, ...], of: str) -> Sequence[Any]:
    """Return an argument that is a list or tuple of values of one type.

    Args:
        name: The argument.
        value: Its value.
        kind: The type of the items.
        of: The items that the message expects, such as `updates of table metadata`.

    Raises:
        ValidationError: The value is no list or tuple, or an item has another type.
    """
    if not isinstance(value, list | tuple):
        raise ValidationError(f"{name}: expected a tuple of {of}, got {value!r}")
    for item in value:
        if not isinstance(item, kind):
            raise ValidationError(f"{name}: expected {of}, got {item!r}")
    return value


def integer_of(value: Any) -> int | None:
    """Return a whole number as an int, also one of NumPy; None for a boolean and for any other value."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None
