"""The table properties of maintenance: thresholds of the diagnosis and of the maintenance policy."""

from __future__ import annotations

from typing import Any

from icefloe.table.properties.names import TableProperties
from icefloe.table.properties.reading import Flag, TableProperty, Text, WholeNumber

_P = TableProperties
STEPS = ("compact", "dangling-deletes", "rewrite-deletes", "rewrite-manifests", "expire", "orphans")
"""The steps of a maintenance policy, in the order in which they run."""


def step_names(text: str) -> tuple[str, ...]:
    """Return the names in a list that is separated by commas."""
    return tuple(name for part in text.split(",") if (name := part.strip().lower()) != "")


def _is_list_of_steps(text: str) -> bool:
    return set(step_names(text)) <= set(STEPS)


MAINTENANCE_ENABLED = TableProperty(
    "maintenance.enabled", Flag(), True, "Whether the maintenance policy may change the table."
)
MAINTENANCE_STEPS = TableProperty(
    "maintenance.steps",
    Text(f"a comma-separated list of {', '.join(STEPS)}", _is_list_of_steps),
    ",".join(STEPS),
    "Steps of the maintenance policy. They run in the order of the default, whatever the order of the list.",
)
SMALL_FILE_PERCENT = TableProperty(
    "maintenance.compact.small-file-percent",
    WholeNumber(1, 100, "percent"),
    75,
    "A data file below this share of `write.target-file-size-bytes` is small.",
)
MIN_SMALL_FILES = TableProperty(
    "maintenance.compact.min-small-files",
    WholeNumber(2, unit="files"),
    5,
    "Small files of one partition from which they are compacted.",
)
MAX_DELETES_PER_FILE = TableProperty(
    "maintenance.compact.max-deletes-per-file",
    WholeNumber(1, unit="delete files"),
    10,
    "Delete files of one data file from which the data file is rewritten without its deleted rows.",
)
MAX_DELETED_PERCENT = TableProperty(
    "maintenance.compact.max-deleted-percent",
    WholeNumber(1, 100, "percent"),
    30,
    "Share of rows deleted by position at which a data file is rewritten.",
)
MIN_DELETE_FILES = TableProperty(
    "maintenance.deletes.min-files",
    WholeNumber(2, unit="files"),
    5,
    "Position delete files of one partition from which they are merged.",
)
MIN_MANIFESTS = TableProperty(
    "maintenance.manifests.min-count",
    WholeNumber(2, unit="manifests"),
    20,
    "Manifests from which they are clustered, if half of them or fewer would hold the same entries.",
)
MAX_SNAPSHOT_AGE = TableProperty(
    _P.MAX_SNAPSHOT_AGE_MS,
    WholeNumber(1, unit="milliseconds"),
    _P.MAX_SNAPSHOT_AGE_MS_DEFAULT,
    "Age at which snapshots of a branch expire.",
)
MIN_SNAPSHOTS = TableProperty(
    _P.MIN_SNAPSHOTS_TO_KEEP,
    WholeNumber(1, unit="snapshots"),
    _P.MIN_SNAPSHOTS_TO_KEEP_DEFAULT,
    "Snapshots of a branch that expiry keeps, whatever their age.",
)
MAX_REF_AGE = TableProperty(
    "history.expire.max-ref-age-ms",
    WholeNumber(1, unit="milliseconds"),
    None,
    "Age at which branches and tags other than main expire; they never do if unset.",
)
ORPHAN_AGE = TableProperty(
    "maintenance.orphans.older-than-ms",
    WholeNumber(86_400_000, unit="milliseconds"),
    259_200_000,
    "Age at which the maintenance policy deletes files that no snapshot refers to.",
)
MAINTENANCE: tuple[TableProperty[Any], ...] = (
    MAINTENANCE_ENABLED,
    MAINTENANCE_STEPS,
    SMALL_FILE_PERCENT,
    MIN_SMALL_FILES,
    MAX_DELETES_PER_FILE,
    MAX_DELETED_PERCENT,
    MIN_DELETE_FILES,
    MIN_MANIFESTS,
    MAX_SNAPSHOT_AGE,
    MIN_SNAPSHOTS,
    MAX_REF_AGE,
    ORPHAN_AGE,
)
"""All definitions, in the order of the documentation."""
