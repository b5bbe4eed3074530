"""Checks of table properties: values that nothing can read, and properties that contradict each other or the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import bytes_text
from icefloe.table.properties.definitions import (
    COLUMN_PREFIXES,
    COMMIT_MAX_WAIT,
    COMMIT_MIN_WAIT,
    DATA_PATH,
    GC_ENABLED,
    GROUPS,
    ROW_LEVEL_MODES,
    SPLIT_SIZE,
    TARGET_FILE_SIZE,
)
from icefloe.table.properties.file_formats import PARQUET
from icefloe.table.properties.maintenance import MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.table.doctor.facts import TableFacts
    from icefloe.table.properties.reading import TableProperty

ROW_GROUP_SIZE = next(one for one in PARQUET if one.name.endswith("row-group-size-bytes"))
DEPRECATED = {
    "write.folder-storage.path": DATA_PATH.name,
    "write.object-storage.path": DATA_PATH.name,
    "write.manifest-lists.enabled": None,
}
"""Properties that the specification or the reference dropped, and the property to set instead."""


def check_properties(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on table properties."""
    yield from _unreadable(facts)
    yield from _contradictions(facts)
    yield from _missing_columns(facts)
    yield from _deprecated(facts)


def _unreadable(facts: TableFacts) -> Iterator[Finding]:
    properties = facts.metadata.properties
    for definition in (one for group in GROUPS.values() for one in group):
        error = _error(definition, properties)
        if error is not None:
            name = definition.name
            yield Finding(
                "unreadable-property",
                Severity.ERROR,
                f"{error[:1].upper()}{error[1:]}. Operations that read it fail.",
                {"property": name, "value": properties.get(name)},
                facts.command("properties unset", name) if name in properties else None,
            )


def _error(definition: TableProperty[Any], properties: Mapping[str, str]) -> str | None:
    try:
        definition.check(properties)
    except ValidationError as error:
        return str(error)
    return None


def _contradictions(facts: TableFacts) -> Iterator[Finding]:
    properties = facts.metadata.properties
    least, most = facts.threshold(COMMIT_MIN_WAIT), facts.threshold(COMMIT_MAX_WAIT)
    if least > most:
        sentence = f"The shortest wait between commit retries ({least:,} ms) is longer than the longest ({most:,} ms)."
        yield _fight(facts, sentence, COMMIT_MIN_WAIT.name, COMMIT_MAX_WAIT.name)
    target, row_group = facts.threshold(TARGET_FILE_SIZE), facts.threshold(ROW_GROUP_SIZE)
    if ROW_GROUP_SIZE.name in properties and row_group > target:
        sentence = f"Row groups ({bytes_text(row_group)}) are larger than files ({bytes_text(target)}): the file size decides alone."
        yield _fight(facts, sentence, ROW_GROUP_SIZE.name, TARGET_FILE_SIZE.name)
    split = facts.threshold(SPLIT_SIZE)
    if SPLIT_SIZE.name in properties and split < 1024 * 1024:
        sentence = f"Scans are cut into tasks of {bytes_text(split)}; a task of less than 1 MiB costs more to start than to read."
        yield _fight(facts, sentence, SPLIT_SIZE.name)
    if facts.threshold(GC_ENABLED) is False and {MAX_SNAPSHOT_AGE.name, MIN_SNAPSHOTS.name} & properties.keys():
        sentence = "The table has a retention of snapshots, and gc.enabled=false forbids to delete their files."
        yield _fight(facts, sentence, GC_ENABLED.name, MAX_SNAPSHOT_AGE.name, MIN_SNAPSHOTS.name)
    on_read = [one.name for one in ROW_LEVEL_MODES.values() if facts.threshold(one) == "merge-on-read"]
    if facts.metadata.format_version == 1 and on_read:
        sentence = "Row-level changes are merge-on-read, and format version 1 has no delete files."
        yield _fight(facts, sentence, *on_read)


def _fight(facts: TableFacts, sentence: str, *names: str) -> Finding:
    values = {name: facts.metadata.properties[name] for name in names if name in facts.metadata.properties}
    command = facts.command("properties unset", *values) if values else None
    return Finding("contradicting-properties", Severity.WARNING, sentence, {"properties": values}, command)


def _missing_columns(facts: TableFacts) -> Iterator[Finding]:
    names = set(facts.metadata.schema().column_names)
    for key in sorted(facts.metadata.properties):
        prefix = next((one for one in COLUMN_PREFIXES if key.startswith(one)), None)
        if prefix is not None and key.removeprefix(prefix) not in names:
            column = key.removeprefix(prefix)
            yield Finding(
                "property-of-missing-column",
                Severity.WARNING,
                f"Property {key} is of column {column!r}, which the table does not have.",
                {"property": key, "column": column},
                facts.command("properties unset", key),
            )


def _deprecated(facts: TableFacts) -> Iterator[Finding]:
    for key, successor in DEPRECATED.items():
        if key in facts.metadata.properties:
            instead = "nothing reads it" if successor is None else f"{successor} replaced it"
            yield Finding(
                "deprecated-property",
                Severity.INFO,
                f"Property {key} is deprecated; {instead}.",
                {"property": key, "value": facts.metadata.properties[key]},
                facts.command("properties unset", key),
            )
