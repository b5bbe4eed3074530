"""Write, audit, publish: snapshots that a session stages for an audit instead of committing them to a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.audit_branch import BRANCH
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.properties.definitions import WAP_ENABLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table import Table

ID = "spark.wap.id"
ID_SUMMARY_KEY = "wap.id"


@dataclass(frozen=True, kw_only=True)
class SnapshotDestination:
    """The destination of a snapshot.

    Args:
        branch: Branch to commit to; None stages the snapshot.
        snapshot_properties: Additional keys of the snapshot's summary.
    """

    branch: str | None
    snapshot_properties: dict[str, str]


def snapshot_destination(
    spark: Any, table: Table, branch: str | None, snapshot_properties: Mapping[str, str]
) -> SnapshotDestination:
    """Return where a session commits its next snapshot of a table.

    Where the table has ``write.wap.enabled=true``, the snapshot is staged if the session has ``spark.wap.id``, and goes to the branch
    ``spark.wap.branch`` if the session has that.

    Args:
        spark: Session; None for a process without one.
        table: The table.
        branch: Branch that the caller gave; None for main.
        snapshot_properties: Additional keys of the snapshot's summary.

    Raises:
        ValidationError: The session has both settings, or it has one of them and the caller gave a branch.
    """
    audit = AuditSettings() if spark is None else AuditSettings.of(spark)
    return audited_destination(audit, table, branch, snapshot_properties)


def audited_destination(
    audit: AuditSettings, table: Table, branch: str | None, snapshot_properties: Mapping[str, str]
) -> SnapshotDestination:
    """Return where a snapshot is committed under a session's settings; see :func:`snapshot_destination`."""
    properties = dict(snapshot_properties)
    if WAP_ENABLED.of(table.properties):
        audit.check(branch)
        if audit.wap_id is not None:
            return SnapshotDestination(branch=None, snapshot_properties={**properties, ID_SUMMARY_KEY: audit.wap_id})
        branch = audit.wap_branch if branch is None else branch
    return SnapshotDestination(branch=MAIN if branch is None else branch, snapshot_properties=properties)


@dataclass(frozen=True)
class AuditSettings:
    """The settings of a session for write, audit, publish.

    Args:
        wap_id: ``spark.wap.id``.
        wap_branch: ``spark.wap.branch``.
    """

    wap_id: str | None = None
    wap_branch: str | None = None

    @staticmethod
    def of(spark: Any) -> AuditSettings:
        """Return the settings of a session."""
        return AuditSettings(spark.conf.get(ID, None), spark.conf.get(BRANCH, None))

    @staticmethod
    def of_task() -> AuditSettings:
        """Return the settings of the session that runs this task; none outside of a task.

        Spark hands the session's settings to tasks as local properties. Writers of data sources have no other access to them.
        """
        context = TaskContext.get()
        if context is None:
            return AuditSettings()
        return AuditSettings(context.getLocalProperty(ID), context.getLocalProperty(BRANCH))

    def check(self, branch: str | None) -> None:
        """Check that at most one of both settings and the caller's branch is given."""
        if self.wap_id is not None and self.wap_branch is not None:
            raise ValidationError(
                f"session: both {ID} and {BRANCH} are set; expected at most one, got {ID}={self.wap_id!r} and "
                f"{BRANCH}={self.wap_branch!r}: unset one of them"
            )
        if self.wap_branch is not None and branch is not None:
            raise ValidationError(
                f"session: a branch is set for all writes; expected {BRANCH} or a branch, got {BRANCH}={self.wap_branch!r} and "
                f"branch={branch!r}: unset {BRANCH}"
            )
        if self.wap_id is not None and branch is not None:
            raise ValidationError(
                f"session: a staged snapshot belongs to no branch; expected {ID} or a branch, got {ID}={self.wap_id!r} and "
                f"branch={branch!r}: unset {ID}"
            )
