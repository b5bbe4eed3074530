"""Rewriting data files: few files of the target size, sorted or clustered if wanted, without deleted rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_names
from icefloe.exceptions import ValidationError
from icefloe.expressions.tree import AlwaysTrue
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.branch_plan import branch_head, check_plan, whole_files
from icefloe.table.maintenance.groups.file_groups import pack
from icefloe.table.maintenance.groups.options import OF_CURVES, OF_SORT, WITHOUT_EFFECT, RewriteOptions
from icefloe.table.maintenance.rewrite.candidates import data_file_candidates
from icefloe.table.maintenance.rewrite.clustering import (
    BINPACK,
    HILBERT,
    ZORDER,
    Clustering,
    curve_over,
    known_order,
    parsed,
    table_order,
)
from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan, RewriteDataFilesResult
from icefloe.table.maintenance.rewrite.run import RewriteRun
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.scan.plan import with_own_deletes
from icefloe.table.sorting import SortOrder
from icefloe.transforms import VoidTransform

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.partitioning import PartitionSpec
    from icefloe.table.metadata import TableMetadata

_VERB = "rewrite_data_files"


class RewriteDataFiles:
    """Rewrites small and large data files, files of older partition specs and files with many deleted rows.

    Rows keep their order unless a strategy is chosen: `sort`, `zorder` or `hilbert`. Files are rewritten whole in groups that belong
    to one partition. A group is rewritten only if that leads to fewer files or removes another reason to rewrite it, so a second
    run finds nothing to do.

    Examples:
        >>> plan = table.maintenance.rewrite_data_files().plan()
        >>> plan.is_empty
        True
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        self._clustering: Clustering | None = None
        self._row_filter: str | BooleanExpression = AlwaysTrue()
        self._branch = MAIN_BRANCH
        self._options = RewriteOptions()

    # ---- choices

    def binpack(self) -> Self:
        """Keep the order of rows. This is the default."""
        self._clustering = Clustering(BINPACK)
        return self

    def sort(self, order: str | SortOrder | None = None) -> Self:
        """Sort the rows of each group.

        Args:
            order: Keys such as `a DESC NULLS LAST, bucket(4, b)`, also `zorder(a, b)` and `hilbert(a, b)`; a sort order; None for the
                table's sort order. Names with special characters are in backquotes. Files record an order of the table, and files
                without it are rewritten.

        Raises:
            ValidationError: A column does not exist, or the table has no sort order.
        """
        metadata = self._table.metadata
        if order is None:
            self._clustering = table_order(metadata, _VERB)
        elif not isinstance(order, str | SortOrder):
            raise ValidationError(
                f"{_VERB}: sort order: expected text such as 'a DESC', a SortOrder or None, got {order!r}"
            )
        elif isinstance(order, SortOrder):
            if order.is_unsorted:
                raise ValidationError(f"{_VERB}: sort order: expected at least one key, got none; use binpack()")
            self._clustering = Clustering("sort", known_order(order, metadata))
        else:
            self._clustering = parsed(order, metadata, _VERB)
        self._clustering.check(_VERB, metadata)
        return self

    def zorder(self, *columns: str) -> Self:
        """Arrange the rows of each group along a Z-order curve, so that filters on any of the columns read few files.

        Args:
            *columns: 1 to 16 primitive columns. Those with one value in each partition are left out, with a warning of the plan.

        Raises:
            ValidationError: A column does not exist or is nested, or all are constant in each partition.
        """
        return self._curve(ZORDER, columns)

    def hilbert(self, *columns: str) -> Self:
        """Arrange the rows of each group along a Hilbert curve; see `zorder`, whose curve jumps more."""
        return self._curve(HILBERT, columns)

    def filter(self, row_filter: str | BooleanExpression) -> Self:
        """Rewrite only files that may have rows of a filter. They are rewritten whole."""
        self._row_filter = row_filter
        return self

    def branch(self, name: str) -> Self:
        """Rewrite files of a branch, `main` by default."""
        self._branch = name
        return self

    def options(self, **options: Any) -> Self:
        """Set options, by the names of the Java reference with underscores; see `RewriteOptions`.

        Raises:
            ValidationError: An option does not exist or its value is not valid.
        """
        self._options = RewriteOptions.of(_VERB, options)
        return self

    # ---- planning and executing

    def plan(self) -> RewriteDataFilesPlan:
        """Return the groups of files to rewrite; nothing is written.

        Raises:
            ValidationError: A choice does not fit the table, or the branch does not exist.
        """
        metadata = self._table.metadata
        clustering = self._clustering if self._clustering is not None else Clustering(BINPACK)
        clustering.check(_VERB, metadata)
        spec = self._spec(metadata)
        notes = _notes(clustering, self._options)
        within = clustering.within_partitions(_VERB, metadata.schema(), spec)
        notes += _dropped(clustering.columns, within.columns)
        clustering = within
        sizes = self._options.sizes(_VERB, metadata.properties)
        head = branch_head(metadata, self._branch, _VERB)
        scan = whole_files(self._table, metadata, None if head is None else head.snapshot_id, self._row_filter)
        candidates = data_file_candidates(scan, metadata.specs(), spec, clustering, sizes, self._options)
        packed = pack(candidates, sizes, self._options)
        files, deletes = with_own_deletes(scan.files.take(packed.rows), scan.deletes)
        return RewriteDataFilesPlan(
            table_uuid=str(metadata.table_uuid),
            plan_id=getattr(self._table.catalog, "environment", SYSTEM).new_uuid(),
            branch=self._branch,
            snapshot_id=None if head is None else head.snapshot_id,
            sequence_number=0 if head is None else head.sequence_number or 0,
            spec_id=spec.spec_id,
            clustering=clustering,
            options=self._options,
            groups=packed.groups,
            files=files,
            deletes=deletes,
            warnings=notes,
        )

    def execute(self, plan: RewriteDataFilesPlan | None = None) -> RewriteDataFilesResult:
        """Rewrite the files of a plan, by default of a new one, and commit.

        Groups that conflict with concurrent commits are planned again and repeated; all others are committed. An interrupt
        (Ctrl-C) deletes the files that were not committed and raises KeyboardInterrupt with a report.

        Raises:
            ValidationError: The plan is of another table.
            ValidationException: Groups conflicted with concurrent commits again and again; others may have been committed.
            CommitStateUnknownException: The outcome of a commit is unknown; its files were kept.
        """
        if plan is None:
            plan = self.plan()
        check_plan(plan, self._table, RewriteDataFilesPlan)
        return RewriteRun(self._table, plan).execute()

    # ---- parts

    def _curve(self, strategy: str, columns: tuple[str, ...]) -> Self:
        self._clustering = curve_over(strategy, checked_names(strategy, columns), _VERB)
        self._clustering.check(_VERB, self._table.metadata)
        return self

    def _spec(self, metadata: TableMetadata) -> PartitionSpec:
        wanted = self._options.output_spec_id
        spec = metadata.spec() if wanted is None else metadata.specs().get(wanted)
        if spec is None:
            raise ValidationError(
                f"{_VERB}: output_spec_id: expected the id of a partition spec {sorted(metadata.specs())}, got {wanted}"
            )
        if wanted is not None:
            _check_columns(spec, metadata)
        return spec


def _notes(clustering: Clustering, options: RewriteOptions) -> tuple[str, ...]:
    """Return a sentence for each option that has no effect.

    Raises:
        ValidationError: An option is one of other strategies.
    """
    is_sorted = clustering.is_curve or clustering.order is not None
    for names, strategies, is_theirs in (
        (OF_SORT, "sort, zorder or hilbert", is_sorted),
        (OF_CURVES, "zorder or hilbert", clustering.is_curve),
    ):
        wrong = () if is_theirs else options.given(names)
        if wrong:
            raise ValidationError(f"{_VERB}: {wrong[0]}: expected strategy {strategies}, got {clustering.strategy}")
    ignored = options.given(WITHOUT_EFFECT)
    return tuple(f"{_VERB}: {name} has no effect: {WITHOUT_EFFECT[name]}" for name in ignored)


def _dropped(columns: tuple[str, ...], remaining: tuple[str, ...]) -> tuple[str, ...]:
    dropped = [name for name in columns if name not in remaining]
    return tuple(f"{_VERB}: column {name} was left out: every partition has one value of it" for name in dropped)


def _check_columns(spec: PartitionSpec, metadata: TableMetadata) -> None:
    """Raise ValidationError if a field of a spec has a column that was dropped: new files have no value of it."""
    columns = metadata.schema().field_ids
    for field in spec.fields:
        if field.source_id not in columns and field.transform != VoidTransform():
            raise ValidationError(
                f"{_VERB}: output_spec_id: expected a spec of columns of the table, got {spec.spec_id}, whose field "
                f"{field.name!r} has a dropped column"
            )
