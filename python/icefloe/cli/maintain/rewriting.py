"""The verbs `compact`, `rewrite-deletes` and `rewrite-manifests`: fewer and better files with the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.failure import NotFoundError
from icefloe.cli.maintain.maintaining import given, maintenance_verb
from icefloe.cli.table_argument import table_argument
from icefloe.table.maintenance.policy_steps import compaction_options
from icefloe.table.refs import MAIN_BRANCH

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable


def _builder(verb: str, maintenance: MaintenanceTable, branch: str) -> Any:
    """Return the builder of a maintenance verb for a branch.

    Raises:
        NotFoundError: There is no such branch.
    """
    refs = maintenance.tbl.metadata.refs
    if branch != MAIN_BRANCH and branch not in refs:
        raise NotFoundError(
            f"--branch: branch {branch!r} does not exist; branches and tags: {', '.join(refs) or 'none'}"
        )
    return getattr(maintenance, verb)().branch(branch)


_branch = click.option("--branch", default="main", show_default=True, help="The branch to change.")
_bytes = click.IntRange(min=1)


def _compact(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    builder = _builder("rewrite_data_files", maintenance, values.pop("branch"))
    strategy, by, where = values.pop("strategy"), values.pop("by"), values.pop("where")
    if strategy in ("zorder", "hilbert") and not by:
        raise click.UsageError(f"--strategy {strategy}: expected the columns, --by a,b")
    if strategy == "binpack" and by is not None:
        raise click.UsageError("--by: expected --strategy sort, zorder or hilbert as well")
    if strategy != "binpack":
        builder = builder.sort(by if strategy == "sort" else f"{strategy}({by})")
    if where is not None:
        builder = builder.filter(where)
    properties = maintenance.tbl.metadata.properties
    thresholds = compaction_options(lambda one: one.of(properties), values["target_file_size_bytes"])
    return builder.options(**{**thresholds, **given(values)})


compact = maintenance_verb(
    "compact",
    "Rewrite small files, files with many deleted rows and files of earlier partition specs.",
    [
        table_argument,
        _branch,
        click.option(
            "--strategy",
            type=click.Choice(["binpack", "sort", "zorder", "hilbert"]),
            default="binpack",
            show_default=True,
            help="Keep the order of rows, sort them, or cluster them along a curve.",
        ),
        click.option(
            "--by",
            metavar="COLUMNS",
            help="Columns of the strategy, in double quotes if a name has commas or spaces. Keys of `sort` may be "
            "`a DESC NULLS LAST`; without, it takes the table's order.",
        ),
        click.option("--where", metavar="FILTER", help="Only files that may have such rows."),
        click.option("--rewrite-all", is_flag=True, help="Every file."),
        click.option("--target-file-size-bytes", type=_bytes, help="Size of new files.  [default: the table's]"),
        click.option(
            "--min-input-files",
            type=click.IntRange(min=1),
            help="Small files of a partition from which they are rewritten.  [default: the table's]",
        ),
        click.option(
            "--delete-file-threshold",
            type=click.IntRange(min=1),
            help="Delete files of a data file from which it is rewritten.  [default: the table's]",
        ),
        click.option("--max-files-to-rewrite", type=click.IntRange(min=1), help="Most files of this run."),
        click.option("--memory-limit-bytes", type=_bytes, help="Rows in memory while they are sorted."),
        click.option("--remove-dangling-deletes", is_flag=True, help="Remove delete files that apply to nothing."),
    ],
    _compact,
)


def _rewrite_deletes(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    branch, dangling, equality = (values.pop(name) for name in ("branch", "dangling", "equality"))
    where = values.pop("where")
    if dangling and equality:
        raise click.UsageError("expected one of --dangling and --equality")
    if where is not None and (dangling or equality):
        raise click.UsageError("--where: expected neither --dangling nor --equality")
    if dangling:
        return _builder("remove_dangling_deletes", maintenance, branch)
    if equality:
        return _builder("convert_equality_deletes", maintenance, branch)
    builder = _builder("rewrite_position_deletes", maintenance, branch).options(**given(values))
    return builder if where is None else builder.filter(where)


rewrite_deletes = maintenance_verb(
    "rewrite-deletes",
    "Merge position delete files, remove those of removed rows, or turn equality deletes into positions.",
    [
        table_argument,
        _branch,
        click.option("--dangling", is_flag=True, help="Remove the delete files that apply to no data file instead."),
        click.option("--equality", is_flag=True, help="Turn equality deletes into position deletes instead."),
        click.option("--where", metavar="FILTER", help="Only delete files of partitions that may have such rows."),
        click.option("--rewrite-all", is_flag=True, help="Every position delete file."),
    ],
    _rewrite_deletes,
)


def _rewrite_manifests(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    builder = _builder("rewrite_manifests", maintenance, values["branch"])
    if values["spec_id"] is not None:
        builder = builder.spec_id(values["spec_id"])
    return builder if values["by"] is None else builder.sort_by(*(one.strip() for one in values["by"].split(",")))


rewrite_manifests = maintenance_verb(
    "rewrite-manifests",
    "Write fewer manifests, each with files of neighbouring partitions.",
    [
        table_argument,
        _branch,
        click.option("--spec-id", type=int, help="Only manifests of one partition spec.  [default: of each spec]"),
        click.option("--by", metavar="FIELDS", help="Partition fields to cluster by.  [default: all]"),
    ],
    _rewrite_manifests,
)
