"""Deleting the files of a dropped table.

The drop has already succeeded, so failures to read or delete a file are not errors but a warning.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import IcebergError, LeftoverFilesWarning
from icefloe.table.maintenance.deletion import CONTENT_KINDS, delete_files, file_table
from icefloe.table.maintenance.locations import is_below, table_roots
from icefloe.table.maintenance.snapshot_files import kinds_as_text, manifest_locations, statistics_of
from icefloe.table.metadata.files import LEFTOVER_PREFIX, metadata_directory
from icefloe.table.properties.definitions import DATA_PATH

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table import Table

Failures = list[tuple[str, str]]

# The number of files in a warning's text; its attribute `files` has all.
_LISTED_FILES = 3


def delete_table_files(table: Table) -> None:
    """Delete the data, delete, manifest, list, statistics and metadata files of every snapshot, and the leftovers of killed writers.

    Only files below the table's own locations are deleted, not files elsewhere that it refers to, such as added files. A
    LeftoverFilesWarning lists the files that could not be read or deleted.
    """
    files, failures = _files(table)
    log = [*table.metadata.metadata_log.column("metadata-file"), table.metadata_location]
    others = [*statistics_of(table.metadata), *(("metadata", location, None) for location in dict.fromkeys(log))]
    everything = pa.concat_tables([files, file_table(others)])
    failures += delete_files(table.io, everything, table_roots(table.metadata)).failures
    failures += _delete_leftovers(table)
    warn_of_leftovers(".".join(table.name()), failures)


def files_elsewhere(table: Table) -> list[str]:
    """Return the table's data and delete files below its `write.data.path` but not below its location."""
    path = DATA_PATH.of(table.properties)
    if path is None or is_below([path], [table.location()])[0].as_py():
        return []
    files, _ = _files(table)
    content = files.filter(pc.is_in(files.column("kind"), pa.array(CONTENT_KINDS)))
    locations = content.column("location").combine_chunks()
    elsewhere = pc.and_not(is_below(locations, [path]), is_below(locations, [table.location()]))
    found: list[str] = locations.filter(elsewhere).to_pylist()
    return found


def delete_files_elsewhere(io: FileIO, files: list[str]) -> Failures:
    """Delete files, and return ``(location, reason)`` of each that could not be deleted."""
    return _delete(io, files)


def warn_of_leftovers(name: str, failures: Failures) -> None:
    """Issue a LeftoverFilesWarning if files of a dropped table could not be deleted."""
    if not failures:
        return
    listed = "; ".join(
        f"{location}: {reason.removeprefix(f'{location}: ')}" for location, reason in failures[:_LISTED_FILES]
    )
    more = f"; and {len(failures) - _LISTED_FILES} more" if len(failures) > _LISTED_FILES else ""
    message = f"table {name} is dropped, but not all of its files could be deleted: {listed}{more}"
    warnings.warn(LeftoverFilesWarning(message, tuple(failures)), stacklevel=4)


def _delete(io: FileIO, paths: list[str]) -> Failures:
    return list(io.core.delete_many(paths)) if paths else []


def _delete_leftovers(table: Table) -> Failures:
    """Delete temporary files of killed writers, which exist only on storage where complete files are renamed."""
    directory = metadata_directory(table.metadata)
    if "://" in directory and not directory.startswith("file:"):
        return []
    try:
        found = table.io.core.list(f"{directory}/").column("location").to_pylist()
    except IcebergError as error:
        return [(directory, str(error))]
    return _delete(table.io, [path for path in found if path.rsplit("/", 1)[-1].startswith(LEFTOVER_PREFIX)])


def _files(table: Table) -> tuple[pa.Table, Failures]:
    """Return the files that snapshots refer to, and the failures to read them; a missing list or manifest is no failure."""
    metadata = table.metadata
    lists, manifests = manifest_locations(metadata, metadata.snapshots.positions().keys())
    found = _core.files_of_snapshots(
        table.io.core, lists=lists, manifests=manifests, kept_lists=[], kept_manifests=[], with_deleted=True
    )
    failures = [
        (location, f"files that only it lists were not deleted: {reason}")
        for location, reason, is_missing in found.unread
        if not is_missing
    ]
    return kinds_as_text(found.files), failures
