"""Whether a call that PyIceberg takes is a call that icefloe takes: names, order, kinds and defaults of parameters."""

from __future__ import annotations

import enum
import inspect
from inspect import Parameter
from typing import Any

# A parameter that is not meant to be given by name, and the value that pydantic keeps.
NAMELESS = frozenset({"_", "root"})
BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def signature_of(function: Any) -> dict[str, Parameter] | None:
    """Return the parameters of a callable, without `self`; None if it has no readable signature."""
    try:
        found = dict(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        return None
    found.pop("self", None)
    return found


def differences(ours: Any, theirs: Any) -> list[str]:
    """Return one text for each call of PyIceberg's that icefloe does not take, or takes to mean something else."""
    mine, wanted = signature_of(ours), signature_of(theirs)
    if mine is None or wanted is None:
        return []
    found: list[str] = []
    any_name = any(p.kind is Parameter.VAR_KEYWORD for p in mine.values())
    any_count = any(p.kind is Parameter.VAR_POSITIONAL for p in mine.values())
    for p in wanted.values():
        if p.kind is Parameter.VAR_POSITIONAL:
            found += [] if any_count else [f"no *{p.name}"]
        elif p.kind is Parameter.VAR_KEYWORD:
            found += [] if any_name else [f"no **{p.name}"]
        elif p.name not in mine:
            by_rest = any_name and p.kind in BY_NAME
            found += [] if by_rest or p.name in NAMELESS or p.name.startswith("_") else [f"no parameter {p.name}"]
        else:
            found += of_parameter(mine[p.name], p)
    found += positions(mine, wanted, any_count=any_count)
    found += [
        f"needs {p.name}"
        for p in mine.values()
        if p.default is p.empty
        and p.kind in {*BY_POSITION, *BY_NAME}
        and p.name not in wanted
        and not NAMELESS & wanted.keys()
    ]
    return found


def of_parameter(mine: Parameter, wanted: Parameter) -> list[str]:
    """Return what differs between two parameters of one name."""
    found = []
    if wanted.kind in BY_NAME and mine.kind not in BY_NAME:
        found.append(f"{wanted.name} cannot be given by name")
    if wanted.default is not wanted.empty:
        if mine.default is mine.empty:
            found.append(f"{wanted.name} has no default")
        elif shown(mine.default) != shown(wanted.default):
            found.append(f"{wanted.name} is {shown(mine.default)} by default, there {shown(wanted.default)}")
    return found


def positions(mine: dict[str, Parameter], wanted: dict[str, Parameter], *, any_count: bool) -> list[str]:
    """Return what differs in the order of parameters that are given without a name."""
    ours = [p.name for p in mine.values() if p.kind in BY_POSITION]
    theirs = [p.name for p in wanted.values() if p.kind in BY_POSITION]
    if any_count and not ours:
        return []
    for position, name in enumerate(theirs):
        if name in mine and (position >= len(ours) or ours[position] != name):
            return [f"{name} is not parameter {position + 1}"]
    return []


def shown(default: Any) -> str:
    """Return a default as a reader of the signature sees it, whichever package it is of."""
    if isinstance(default, enum.Enum):
        return str(default.value)
    if default.__class__.__name__ in {"FrozenDict", "mappingproxy"} and not default:
        return "{}"
    text = repr(default)
    return text.partition(" object at ")[0].rpartition(".")[2] if " object at " in text else text
