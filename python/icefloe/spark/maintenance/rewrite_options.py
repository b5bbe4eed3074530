"""Options and filters of procedures that rewrite files, in the spelling of the Java runtime."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of
from icefloe.table.maintenance.groups.options import RewriteOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.spark.lexer import Word

_DEFAULTS = {field.name: field.default for field in fields(RewriteOptions) if field.default is not MISSING}
_RATIO = "delete_ratio_threshold"
_TEXT = "rewrite_job_order"
# The Java runtime estimates new files by these. They have no effect here: new files are closed at their real size, and curves are over
# ranks of values.
_OF_SORT = ("compression_factor", "shuffle_partitions_per_file")
_OF_ZORDER = ("max_output_size", "var_length_contribution")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_SUFFIXED = re.compile(r"(\d+)(?:[LSYFD]|BD)", re.ASCII | re.IGNORECASE)


def rewrite_options(procedure: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return options of the Java runtime, such as `partial-progress.enabled`, by the names and types of `RewriteOptions`.

    Raises:
        ValidationError: An option does not exist or is given twice, or its text is not of its type.
    """
    found: dict[str, Any] = {}
    for key, text in options.items():
        name = _name(key)
        default = _DEFAULTS.get(name, MISSING)
        if default is MISSING:
            known = ", ".join(sorted(known.replace("_", "-") for known in _DEFAULTS))
            raise ValidationError(f"{procedure}: no option {key!r}; expected {known}")
        if name in found:
            raise ValidationError(f"{procedure}: option {key!r} is repeated in another spelling; expected one value")
        found[name] = _value(procedure, key, name, text)
    return found


def without_estimates(procedure: str, options: Mapping[str, str], *, sorts: bool, zorders: bool) -> dict[str, str]:
    """Check the options with which the Java runtime estimates sizes, and return the others; estimates have no effect here.

    Args:
        procedure: The procedure, for errors.
        options: Options by name.
        sorts: Whether rows are sorted or clustered; only then the estimates of a sort are options.
        zorders: Whether rows are clustered along a curve; only then the widths of its keys are options.

    Raises:
        ValidationError: A value is no number above 0.
    """
    accepted = (*(_OF_SORT if sorts else ()), *(_OF_ZORDER if zorders else ()))
    for key, text in options.items():
        if _name(key) in accepted:
            number = _value(procedure, key, _RATIO if _name(key) == _OF_SORT[0] else _name(key), text)
            if not number > 0:
                raise ValidationError(f"{procedure}: {key}: expected a number above 0, got {text!r}")
    return {key: text for key, text in options.items() if _name(key) not in accepted}


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
        if name == _RATIO:
            return float(text)
        if _WHOLE.fullmatch(text.strip()):
            return int(text)
    except ValueError:
        pass
    raise ValidationError(f"{procedure}: {key}: expected a number, got {text!r}")
