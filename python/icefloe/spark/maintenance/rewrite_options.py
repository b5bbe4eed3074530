"""Options and filters of procedures that rewrite files, in the spelling of the Java runtime."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of
from icefloe.table.maintenance.groups.options import RewriteOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from icefloe.spark.lexer import Word

_DEFAULTS = {field.name: field.default for field in fields(RewriteOptions) if field.default is not MISSING}
_RATIO = "delete_ratio_threshold"
_TEXT = "rewrite_job_order"
_FACTOR = "compression_factor"
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_SUFFIXED = re.compile(r"(\d+)(?:[LSYFD]|BD)", re.ASCII | re.IGNORECASE)


def rewrite_options(procedure: str, options: Mapping[str, str], without: Collection[str] = ()) -> dict[str, Any]:
    """Return options of the Java runtime, such as `partial-progress.enabled`, by the names and types of `RewriteOptions`.

    Args:
        procedure: The procedure, for errors.
        options: Options by name.
        without: Options, by the names of `RewriteOptions`, that the procedure does not have.

    Raises:
        ValidationError: An option does not exist or is given twice, or its text is not of its type.
    """
    found: dict[str, Any] = {}
    for key, text in options.items():
        name = _name(key)
        default = _DEFAULTS.get(name, MISSING)
        if default is MISSING or name in without:
            known = ", ".join(sorted(known.replace("_", "-") for known in _DEFAULTS if known not in without))
            raise ValidationError(f"{procedure}: no option {key!r}; expected {known}")
        if name in found:
            raise ValidationError(f"{procedure}: option {key!r} is repeated in another spelling; expected one value")
        found[name] = _value(procedure, key, name, text)
    return found


def filter_text(condition: str) -> str:
    """Return a condition of Spark SQL as the text of a filter.

    Spark has texts in double quotes, comments, and suffixes of numbers.

    Examples:
        >>> filter_text('id > 3L AND name = "foo" -- all')
        "id > 3 AND name = 'foo'"
    """
    text, end = "", 0
    for word in words_of(condition):
        space = " " if text and word.start > end else ""
        text, end = text + space + _filter_word(word), word.end
    return text


def _filter_word(word: Word) -> str:
    if word.kind == "string":
        return "'" + word.text.replace("'", "''") + "'"
    if word.kind == "quoted":
        return "`" + word.text.replace("`", "``") + "`"
    if word.text == "<=>":
        return "="
    suffixed = _SUFFIXED.fullmatch(word.text)
    return word.text if suffixed is None else suffixed[1]


def _name(key: str) -> str:
    return key.lower().replace("-", "_").replace(".", "_")


def _value(procedure: str, key: str, name: str, text: str) -> Any:
    if name == _TEXT:
        return text.strip().lower().replace("_", "-")
    if isinstance(_DEFAULTS.get(name), bool) or name == "partial_progress_enabled":
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise ValidationError(f"{procedure}: {key}: expected true or false, got {text!r}")
    try:
        if name == _RATIO or (name == _FACTOR and float(text) > 0):
            return float(text)
        if name != _FACTOR and _WHOLE.fullmatch(text.strip()):
            return int(text)
    except ValueError:
        pass
    bound = " above 0" if name == _FACTOR else ""
    raise ValidationError(f"{procedure}: {key}: expected a number{bound}, got {text!r}")
