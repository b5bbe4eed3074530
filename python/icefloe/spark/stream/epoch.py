"""Micro-batches that a table has, by the keys that the Java runtime writes into snapshot summaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import IcebergError, ValidationError
from icefloe.spark.reader.audit_branch import BRANCH
from icefloe.spark.writer.wap import ID, AuditSettings, audited_destination
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from icefloe.table import Table
    from icefloe.table.commit.change import Versions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate

QUERY_ID = "spark.sql.streaming.queryId"
EPOCH_ID = "spark.sql.streaming.epochId"
QUERY_ID_PROPERTY = "sql.streaming.queryId"
"""The local property of Spark's threads and tasks that has the query's id, which a restart from the checkpoint keeps."""


def epoch_branch(audit: AuditSettings, table: Table, branch: str | None) -> str:
    """Return the branch that a query commits its micro-batches to under the settings of its session.

    Args:
        audit: The session's settings for write, audit, publish.
        table: The table.
        branch: Branch that the caller gave; None for main.

    Raises:
        ValidationError: The session stages its snapshots, or has a branch for all writes and the caller gave one too.
    """
    destination = audited_destination(audit, table, branch, {})
    if destination.branch is None:
        # A repeated micro-batch is found among the ancestors of a branch, which a staged snapshot is not.
        raise ValidationError(
            f"stream: a staged micro-batch could be committed twice; expected a session without {ID}, got {ID}={audit.wap_id!r}: set "
            f"{BRANCH} to audit the rows of a stream"
        )
    return destination.branch


class EpochCommittedError(IcebergError):
    """The table has the micro-batch already."""


@dataclass(frozen=True)
class Epoch:
    """One micro-batch of a query, and the change of a transaction that fails when the branch has the micro-batch.

    The transaction checks it before each attempt, so that of two runs of a query one commits the micro-batch.

    Args:
        query_id: Id of the query.
        epoch_id: Number of the micro-batch.
        branch: Branch that the micro-batch is committed to.
    """

    query_id: str
    epoch_id: int
    branch: str

    def summary(self) -> dict[str, str]:
        """Return the keys of the summary of the micro-batch's snapshot."""
        return {QUERY_ID: self.query_id, EPOCH_ID: str(self.epoch_id)}

    def is_committed(self, metadata: TableMetadata) -> bool:
        """Return whether the newest snapshot of the query among the branch's ancestors is of this or a later micro-batch."""
        for snapshot in ancestors_of(head_of(metadata, self.branch), metadata):
            summary = snapshot.summary
            if summary is not None and summary[QUERY_ID] == self.query_id:
                return int(summary[EPOCH_ID] or -1) >= self.epoch_id
        return False

    def validate(self, versions: Versions) -> None:
        """Raise EpochCommittedError if the table has the micro-batch."""
        if self.is_committed(versions.newest):
            raise EpochCommittedError(f"query {self.query_id}: micro-batch {self.epoch_id} has been committed")

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return no update: the summary of another change of the transaction records the micro-batch."""
        return (), ()

    def committed(self, table: TableMetadata) -> None:
        """Do nothing: no file was written."""

    def abandoned(self) -> None:
        """Do nothing: no file was written."""
