"""The options of writes: their names, their checks, and the table properties that they replace for one write.

Names are those of the Java runtime. An option that cannot be honoured is refused by its name.
"""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_mapping, checked_text
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.writer.commit import SNAPSHOT_PROPERTY
from icefloe.table.properties.definitions import DISTRIBUTION_MODE, TARGET_FILE_SIZE, WRITE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.properties.reading import TableProperty

MODES = ("append", "overwrite", "overwrite-partitions")
OVERWRITE_OPTIONS = ("overwrite-filter", "isolation-level", "validate-from-snapshot-id")
FLAGS = {
    "check-nullability": False,
    "check-ordering": False,
    "merge-schema": False,
    "fanout-enabled": False,
    "use-table-distribution-and-ordering": True,
    "case-sensitive": True,
}
"""Options that are true or false, with their defaults."""
_PROPERTY_OPTIONS: dict[str, TableProperty[Any]] = {
    "write-format": WRITE_FORMAT,
    "target-file-size-bytes": TARGET_FILE_SIZE,
    "distribution-mode": DISTRIBUTION_MODE,
}
_CODEC_OPTIONS = ("compression-codec", "compression-level", "compression-strategy")
FILE_OPTIONS = (*_PROPERTY_OPTIONS, *_CODEC_OPTIONS, "output-spec-id", "advisory-partition-size")
WRITE_OPTIONS = (*FLAGS, *FILE_OPTIONS, *OVERWRITE_OPTIONS, "branch")
_SPELLINGS = {"mergeschema": "merge-schema"}
REFUSED = {
    "delete-format": "the write makes no delete files; set table property write.delete.format.default for DELETE, UPDATE and MERGE",
    "target-delete-file-size-bytes": "the write makes no delete files; set table property write.delete.target-file-size-bytes",
    "delete-granularity": "the write makes no delete files; set table property write.delete.granularity",
    "rewritten-file-scan-task-set-id": "it belongs to procedures of the Java runtime; use Table.new_rewrite()",
    "handle-timestamp-without-timezone": "timestamp_ntz columns are timestamps without a zone; leave the option out",
    "overwrite-mode": "pass the mode overwrite or overwrite-partitions to write()",
}


def checked_options(mode: str, options: Mapping[str, str] | None) -> dict[str, str]:
    """Return write options with lower-case names, apart from the keys of snapshot properties.

    Raises:
        ValidationError: The mode or an option is unknown, an option has a value that is not accepted, or does not apply to the mode.
        FeatureUnsupportedError: The option is one of the Java runtime that icefloe does not have.
    """
    if mode not in MODES:
        raise ValidationError(f"write: unknown mode; expected {', '.join(MODES[:-1])} or {MODES[-1]}, got {mode!r}")
    given = {} if options is None else checked_mapping("options", options, "option names to values")
    checked = dict(_named(key, value) for key, value in given.items())
    check_names(checked)
    check_values(checked)
    if "overwrite-filter" in checked and mode != "overwrite":
        raise ValidationError(f"option overwrite-filter: expected mode overwrite, got mode {mode}")
    misplaced = [key for key in OVERWRITE_OPTIONS if key in checked and mode == "append"]
    if misplaced:
        raise ValidationError(
            f"option {misplaced[0]}: expected mode overwrite or overwrite-partitions, got mode append, which replaces no rows"
        )
    if mode == "overwrite-partitions" and "output-spec-id" in checked:
        raise ValidationError(
            "option output-spec-id: expected mode append or overwrite, got mode overwrite-partitions, which replaces partitions of the "
            "table's own spec"
        )
    return checked


def check_names(options: Mapping[str, str]) -> None:
    """Check that every option is one of writes."""
    for key in options:
        if key in REFUSED:
            raise refused(key)
        if key not in WRITE_OPTIONS and not key.startswith(SNAPSHOT_PROPERTY):
            raise ValidationError(
                f"write: unknown option; expected {', '.join(WRITE_OPTIONS)} or {SNAPSHOT_PROPERTY}<key>, got {key!r}"
            )


def check_values(options: Mapping[str, str]) -> None:
    """Check the values of flags, of numbers and of options that replace table properties."""
    for name in FLAGS:
        flag(options, name)
    for name in ("output-spec-id", "advisory-partition-size"):
        number(options, name)
    for name, definition in _PROPERTY_OPTIONS.items():
        if name in options:
            definition.parse(options[name], f"option {name}")


def flag(options: Mapping[str, str], name: str) -> bool:
    """Return the value of an option that is true or false.

    Raises:
        ValidationError: The option has another value.
    """
    text = options.get(name)
    if text is None:
        return FLAGS[name]
    if text.lower() not in ("true", "false"):
        raise ValidationError(f"option {name}: expected true or false, got {text!r}")
    return text.lower() == "true"


def number(options: Mapping[str, str], name: str) -> int | None:
    """Return the value of an option that is a whole number; None if the option is not set.

    Raises:
        ValidationError: The option has another value.
    """
    text = options.get(name)
    if text is not None and not (text.isascii() and text.isdecimal()):
        raise ValidationError(f"option {name}: expected a whole number, got {text!r}")
    return None if text is None else int(text)


def with_options(properties: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """Return table properties with the values that options replace for one write.

    Args:
        properties: Table properties.
        options: Checked options.
    """
    merged = dict(properties)
    for name, definition in _PROPERTY_OPTIONS.items():
        if name in options:
            merged[definition.name] = options[name]
    file_format = WRITE_FORMAT.of(merged)
    for name in _CODEC_OPTIONS:
        if name in options:
            # A level of the table belongs to the codec of the table.
            if name == "compression-codec" and "compression-level" not in options:
                merged.pop(f"write.{file_format}.compression-level", None)
            merged[f"write.{file_format}.{name}"] = options[name]
    return merged


def refused(key: str) -> FeatureUnsupportedError:
    """Return the error for an option of the Java runtime that icefloe does not have."""
    return FeatureUnsupportedError(
        f"option {key}: not supported; expected a write without it, got {key}: {REFUSED[key]}"
    )


def spelled(name: str) -> str:
    """Return the name of an option in lower case; the Java runtime has two spellings of some."""
    return _SPELLINGS.get(name, name)


def option_text(name: str, value: object) -> str:
    """Return the value of an option or property as text: as in Spark, True is ``true``, and numbers are accepted.

    Raises:
        ValidationError: The value is no text, number or boolean.
    """
    if not isinstance(value, str | Number):
        raise ValidationError(
            f"{name}: expected text, a number, True or False, got {value!r}: leave it out for the default"
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(key: str, value: object) -> tuple[str, str]:
    name = key.lower()
    text = checked_text("option branch", value) if name == "branch" else option_text(f"option {key}", value)
    if name.startswith(SNAPSHOT_PROPERTY):
        return SNAPSHOT_PROPERTY + key[len(SNAPSHOT_PROPERTY) :], text
    return spelled(name), text
