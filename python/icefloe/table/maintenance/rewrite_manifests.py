"""Rewriting manifests: fewer, and each with files of neighbouring partitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import check_callable
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.commit.manifest_writer import DATA, DELETES, manifests_of
from icefloe.table.commit.rewrite_manifests import RewriteManifests
from icefloe.table.maintenance.branch_plan import BranchPlan, branch_head, check_plan
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.plan import Result
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata

_VERB = "rewrite_manifests"
SORTED_BY = "icefloe.manifests-sorted-by"
"""Summary key: the partition fields by which a rewrite clustered manifests; empty for all."""
_MOST_ENTRIES = 10_000
"""The most entries that the core writes to one manifest."""
_SHOWN = (
    "manifest_path",
    "content",
    "partition_spec_id",
    "manifest_length",
    "added_files_count",
    "existing_files_count",
    "reason",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RewriteManifestsPlan(BranchPlan):
    """Manifests whose entries move to new manifests.

    Attributes:
        sort_by: Partition fields that entries are clustered by; empty for the whole tuple.
        manifests: One row for each manifest, columns of a manifest list and `reason`.
    """

    verb: ClassVar[str] = _VERB
    listed: ClassVar[str] = "manifests"
    size_column: ClassVar[str] = "manifest_length"
    shown: ClassVar[tuple[str, ...]] = _SHOWN
    sort_by: tuple[str, ...]
    manifests: pa.Table = field(repr=False)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return f"{_VERB}: no manifest needs to be rewritten"
        return f"{_VERB}: rewrite {count_text(self.file_count, 'manifest')} of {bytes_text(self.total_bytes)}"


@dataclass(frozen=True, kw_only=True)
class RewriteManifestsResult(Result):
    """Manifests that were replaced. Expiry deletes the old ones from storage.

    Attributes:
        rewritten_manifests_count: Manifests that are not part of the branch any more.
        added_manifests_count: New manifests.
        snapshot_id: The new snapshot, None if nothing was changed.
    """

    verb: ClassVar[str] = _VERB
    rewritten_manifests_count: int = 0
    added_manifests_count: int = 0
    snapshot_id: int | None = None

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if self.snapshot_id is None:
            return f"{_VERB}: nothing was changed"
        before = count_text(self.rewritten_manifests_count, "manifest")
        return f"{_VERB}: replaced {before} by {count_text(self.added_manifests_count, 'manifest')}"


class RewriteManifestsBuilder:
    """Rewrites manifests of data files and of delete files, so that plans read few of them.

    The manifests of each partition spec are rewritten if there are more than their bytes need, or if they are to be clustered by other
    partition fields. Entries keep their snapshot ids and sequence numbers.

    Examples:
        >>> table.maintenance.rewrite_manifests().plan().is_empty
        True
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        self._branch = MAIN_BRANCH
        self._spec_id: int | None = None
        self._sort_by: tuple[str, ...] = ()
        self._accepts: Callable[[dict[str, Any]], bool] | None = None

    def branch(self, name: str) -> Self:
        """Rewrite manifests of a branch, `main` by default."""
        self._branch = name
        return self

    def spec_id(self, spec_id: int) -> Self:
        """Rewrite only manifests of one partition spec; by default, those of every spec are rewritten, apart from each other.

        Raises:
            ValidationError: The table has no such spec.
        """
        self._change().spec_id(spec_id)
        self._spec_id = spec_id
        return self

    def sort_by(self, *names: str) -> Self:
        """Cluster entries by some partition fields, most significant first, instead of the whole partition tuple.

        Raises:
            ValidationError: No spec of the table has a field of a name.
        """
        self._change().sort_by(*names)
        self._sort_by = names
        return self

    def rewrite_if(self, predicate: Callable[[dict[str, Any]], bool]) -> Self:
        """Rewrite exactly the manifests that a predicate accepts, whatever their sizes are.

        Args:
            predicate: A function of the columns of a manifest list: `manifest_path`, `manifest_length`, `partition_spec_id`,
                `content`, `added_files_count` and others.
        """
        check_callable("rewrite_if", predicate, "a function of the columns of a manifest")
        self._accepts = predicate
        return self

    def plan(self) -> RewriteManifestsPlan:
        """Return the manifests to rewrite; nothing is changed.

        Raises:
            ValidationError: The branch does not exist.
        """
        metadata = self._table.metadata
        head = branch_head(metadata, self._branch, _VERB)
        manifests = manifests_of(self._table.io, head) if head is not None else MANIFEST_SCHEMA.empty_table()
        specs = [
            spec_id
            for spec_id, spec in sorted(metadata.specs().items())
            if self._spec_id in (None, spec_id) and not spec.has_unknown_transform
        ]
        found = [
            self._chosen(metadata, manifests_with(manifests, content, spec_id))
            for content in (DATA, DELETES)
            for spec_id in specs
        ]
        empty = MANIFEST_SCHEMA.empty_table().append_column("reason", pa.array([], pa.string()))
        return RewriteManifestsPlan(
            table_uuid=str(metadata.table_uuid),
            branch=self._branch,
            snapshot_id=None if head is None else head.snapshot_id,
            sort_by=self._sort_by,
            manifests=pa.concat_tables([empty, *found]),
        )

    def execute(self, plan: RewriteManifestsPlan | None = None) -> RewriteManifestsResult:
        """Rewrite the manifests of a plan, by default of a new one, in one commit.

        Manifests that a concurrent commit has replaced are left out.

        Raises:
            ValidationError: The plan is of another table.
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows.
        """
        if plan is None:
            plan = self.plan()
        check_plan(plan, self._table, RewriteManifestsPlan)
        if plan.is_empty:
            return RewriteManifestsResult()
        self._table.refresh()
        planned = set(plan.manifests.column("manifest_path").to_pylist())
        head = branch_head(self._table.metadata, plan.branch, _VERB)
        live = manifests_of(self._table.io, head).column("manifest_path").to_pylist() if head is not None else []
        if planned.isdisjoint(live):
            return RewriteManifestsResult()
        change = self._change(plan.branch).include_deletes().sort_by(*plan.sort_by)
        change.set_summary(SORTED_BY, ",".join(plan.sort_by))
        change.rewrite_if(lambda manifest: manifest["manifest_path"] in planned)
        change.commit()
        snapshot = self._table.metadata.snapshot_by_id(change.snapshot_id)
        return RewriteManifestsResult(
            rewritten_manifests_count=int(snapshot.summary["manifests-replaced"]),
            added_manifests_count=int(snapshot.summary["manifests-created"]),
            snapshot_id=change.snapshot_id,
        )

    # ---- parts

    def _change(self, branch: str = MAIN_BRANCH) -> RewriteManifests:
        return RewriteManifests(WriteTransaction(self._table, autocommit=True), branch)

    def _chosen(self, metadata: TableMetadata, manifests: pa.Table) -> pa.Table:
        """Return the manifests of one spec and content to rewrite, with the reason."""
        reason = "more manifests than their bytes need"
        if self._accepts is not None:
            accepted = [bool(self._accepts(row)) for row in manifests.to_pylist()]
            manifests, reason = manifests.filter(pa.array(accepted, pa.bool_())), "chosen by a predicate"
        elif is_of_one_rewrite(metadata, manifests, self._sort_by):
            manifests = manifests.slice(0, 0)
        elif self._sort_by:
            reason = f"not clustered by {', '.join(self._sort_by)}"
        elif manifests.num_rows <= _needed(manifests, MANIFEST_TARGET_SIZE.of(metadata.properties)):
            manifests = manifests.slice(0, 0)
        return manifests.append_column("reason", pa.repeat(reason, manifests.num_rows))


def count_after_rewrite(metadata: TableMetadata, manifests: pa.Table, target_bytes: int) -> int:
    """Return the number of manifests after a rewrite without settings.

    Args:
        metadata: The table.
        manifests: The manifests of a snapshot, as rows of a manifest list.
        target_bytes: The size of new manifests.
    """
    count = 0
    for content in (DATA, DELETES):
        for spec_id, spec in metadata.specs().items():
            own = manifests_with(manifests, content, spec_id)
            stays = spec.has_unknown_transform or is_of_one_rewrite(metadata, own)
            count += own.num_rows if stays else min(own.num_rows, _needed(own, target_bytes))
    return count


def is_of_one_rewrite(metadata: TableMetadata, manifests: pa.Table, sort_by: tuple[str, ...] | None = ()) -> bool:
    """Return whether one rewrite wrote all the manifests, which may be none.

    Args:
        metadata: The table.
        manifests: Manifests of one content and partition spec.
        sort_by: The clustering of the rewrite; None for any. If the snapshot of the rewrite has expired, manifests of one snapshot that
            has added no file count as clustered by partition.
    """
    added_by = pc.unique(manifests.column("added_snapshot_id")).to_pylist()
    if len(added_by) != 1:
        return len(added_by) == 0
    snapshot = None if added_by[0] is None else metadata.snapshot_by_id(added_by[0])
    if snapshot is None:
        changes = pc.add(manifests.column("added_files_count"), manifests.column("deleted_files_count"))
        return not sort_by and pc.all(pc.equal(changes, 0), skip_nulls=False).as_py() is True
    summary = snapshot.summary
    found = None if summary is None else summary.get(SORTED_BY)
    return found is not None if sort_by is None else found == ",".join(sort_by)


def _needed(manifests: pa.Table, target_bytes: int) -> int:
    """Return the number of manifests that a rewrite of manifests of one spec and content writes, at least 1."""
    size = pc.sum(manifests.column("manifest_length")).as_py() or 0
    counts = pc.add(manifests.column("added_files_count"), manifests.column("existing_files_count"))
    entries = pc.sum(counts, skip_nulls=False).as_py()
    if not entries or size <= 0:
        # Lists of version 1 may have no counts.
        return max(1, -(-size // target_bytes))
    parts = ceil(entries / max(1, entries * target_bytes // size))
    return int(parts * ceil(entries / parts / _MOST_ENTRIES))


def manifests_with(manifests: pa.Table, content: int, spec_id: int) -> pa.Table:
    """Return the manifests of one content and partition spec, which a rewrite keeps apart from all others."""
    same = pc.and_(
        pc.equal(manifests.column("content"), content), pc.equal(manifests.column("partition_spec_id"), spec_id)
    )
    return manifests.filter(same)
