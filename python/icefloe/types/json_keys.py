"""The keys of a type's JSON object: which must be there, and of what type their values are. Spec: Appendix C."""

from __future__ import annotations

from typing import Any

from icefloe.exceptions import ValidationError


def check_kind(data: dict[str, Any], kind: str) -> None:
    """Refuse keywords that no JSON object of this kind has."""
    if data.pop("type", kind) != kind:
        raise ValidationError(f"`type` of a {kind} must be '{kind}'")
    if data:
        raise ValidationError(f"unknown properties of a {kind}: {', '.join(sorted(data))}")


def integer(name: str, data: dict[str, Any], given: int | None) -> int:
    """Return an id given by its Python name or by its JSON key."""
    found = data.pop(name.replace("_", "-"), given)
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValidationError(f"`{name}` must be an integer, got {found!r}")
    return found


def required_key(value: dict[str, Any], key: str, kind: type, owner: str) -> Any:
    """Return the value of a key that a JSON object must have; ValidationError if it is missing or of another type."""
    found = value.get(key)
    if found is None:
        raise ValidationError(
            f"`{key}` of a {owner} is missing" if owner in _KINDS else f"`{key}` of {owner} is missing"
        )
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise ValidationError(f"`{key}` of {owner} must be {_NAMES[kind]}, found {found!r}")
    if isinstance(found, int) and not -(2**31) <= found < 2**31:
        raise ValidationError(f"`{key}` of {owner} must be an integer of 32 bits, found {found!r}")
    return found


_KINDS = {"type", "struct", "list", "map", "field"}
_NAMES: dict[type, str] = {str: "text", int: "an integer", bool: "true or false", list: "a list"}
