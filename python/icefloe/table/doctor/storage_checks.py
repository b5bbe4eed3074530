"""Checks of the files that the current snapshot refers to, in storage: each must exist with its recorded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import MissingFileError
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
    found = _listed(facts, expected) if by == "list" else _looked_up(facts, expected)
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


def _listed(facts: TableFacts, expected: pa.Table) -> pa.ChunkedArray:
    """Return the sizes of files by listing the directories at the top of their locations, null where there is no file."""
    if expected.num_rows == 0:
        return pa.chunked_array([], pa.int64())
    listings = [pa.Table.from_batches([facts.io.core.list(root)]) for root in _roots(facts, expected)]
    listing = pa.concat_tables(listings)
    places = pc.index_in(expected.column("file_path"), value_set=listing.column("location"))
    return pc.take(listing.column("size"), places)


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


def _looked_up(facts: TableFacts, expected: pa.Table) -> pa.Array:
    sizes: list[int | None] = []
    locations = expected.column("file_path").to_pylist()
    for start in range(0, len(locations), _CHUNK):
        sizes += _sizes(facts, locations[start : start + _CHUNK])
    return pa.array(sizes, pa.int64())


def _sizes(facts: TableFacts, locations: list[str]) -> list[int | None]:
    """Return sizes of files, None for a missing file. Halves with a missing file are looked up again."""
    try:
        sizes: list[int | None] = facts.io.core.sizes(locations).to_pylist()
    except MissingFileError:
        if len(locations) == 1:
            return [None]
        middle = len(locations) // 2
        return _sizes(facts, locations[:middle]) + _sizes(facts, locations[middle:])
    return sizes
