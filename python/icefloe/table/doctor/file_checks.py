"""Checks of data files and delete files, from the manifests of the current snapshot alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.groups.file_groups import DELETES, REASONS
from icefloe.table.properties.definitions import TARGET_FILE_SIZE
from icefloe.table.properties.maintenance import MAX_DELETED_PERCENT, MAX_DELETES_PER_FILE, MIN_SMALL_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts

EQUALITY = 2


def check_files(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on data files and delete files. The work is linear in the number of files."""
    yield from _small_files(facts)
    yield from _old_specs(facts)
    yield from _delete_debt(facts)
    yield from _equality_deletes(facts)
    yield from _dangling_deletes(facts)


def _small_files(facts: TableFacts) -> Iterator[Finding]:
    minimum, target = facts.threshold(MIN_SMALL_FILES), facts.threshold(TARGET_FILE_SIZE)
    small = facts.compaction.filter(pc.less(facts.compaction.column("size"), facts.small_file_size))
    groups = small.group_by("group").aggregate([("size", "count"), ("size", "sum"), ("new_files", "min")])
    many = groups.filter(pc.greater_equal(groups.column("size_count"), minimum))
    if many.num_rows == 0:
        return
    count: int = pc.sum(many.column("size_count")).as_py()
    size: int = pc.sum(many.column("size_sum")).as_py()
    # The number of partitions that files of earlier specs are divided into is known after the rewrite.
    divided: int = many.column("new_files_min").null_count
    after: int = (pc.sum(many.column("new_files_min")).as_py() or 0) + divided
    groups_text = count_text(many.num_rows, "partition" if divided == 0 else "group")
    yield Finding(
        "small-files",
        Severity.WARNING,
        f"{count_text(count, 'data file')} of {facts.files.num_rows:,} are smaller than {bytes_text(facts.small_file_size)}, "
        f"{bytes_text(size // count)} on average, in {groups_text}; compaction leaves "
        f"{'about' if divided == 0 else 'at least'} {count_text(after, 'file')}.",
        {
            "small_files": count,
            "data_files": facts.files.num_rows,
            "small_bytes": size,
            "target_file_size_bytes": target,
            "partitions": many.num_rows,
            "files_after_compaction": after,
        },
        facts.command("compact"),
    )


def _old_specs(facts: TableFacts) -> Iterator[Finding]:
    is_old = pc.not_equal(facts.files.column("spec_id"), facts.metadata.default_spec_id)
    old = facts.files.filter(is_old)
    if old.num_rows > 0:
        size: int = pc.sum(old.column("file_size_in_bytes")).as_py()
        yield Finding(
            "old-spec-files",
            Severity.INFO,
            f"{count_text(old.num_rows, 'data file')} ({bytes_text(size)}) have an earlier partition spec than spec "
            f"{facts.metadata.default_spec_id}, so filters on its fields skip none of them.",
            {"files": old.num_rows, "bytes": size, "spec_ids": sorted(set(old.column("spec_id").to_pylist()))},
            facts.command("compact"),
        )


def _delete_debt(facts: TableFacts) -> Iterator[Finding]:
    if facts.deletes.num_rows == 0:
        return
    limit, percent = facts.threshold(MAX_DELETES_PER_FILE), facts.threshold(MAX_DELETED_PERCENT)
    affected = facts.fan_in.filter(pc.greater(facts.fan_in, 0))
    most: int = pc.max(affected).as_py()
    positions = facts.deletes.filter(pc.equal(facts.deletes.column("content"), 1))
    deleted: int = pc.sum(positions.column("record_count")).as_py() or 0
    rows: int = pc.sum(facts.files.filter(pc.greater(facts.fan_in, 0)).column("record_count")).as_py()
    share = 100 * deleted // rows if rows > 0 else 0
    if most < limit and share < percent:
        return
    # Positions of several data files in one delete file count for no data file's share of deleted rows.
    is_due = pc.any(pc.match_substring(facts.compaction.column("reason"), REASONS[DELETES])).as_py()
    size: int = pc.sum(facts.deletes.column("file_size_in_bytes")).as_py()
    yield Finding(
        "delete-debt",
        Severity.WARNING,
        f"{count_text(facts.deletes.num_rows, 'delete file')} ({bytes_text(size)}) apply to {count_text(len(affected), 'data file')}, at most "
        f"{most:,} to each; {share} % of the rows of these data files are deleted by position and read all the same.",
        {
            "delete_files": facts.deletes.num_rows,
            "delete_bytes": size,
            "data_files": len(affected),
            "most_per_data_file": most,
            "position_deletes": deleted,
            "rows_of_data_files": rows,
        },
        facts.command("compact", *(() if is_due else ("--delete-file-threshold", "1"))),
    )


def _equality_deletes(facts: TableFacts) -> Iterator[Finding]:
    equality = facts.deletes.filter(pc.equal(facts.deletes.column("content"), EQUALITY))
    if equality.num_rows > 0:
        rows: int = pc.sum(equality.column("record_count")).as_py()
        # Writers of changes leave a few at any time; from the number at which compaction removes them they are debt.
        is_debt = pc.max(facts.fan_in).as_py() >= facts.threshold(MAX_DELETES_PER_FILE)
        yield Finding(
            "equality-deletes",
            Severity.WARNING if is_debt else Severity.INFO,
            f"{count_text(equality.num_rows, 'equality delete file')} with {count_text(rows, 'key')}: every scan of an older data file reads "
            "the key columns of all its rows and compares them.",
            {
                "equality_delete_files": equality.num_rows,
                "keys": rows,
                "bytes": pc.sum(equality.column("file_size_in_bytes")).as_py(),
            },
            facts.command("compact", "--delete-file-threshold", "1"),
        )


def _dangling_deletes(facts: TableFacts) -> Iterator[Finding]:
    counters = facts.plan.counters
    unused = counters.get("delete_files_total", 0) - counters.get("delete_files_planned", 0)
    if unused > 0:
        yield Finding(
            "dangling-deletes",
            Severity.INFO,
            f"{count_text(unused, 'delete file')} of {counters['delete_files_total']:,} apply to no data file.",
            {"dangling_delete_files": unused, "delete_files": counters["delete_files_total"]},
            facts.command("rewrite-deletes", "--dangling"),
        )
