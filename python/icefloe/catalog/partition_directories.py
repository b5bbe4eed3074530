"""Partition columns of `name=value` directories, as Hive and Spark write them."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import unquote

from icefloe.exceptions import ValidationError
from icefloe.types import DateType, IntegerType, LongType, PrimitiveType, StringType

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_INT_LIMIT = 2**31


def partition_directories(locations: list[str], source: str, verb: str) -> tuple[list[str], list[set[str]]]:
    """Return the names of `name=value` directories, outermost first, and the values of each.

    Raises:
        ValidationError: Files are in directories of different names or depths.
    """
    names: list[str] | None = None
    values: list[set[str]] = []
    for directory in dict.fromkeys(location[len(source) + 1 :].rpartition("/")[0] for location in locations):
        pairs = [part.split("=", 1) for part in directory.split("/") if "=" in part]
        own = [unquote(name) for name, _ in pairs]
        if names is None:
            names, values = own, [set() for _ in own]
        if own != names:
            raise ValidationError(
                f"{verb}: {source}/{directory}: expected the partition directories {'/'.join(names) or '(none)'} as in the other files, got "
                f"{'/'.join(own) or '(none)'}"
            )
        for found, (_, value) in zip(values, pairs, strict=True):
            found.add(unquote(value))
    return names or [], values


def files_within(locations: list[str], source: str, directories: frozenset[str]) -> list[str]:
    """Return the files whose directory is one of some partition directories, not deeper ones.

    Args:
        locations: Files below the source.
        source: The directory of all partitions, as the locations spell it.
        directories: Names of partition directories below the source, such as `day=2026-11-01/kind=a`.
    """
    below = len(source.rstrip("/")) + 1
    return [one for one in locations if one[below:].rpartition("/")[0] in directories]


def inferred_type(values: set[str]) -> PrimitiveType:
    """Return the type of partition values: int, long, date or else string."""
    known = values - {_HIVE_NULL}
    if known and all(_WHOLE_NUMBER.fullmatch(value) for value in known):
        fits = all(-_INT_LIMIT <= int(value) < _INT_LIMIT for value in known)
        return IntegerType() if fits else LongType()
    return DateType() if known and all(_is_date(value) for value in known) else StringType()


def _is_date(value: str) -> bool:
    try:
        return len(value) == len("2026-01-01") and date.fromisoformat(value) is not None
    except ValueError:
        return False
