"""The procedures by the names of the Java runtime."""

from icefloe.spark.maintenance.changelog_view import CHANGELOG_VIEW
from icefloe.spark.maintenance.directories import DIRECTORIES
from icefloe.spark.maintenance.existing_files import EXISTING_FILES
from icefloe.spark.maintenance.removal import REMOVAL
from icefloe.spark.maintenance.rewriting import REWRITING
from icefloe.spark.maintenance.snapshot_changes import SNAPSHOT_CHANGES
from icefloe.spark.maintenance.statistics import STATISTICS
from icefloe.spark.maintenance.table_paths import TABLE_PATHS

PROCEDURES = dict(
    sorted(
        {
            **CHANGELOG_VIEW,
            **DIRECTORIES,
            **EXISTING_FILES,
            **REMOVAL,
            **REWRITING,
            **SNAPSHOT_CHANGES,
            **STATISTICS,
            **TABLE_PATHS,
        }.items()
    )
)
"""Procedures by name."""
