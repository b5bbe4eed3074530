"""The steps of a maintenance policy: a verb of each, with the thresholds of the table's properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.deletes.dangling_deletes import RemoveDanglingDeletes
from icefloe.table.maintenance.deletes.position_deletes import RewritePositionDeletes
from icefloe.table.maintenance.expiry.expire_snapshots import ExpireSnapshots
from icefloe.table.maintenance.orphans.remove_orphan_files import RemoveOrphanFiles
from icefloe.table.maintenance.rewrite.rewrite_data_files import RewriteDataFiles
from icefloe.table.maintenance.rewrite_manifests import RewriteManifestsBuilder, count_after_rewrite
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE, TARGET_FILE_SIZE
from icefloe.table.properties.maintenance import (
    MAINTENANCE,
    MAX_DELETED_PERCENT,
    MAX_DELETES_PER_FILE,
    MIN_DELETE_FILES,
    MIN_MANIFESTS,
    MIN_SMALL_FILES,
    ORPHAN_AGE,
    SMALL_FILE_PERCENT,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.maintenance.plan import Plan, Result
    from icefloe.table.properties.reading import TableProperty
    from icefloe.typedef import Properties


@dataclass(frozen=True)
class PolicyStep:
    """A step of a policy.

    Attributes:
        name: Its name in `maintenance.steps`.
        builder: Returns the builder of its verb, with the thresholds of a table.
        is_due: Whether the step is to be planned for a table at all.
        after: The step whose changes alone make this step due; None for a step that stands by itself.
    """

    name: str
    builder: Callable[[Any], Any]
    is_due: Callable[[Any], bool] = lambda _: True
    after: str | None = None

    def plan(self, table: Any) -> Plan | None:
        """Return the plan of the step for a table as it is now, None if it is not due."""
        if not self.is_due(table):
            return None
        planned: Plan = self.builder(table).plan()
        return planned

    def execute(self, table: Any, plan: Plan) -> Result:
        """Make exactly the changes of a plan."""
        done: Result = self.builder(table).execute(plan)
        return done


def compaction_options(value_of: Callable[[TableProperty[Any]], Any], target: int | None = None) -> dict[str, Any]:
    """Return the options of `rewrite_data_files` that the thresholds of a table ask for.

    Args:
        value_of: Returns the value of a table property.
        target: Size of new files in bytes; None for the table's.
    """
    size = value_of(TARGET_FILE_SIZE) if target is None else target
    return {
        "target_file_size_bytes": target,
        # 100 percent would be the target itself, and a file of the target size is not small.
        "min_file_size_bytes": min(size * value_of(SMALL_FILE_PERCENT) // 100, size - 1),
        "min_input_files": value_of(MIN_SMALL_FILES),
        "delete_file_threshold": value_of(MAX_DELETES_PER_FILE),
        "delete_ratio_threshold": value_of(MAX_DELETED_PERCENT) / 100,
    }


def _compact(table: Any) -> RewriteDataFiles:
    properties = table.metadata.properties
    return RewriteDataFiles(table).options(**compaction_options(lambda one: one.of(properties)))


def _rewrite_deletes(table: Any) -> RewritePositionDeletes:
    return RewritePositionDeletes(table).options(min_input_files=MIN_DELETE_FILES.of(table.metadata.properties))


def _has_many_manifests(table: Any) -> bool:
    metadata = table.metadata
    snapshot = metadata.current_snapshot()
    if snapshot is None:
        return False
    manifests = snapshot.manifest_rows(table.io)
    after = count_after_rewrite(metadata, manifests, MANIFEST_TARGET_SIZE.of(metadata.properties))
    return bool(manifests.num_rows >= max(MIN_MANIFESTS.of(metadata.properties), 2 * after))


def _orphans(table: Any) -> RemoveOrphanFiles:
    return RemoveOrphanFiles(table).older_than(f"{ORPHAN_AGE.of(table.metadata.properties)}ms")


POLICY_STEPS: tuple[PolicyStep, ...] = (
    PolicyStep("compact", _compact),
    PolicyStep("dangling-deletes", RemoveDanglingDeletes),
    PolicyStep("rewrite-deletes", _rewrite_deletes),
    # Delete files of one data file each show which data files have lost too many rows; files of several data files do not.
    PolicyStep("compact", _compact, after="rewrite-deletes"),
    PolicyStep("rewrite-manifests", RewriteManifestsBuilder, _has_many_manifests),
    PolicyStep("expire", ExpireSnapshots),
    PolicyStep("orphans", _orphans),
)
"""The steps, in the order in which they run."""


def policy_rules(properties: Properties) -> dict[str, Any]:
    """Return the values of the table properties that a policy reads, by name."""
    return {one.name: one.of(properties) for one in (*MAINTENANCE, TARGET_FILE_SIZE)}
