"""The sentences of a report, which stand before its numbers."""

from __future__ import annotations

from typing import Any

from icefloe.table.maintenance.display import bytes_text, count_text

_DAY_MS = 86_400_000
_Figures = dict[str, Any]


def verdict(figures: _Figures) -> tuple[str, str]:
    """Return the severity of the worst finding (`good` without one above a note) and the verdict."""
    severities = [one["severity"] for one in figures["diagnosis"]["findings"]]
    if "error" in severities:
        return "error", "Broken"
    return ("warning", "Needs attention") if "warning" in severities else ("good", "Healthy")


def lead(figures: _Figures) -> list[str]:
    """Return three sentences: how large the table is, how fresh, and what costs most."""
    size, found = figures["size"], figures["diagnosis"]["findings"]
    rows = count_text(size["rows_in_data_files"], "row")
    files = count_text(size["data_files"], "data file")
    days = figures["days_since_update"]
    changed = (
        "less than an hour ago"
        if days < 1 / 24
        else f"{days * 24:.0f} hours ago"
        if days < 2
        else f"{days:.0f} days ago"
    )
    worst = found[0]["sentence"] if found else "Nothing slows its reads or commits down."
    commands = [one["command"] for one in found if one["command"] is not None]
    last = " Begin with the first command below." if commands else ""
    return [
        f"The table has {rows} in {files}, {bytes_text(size['data_bytes'])} in all.",
        f"It was last changed {changed} and has {count_text(figures['snapshots']['count'], 'snapshot')}.",
        f"{worst}{last}",
    ]


def sizes(figures: _Figures) -> list[str]:
    """Return how file sizes compare with the target."""
    own, files = figures["file_sizes"], figures["size"]["data_files"]
    share = 100 * own["small_files"] // files if files else 0
    return [
        (
            f"{share} % of the data files ({own['small_files']:,} of {files:,}) are smaller than {bytes_text(own['small_below_bytes'])}; the "
            f"median is {bytes_text(own['median_bytes'])}, the target {bytes_text(own['target_bytes'])}."
        )
    ]


def orphans(figures: _Figures) -> list[str]:
    """Return how many files nothing refers to."""
    own = figures["orphans"]
    listed = f"{count_text(own['listed_files'], 'file')} in the table's directories"
    if own["files"] == 0:
        return [
            f"Orphan files are files that nothing in the table refers to. Of {listed}, none from before {own['older_than']} is one."
        ]
    return [
        (
            f"Orphan files are files that nothing in the table refers to: {own['files']:,} of {listed} from before "
            f"{own['older_than']}, {bytes_text(own['bytes'])} in all."
        )
    ]


def growth(figures: _Figures) -> list[str]:
    """Return how fast the table grows."""
    points = [one for one in figures["growth"] if one["bytes"] is not None]
    if len(points) < 2:
        return ["The history is too short to show growth."]
    first, last = points[0], points[-1]
    days = (last["at_ms"] - first["at_ms"]) / _DAY_MS
    grown = last["bytes"] - first["bytes"]
    change = (
        f"{'grew' if grown >= 0 else 'shrank'} by {bytes_text(abs(grown))} in {count_text(len(points), 'snapshot')}"
    )
    if days < 1:
        return [f"The table {change} within a day."]
    return [f"The table {change} over {days:.0f} days, {bytes_text(int(abs(grown) / days))} a day."]


def partitions(figures: _Figures) -> list[str]:
    """Return how many partitions there are, and how bad the worst one is."""
    own = figures["partitions"]
    worst = own["worst"][0]
    if worst["small_files"] < 2 and worst["applied_deletes"] == 0:
        return [f"None of the {own['count']:,} partitions has several small files or deletes."]
    text = f"The worst of {own['count']:,} partitions is {worst['partition']}: {worst['small_files']:,} small files of {worst['files']:,}"
    if worst["applied_deletes"] > 0:
        text += f", delete files applied {count_text(worst['applied_deletes'], 'time')}"
    return [f"{text}."]


def deletes(figures: _Figures) -> list[str]:
    """Return what delete files cost a scan."""
    own, size = figures["deletes"], figures["size"]
    affected = sum(one["data_files"] for one in own["fan_in"] if one["delete_files"] > 0)
    texts = [
        (
            f"Delete files mark rows of data files as deleted. {count_text(size['delete_files'], 'delete file applies', 'delete files apply')} to "
            f"{affected:,} of {count_text(size['data_files'], 'data file')}; a full scan reads {bytes_text(size['delete_bytes'])} more than the data."
        )
    ]
    if own["position_deletes"] > 0 and size["rows_in_data_files"] > 0:
        share = 100 * own["position_deletes"] / size["rows_in_data_files"]
        shown = "less than 0.1 %" if share < 0.1 else f"{share:.1f} %"
        stored = count_text(own["position_deletes"], "row is", "rows are")
        texts.append(f"{stored} deleted by position and still stored, {shown} of all.")
    if own["equality_delete_files"] > 0:
        texts.append(
            f"{count_text(own['equality_delete_files'], 'equality delete file makes', 'equality delete files make')} scans compare the keys of "
            "every row that is older."
        )
    if own["dangling_delete_files"] > 0:
        texts.append(
            f"{count_text(own['dangling_delete_files'], 'delete file applies', 'delete files apply')} to no data file."
        )
    return texts


def manifests(figures: _Figures) -> list[str]:
    """Return how many manifests planning opens."""
    own = figures["manifests"]
    count = own["data_manifests"] + own["delete_manifests"]
    if count == 0:
        return ["There are no manifests yet."]
    texts = [
        (
            f"A query first reads manifests, the lists of the table's files: {own['data_manifests']:,} of data files and "
            f"{own['delete_manifests']:,} of delete files, {bytes_text(own['bytes'])} in all."
        )
    ]
    if own["average_overlap"] is not None:
        texts.append(
            f"A filter on one value of the first partition field opens {own['average_overlap']:g} of {count:,} on average."
        )
    return texts


def versions(figures: _Figures) -> list[str]:
    """Return what the history holds, and what expiry could remove."""
    own, refs = figures["snapshots"], figures["refs"]
    tags = sum(one["type"] == "tag" for one in refs)
    texts = [
        f"{count_text(own['count'], 'snapshot')}, {count_text(len(refs) - tags, 'branch', 'branches')} and {count_text(tags, 'tag')}."
    ]
    expiry = own["expiry"]
    if expiry is not None:
        text = f"Expiry would remove {count_text(expiry['snapshots'], 'snapshot')} that the retention does not keep"
        if expiry["files"] is not None:
            text += f", and delete {count_text(expiry['files'], 'file')} of {bytes_text(expiry['bytes'])}"
        texts.append(f"{text}.")
    return texts


def definition(figures: _Figures) -> list[str]:
    """Return format version, and how often schema and partitioning changed."""
    changed = figures["schema_versions"] - 1
    text = "never changed" if changed == 0 else "changed once" if changed == 1 else f"changed {changed:,} times"
    specs = count_text(len(figures["specs"]), "partition spec")
    described = (
        count_text(len(figures["statistics"]), "statistics file") if figures["statistics"] else "no statistics files"
    )
    columns = count_text(len(figures["schema"]), "column")
    return [f"Format version {figures['format_version']}, {columns}; the schema {text}; {specs}, {described}."]
