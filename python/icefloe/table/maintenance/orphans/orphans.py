"""Comparison of files in storage with the files that a table refers to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.orphans.listing import LISTING_SCHEMA, is_hidden, parts_of
from icefloe.table.maintenance.snapshot_files import manifest_locations, statistics_of
from icefloe.table.metadata.files import METADATA_DIRECTORY, VERSION_HINT, metadata_directory

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata

PREFIX_MISMATCH_MODES = ("error", "ignore", "delete")
_REACHABLE, _OTHER_PREFIX = 1, 2
_SHOWN = 5


@dataclass(frozen=True)
class PrefixRules:
    """The comparison of schemes and authorities of listed and of recorded locations.

    Attributes:
        mode: What happens to a file whose path the table refers to below another scheme or authority: `error`, `ignore` (the file
            stays) or `delete`.
        equal_schemes: Schemes, each with the scheme that stands for it. `s3a` and `s3n` always equal `s3`, and likewise for the other
            stores.
        equal_authorities: Authorities, each with the authority that stands for it.
    """

    mode: str = "error"
    equal_schemes: dict[str, str] = field(default_factory=dict)
    equal_authorities: dict[str, str] = field(default_factory=dict)


def equal_names(names: Mapping[str, str], argument: str) -> dict[str, str]:
    """Return names, each with the name that stands for it; a key may hold several names, separated by commas.

    >>> equal_names({"s3a, S3N": "s3"}, "equal_schemes")
    {'s3a': 's3', 's3n': 's3'}
    """
    found: dict[str, str] = {}
    for key, value in checked_mapping(argument, names, "names to names").items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ValidationError(f"{argument}: expected names as text, got {key!r} and {value!r}")
        for name in key.split(","):
            found[name.strip().lower()] = value.strip().lower()
    return found


def reachable_files(
    io: FileIO, metadata: TableMetadata, metadata_location: str, snapshot_ids: Collection[int]
) -> _core.ReachableFiles:
    """Return the files of snapshots, and the statistics and metadata files of the version of the table.

    Raises:
        IcebergError: A manifest list or manifest could not be read.
    """
    lists, manifests = manifest_locations(metadata, snapshot_ids)
    others = [metadata_location]
    others += [location for _, location, _ in statistics_of(metadata)]
    others += metadata.metadata_log.column("metadata-file")
    others += [f"{directory}/{VERSION_HINT}" for directory in _hint_directories(metadata)]
    return _core.reachable_files(io.core, lists=lists, manifests=manifests, others=others)


def _hint_directories(metadata: TableMetadata) -> set[str]:
    return {f"{metadata.location.rstrip('/')}/{METADATA_DIRECTORY}", metadata_directory(metadata)}


@dataclass(frozen=True)
class Orphans:
    """Files that a table does not refer to.

    Attributes:
        files: The files, in the columns of `LISTING_SCHEMA`.
        ignored: Files that stay because the table refers to the same path below another scheme or authority.
    """

    files: pa.Table
    ignored: tuple[str, ...]


def find_orphans(  # noqa: PLR0913 - the two sides of the comparison and its rules
    files: pa.Table,
    reachable: _core.ReachableFiles,
    metadata: TableMetadata,
    roots: tuple[str, ...],
    older_than_ms: int,
    prefixes: PrefixRules,
) -> Orphans:
    """Return the files that were modified before a time, have no hidden name and that the table does not refer to.

    Raises:
        ValidationError: The table refers to paths of files below another scheme or authority, and the mode is `error`.
    """
    orphans: list[pa.RecordBatch] = []
    ignored: list[str] = []
    for part in parts_of(files):
        old = part.filter(pc.less(part.column("last_modified_ms"), older_than_ms))
        old = old.filter(pc.invert(is_hidden(old.column("location"), roots, metadata)))
        matches = compare(reachable, old.column("location"), prefixes)
        ambiguous = pc.equal(matches, _OTHER_PREFIX)
        if prefixes.mode != "delete":
            ignored += old.filter(ambiguous).column("location").to_pylist()
        unreachable = pc.equal(matches, 0)
        orphans.append(old.filter(pc.or_(unreachable, ambiguous) if prefixes.mode == "delete" else unreachable))
    if ignored and prefixes.mode == "error":
        raise ValidationError(_mismatch(ignored, reachable))
    return Orphans(pa.Table.from_batches(orphans, LISTING_SCHEMA), tuple(ignored))


def compare(reachable: _core.ReachableFiles, locations: pa.Array, prefixes: PrefixRules) -> pa.UInt8Array:
    """Return 1 for each location that is reachable, 2 for one whose path is reachable below another prefix, else 0."""
    return reachable.compare(
        locations, equal_schemes=prefixes.equal_schemes, equal_authorities=prefixes.equal_authorities
    )


def _mismatch(locations: list[str], reachable: _core.ReachableFiles) -> str:
    shown = "; ".join(
        f"{location} and {' and '.join(reachable.prefixes_of(location))}" for location in locations[:_SHOWN]
    )
    more = f"; and {len(locations) - _SHOWN} more" if len(locations) > _SHOWN else ""
    return (
        f"remove_orphan_files: the table refers to paths of listed files below another scheme or authority: {shown}{more}. Name equal "
        "ones by equal_schemes() and equal_authorities(), keep such files by prefix_mismatch_mode('ignore'), or delete them by 'delete'"
    )
