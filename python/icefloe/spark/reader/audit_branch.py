"""The branch that a session's setting ``spark.wap.branch`` makes the default of reads and writes, for an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark import TaskContext

from icefloe.table.properties.definitions import WAP_ENABLED

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata

BRANCH = "spark.wap.branch"


def audit_branch(spark: Any, metadata: TableMetadata) -> str | None:
    """Return the branch that reads without a version read; None for main.

    Args:
        spark: Session.
        metadata: The table. Without ``write.wap.enabled=true``, or while it has no such branch, main is read.
    """
    if not WAP_ENABLED.of(metadata.properties):
        return None
    branch: str | None = spark.conf.get(BRANCH, None)
    return branch if branch is not None and branch in metadata.refs else None


def audit_branch_of_task() -> str | None:
    """Return the setting of the session that runs this task; None outside of a task.

    Spark hands the session's settings to tasks as local properties, and to no other process of a data source.
    """
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(BRANCH)
