"""Checks of the files that the current snapshot refers to, in storage: each must exist with its recorded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import MissingFileError, StorageError
from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.display import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts

FileCheck = Literal["list", "heads"]
"""The way to look up files: by listing their directories, or by one request for each file."""
SHOWN = 20
_CHUNK = 1000


def check_storage(facts: TableFacts, by: FileCheck) -> Iterator[Finding]:
    """Yield the findings on missing and truncated files of the current snapshot.

    Args:
        facts: The table.
        by: `list` lists the directories that hold the files, which costs one request for about 1,000 files there. `heads` looks up
            each file.
    """
    expected = _expected(facts)
    refused: dict[str, str] = {}
    found = _listed(facts, expected, refused) if by == "list" else _looked_up(facts, expected, refused)
    if refused:
        yield _refused_directories(refused) if by == "list" else _refused_files(refused, expected.num_rows)
    is_known = _is_known(expected, refused, by)
    expected, found = expected.filter(is_known), found.filter(is_known)
    size = pc.fill_null(found, -1)
    missing = expected.filter(pc.equal(size, -1)).column("file_path").to_pylist()
    recorded = expected.column("size")
    differs = pc.and_(pc.not_equal(size, -1), pc.not_equal(size, recorded))
    # A manifest list has no recorded size.
    wrong = expected.filter(pc.and_(differs, pc.greater_equal(recorded, 0)))
    if missing:
        yield Finding(
            "missing-files",
            Severity.ERROR,
            f"{count_text(len(missing), 'file')} of {expected.num_rows:,} do not exist; scans that need one fail. The first is "
            f"{missing[0]}.",
            {"missing": len(missing), "files": expected.num_rows, "locations": missing[:SHOWN]},
        )
    if wrong.num_rows > 0:
        locations = wrong.column("file_path").to_pylist()
        yield Finding(
            "wrong-file-sizes",
            Severity.ERROR,
            f"{count_text(len(locations), 'file')} of {expected.num_rows:,} have another size than the manifests state: truncated, or "
            f"replaced. The first is {locations[0]}.",
            {"wrong": len(locations), "files": expected.num_rows, "locations": locations[:SHOWN]},
        )


def _expected(facts: TableFacts) -> pa.Table:
    """Return location and recorded size, -1 if unknown, of every file that a scan of the current snapshot may read."""
    data = [
        part.select(["file_path", "file_size_in_bytes"]).rename_columns(["file_path", "size"]) for part in _parts(facts)
    ]
    manifests = pa.table(
        {
            "file_path": facts.manifests.column("manifest_path"),
            "size": facts.manifests.column("manifest_length"),
        }
    )
    snapshot = facts.snapshot
    lists = [snapshot.manifest_list] if snapshot is not None and snapshot.manifest_list is not None else []
    unknown = pa.table({"file_path": pa.array(lists, pa.string()), "size": pa.array([-1] * len(lists), pa.int64())})
    return pa.concat_tables([unknown, manifests, *data]).combine_chunks()


def _parts(facts: TableFacts) -> list[pa.Table]:
    return [pa.Table.from_batches([batch]) for batch in (facts.files, facts.deletes)]


def _listed(facts: TableFacts, expected: pa.Table, refused: dict[str, str]) -> pa.ChunkedArray:
    """Return the sizes of files by listing the directories at the top of their locations, null where there is no file.

    Add the reason for each directory that storage refuses to list to `refused`.
    """
    found = (_listing(facts, root, refused) for root in _roots(facts, expected))
    listings = [one for one in found if one is not None]
    if not listings:
        return pa.chunked_array([pa.nulls(expected.num_rows, pa.int64())])
    listing = pa.concat_tables(listings)
    places = pc.index_in(expected.column("file_path"), value_set=listing.column("location"))
    return pc.take(listing.column("size"), places)


def _listing(facts: TableFacts, root: str, refused: dict[str, str]) -> pa.Table | None:
    """Return the files below a directory; None, and the reason in `refused`, if storage refuses to list it."""
    try:
        return pa.Table.from_batches([facts.io.core.list(root)])
    except StorageError as error:
        refused[root] = str(error)
        return None


def _roots(facts: TableFacts, expected: pa.Table) -> list[str]:
    """Return directories that together hold all locations: the table's, and the parents of files elsewhere."""
    location = facts.metadata.location.rstrip("/") + "/"
    inside = pc.starts_with(expected.column("file_path"), pattern=location)
    parents = pc.replace_substring_regex(
        expected.filter(pc.invert(inside)).column("file_path"), pattern="/[^/]*$", replacement=""
    )
    roots = [location.rstrip("/")] if pc.any(inside).as_py() else []
    for parent in sorted(pc.unique(parents).to_pylist()):
        if not roots or not parent.startswith(f"{roots[-1]}/"):
            roots.append(parent)
    return roots


def _looked_up(facts: TableFacts, expected: pa.Table, refused: dict[str, str]) -> pa.ChunkedArray:
    """Return the sizes of files, null for a missing file. Add the reason for each file that storage refuses to `refused`."""
    sizes: list[int | None] = []
    locations = expected.column("file_path").to_pylist()
    for start in range(0, len(locations), _CHUNK):
        sizes += _sizes(facts, locations[start : start + _CHUNK], refused)
    return pa.chunked_array([pa.array(sizes, pa.int64())])


def _sizes(facts: TableFacts, locations: list[str], refused: dict[str, str]) -> list[int | None]:
    """Return sizes of files, None for a missing or refused file. Halves with one of these are looked up again.

    After `SHOWN` refusals no more files are looked up: storage that cannot be reached costs several requests for each of them.
    """
    if len(refused) >= SHOWN:
        refused.update(dict.fromkeys(locations, "not looked up, because storage refused the files before it"))
        return [None] * len(locations)
    try:
        sizes: list[int | None] = facts.io.core.sizes(locations).to_pylist()
    except StorageError as error:
        if len(locations) == 1:
            if not isinstance(error, MissingFileError):
                refused[locations[0]] = str(error)
            return [None]
        middle = len(locations) // 2
        return _sizes(facts, locations[:middle], refused) + _sizes(facts, locations[middle:], refused)
    return sizes


def _is_known(expected: pa.Table, refused: dict[str, str], by: FileCheck) -> pa.ChunkedArray:
    """Return for each file whether storage answered: it is neither refused nor in a directory that was not listed."""
    locations = expected.column("file_path")
    if by == "heads":
        return pc.invert(pc.is_in(locations, value_set=pa.array(list(refused), pa.string())))
    known = pc.is_valid(locations)
    for directory in refused:
        known = pc.and_(known, pc.invert(pc.starts_with(locations, pattern=f"{directory}/")))
    return known


def _refused_files(reasons: dict[str, str], files: int) -> Finding:
    locations = list(reasons)
    return Finding(
        "inaccessible-files",
        Severity.ERROR,
        f"{count_text(len(reasons), 'file')} of {files:,} cannot be looked up in storage; scans that need one fail. The first reason is "
        f"{reasons[locations[0]]}.",
        {
            "inaccessible": len(reasons),
            "files": files,
            "locations": locations[:SHOWN],
            "reasons": list(reasons.values())[:SHOWN],
        },
    )


def _refused_directories(reasons: dict[str, str]) -> Finding:
    texts = list(reasons.values())
    return Finding(
        "unlisted-directories",
        Severity.ERROR,
        f"{count_text(len(reasons), 'directory', 'directories')} cannot be listed, and the files there were not looked up. The first reason "
        f"is {texts[0]}.",
        {"directories": len(reasons), "locations": list(reasons)[:SHOWN], "reasons": texts[:SHOWN]},
    )
