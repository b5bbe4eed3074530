"""Functions of strings with the results of Spark."""

from __future__ import annotations

import functools
import re

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError

_WILDCARDS = {"%": ".*", "_": "."}
_LIKE_PART = re.compile(r"\\?.", re.DOTALL)


def concatenated(*parts: pa.Array) -> pa.Array:
    """Return texts or bytes joined row by row; null where a part is null."""
    separator = "" if parts[0].type == pa.string() else b""
    return pc.binary_join_element_wise(*parts, separator, null_handling="emit_null")


def upper(values: pa.Array) -> pa.Array:
    """Return texts in upper case; a letter may become several, as the German sharp s does."""
    return _with_special(pc.utf8_upper(values), values, _special_upper(), str.upper)


def lower(values: pa.Array) -> pa.Array:
    """Return texts in lower case."""
    return _with_special(pc.utf8_lower(values), values, "[\u0130\u03a3]", str.lower)


def trimmed(values: pa.Array) -> pa.Array:
    """Return texts without spaces at both ends; tabs and other white space are kept, as in Spark."""
    return pc.utf8_trim(values, characters=" ")


def left_trimmed(values: pa.Array) -> pa.Array:
    """Return texts without spaces at their beginning."""
    return pc.utf8_ltrim(values, characters=" ")


def right_trimmed(values: pa.Array) -> pa.Array:
    """Return texts without spaces at their end."""
    return pc.utf8_rtrim(values, characters=" ")


def length(values: pa.Array) -> pa.Array:
    """Return the number of characters of texts, or of bytes."""
    return pc.binary_length(values) if values.type == pa.binary() else pc.utf8_length(values)


def substring(values: pa.Array, position: int, count: int | None) -> pa.Array:
    """Return the characters of texts from a position.

    Args:
        values: Texts.
        position: The first character, from 1; 0 means 1, and a negative number counts from the end of the text.
        count: Number of characters, also of those before the beginning of a text; None for all.

    >>> substring(pa.array(["icefloe", "ab"]), -3, 2).to_pylist()
    ['lo', 'a']
    """
    if count is not None and count <= 0:
        return pc.utf8_slice_codeunits(values, 0, 0)
    start = position - 1 if position > 0 else position
    stop = None if count is None else start + count
    # The end of a slice is counted from the end of the text where it is negative: 0 stands for the end itself.
    return pc.utf8_slice_codeunits(values, start, None if start < 0 and stop is not None and stop >= 0 else stop)


def replaced(values: pa.Array, search: str, replacement: str) -> pa.Array:
    """Return texts with each occurrence of a text replaced; an empty text occurs nowhere."""
    return pc.replace_substring(values, search, replacement) if search else values


def starts_with(values: pa.Array, prefix: str | bytes) -> pa.Array:
    """Return whether values begin with a prefix."""
    return pc.starts_with(values, prefix)


def ends_with(values: pa.Array, suffix: str) -> pa.Array:
    """Return whether texts end with a suffix."""
    return pc.ends_with(values, suffix)


def contains(values: pa.Array, part: str) -> pa.Array:
    """Return whether texts contain a text; each one contains the empty text."""
    return pc.match_substring(values, part)


def like(values: pa.Array, pattern: str) -> pa.Array:
    """Return whether texts match a LIKE pattern, whose escape character is the backslash."""
    if "\\" not in pattern:
        return pc.match_like(values, pattern)
    # Arrow takes an escaped backslash beside a wildcard for two characters.
    parts = (_WILDCARDS.get(one) or re.escape(one[-1]) for one in _LIKE_PART.findall(pattern))
    return pc.match_substring_regex(values, f"(?s)^{''.join(parts)}$")


def check_pattern(pattern: str) -> None:
    """Check a LIKE pattern.

    Raises:
        ValidationError: A backslash precedes neither `%` nor `_` nor a backslash.
    """
    if re.sub(r"\\[%_\\]", "", pattern).count("\\") > 0:
        raise ValidationError(f"`like`: expected a backslash in front of %, _ or a backslash, got {pattern!r}")


@functools.cache
def _special_upper() -> str:
    """Return a pattern of the characters whose upper case has several characters."""
    found = [chr(code) for code in range(0x80, 0x1_0000) if len(chr(code).upper()) > 1]
    return f"[{''.join(found)}]"


def _with_special(changed: pa.Array, values: pa.Array, pattern: str, function: object) -> pa.Array:
    """Replace the results of texts with characters that Arrow maps to one character and Unicode to several."""
    special = pc.fill_null(pc.match_substring_regex(values, pattern), False)
    if not pc.any(special).as_py():
        return changed
    assert callable(function)
    mapped = pa.array([function(text) for text in values.filter(special).to_pylist()], pa.string())
    return pc.replace_with_mask(changed, special, mapped)
