"""Values of the properties of Hive catalogs and their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.typedef import Properties


def flag(properties: Properties, key: str, *, default: bool) -> bool:
    """Return the value of a property that is true or false.

    Raises:
        ValidationError: The value is another one.
    """
    text = str(properties.get(key, default)).lower()
    if text not in ("true", "false"):
        raise ValidationError(f"property {key!r}: expected true or false, got {text!r}")
    return text == "true"


def seconds(properties: Properties, key: str, default: float) -> float:
    """Return the value of a property in seconds, such as `600` or `600s`.

    Raises:
        ValidationError: The value is not a positive number.
    """
    text = properties.get(key)
    try:
        value = float(text.removesuffix("s")) if text is not None else default
    except ValueError:
        value = 0
    if value <= 0:
        raise ValidationError(f"catalog property {key!r}: expected a positive number of seconds, got {text!r}")
    return value
