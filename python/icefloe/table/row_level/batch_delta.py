"""The commit of one batch of changes: once for each batch id, with deletes that reach every row of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.exceptions import ValidationException
from icefloe.table.commit.row_delta import RowDelta
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.snapshots import is_ancestor_of
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.commit.change import Versions
    from icefloe.table.metadata import TableMetadata

BATCH_ID = "icefloe.batch-id"
"""The key of a snapshot's summary that holds the batch id."""


class BatchAppliedError(ValidationException):
    """Another writer committed the batch."""


class BatchDelta(RowDelta):
    """The row delta of a batch.

    It conflicts with a commit of the same batch, and with a change of the table that lets rows of a key escape the deletes: another writer may
    have added a partition spec or dropped a key column since the deletes were written.

    Attributes:
        batch_id: The id of the batch; None for a batch without an id.
        keys: The names of the key columns by their field ids.
    """

    batch_id: str | None = None
    keys: Mapping[int, str] = EMPTY_DICT

    def validate(self, versions: Versions) -> None:  # noqa: D102 - described by the producer
        super().validate(versions)
        if self.batch_id is not None and has_batch(versions.newest, self._branch, self.batch_id):
            raise BatchAppliedError(f"apply_changes: another writer committed batch {self.batch_id!r}")
        if self._added_deletes:
            self._check_keys(versions.working)
            self._check_specs(versions.working)

    def _check_keys(self, working: TableMetadata) -> None:
        """Raise if a key column was dropped: rows written since have no key that the deletes could find."""
        names = {field_id: working.schema().find_column_name(field_id) for field_id in self.keys}
        dropped = next((field_id for field_id, name in names.items() if name is None), None)
        if dropped is not None:
            raise ValidationException(
                f"apply_changes: a concurrent commit dropped key column {self.keys[dropped]!r}; refresh the table and apply the batch by "
                "keys that the table has"
            )

    def _check_specs(self, working: TableMetadata) -> None:
        """Raise if the table has a partition spec whose data files the deletes do not apply to."""
        specs = working.specs()
        written = {
            spec_id for files in self._added_deletes for spec_id in pc.unique(files.column("spec_id")).to_pylist()
        }
        if any(spec_id in specs and specs[spec_id].is_unpartitioned() for spec_id in written):
            return
        missing = next((spec_id for spec_id in specs if spec_id not in written), None)
        if missing is not None:
            raise ValidationException(
                f"apply_changes: a concurrent commit added partition spec {missing}, and the deletes of the batch do not apply to its data "
                "files; refresh the table and apply the batch again"
            )


def has_batch(metadata: TableMetadata, branch: str | None, batch_id: str) -> bool:
    """Return whether a snapshot of a branch has the changes of a batch."""
    applied, head = metadata.snapshots.having(BATCH_ID, batch_id), head_of(metadata, branch)
    return head is not None and any(is_ancestor_of(head.snapshot_id, one, metadata) for one in applied)
