"""Deleting the files of a dropped table.

The drop has already succeeded, so failures to read or delete a file are not errors but a warning.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.exceptions import IcebergError, LeftoverFilesWarning, MissingFileError
from icefloe.table.metadata.files import LEFTOVER_PREFIX, metadata_directory
from icefloe.table.properties.definitions import DATA_PATH
from icefloe.table.read_context import schema_json, specs_json

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table import Table

Failures = list[tuple[str, str]]

# The number of files in a warning's text; its attribute `files` has all.
_LISTED_FILES = 3


def delete_table_files(table: Table) -> None:
    """Delete the data, delete, manifest, list and metadata files of every snapshot, and the leftovers of killed writers.

    Only files below the table's own locations are deleted, not files elsewhere that it refers to, such as added files. A
    LeftoverFilesWarning lists the files that could not be read or deleted.
    """
    roots = _roots(table)
    manifests, failures = _manifests(table)
    files, unread = _file_paths(table, manifests)
    failures += unread
    lists = [snapshot.manifest_list for snapshot in table.snapshots() if snapshot.manifest_list is not None]
    log = [entry.metadata_file for entry in table.metadata.metadata_log]
    for paths in (files, manifests.column("manifest_path").to_pylist(), lists, [*log, table.metadata_location]):
        failures += _delete(table.io, [path for path in paths if _is_below(path, roots)])
    failures += _delete_leftovers(table)
    warn_of_leftovers(".".join(table.name()), failures)


def files_elsewhere(table: Table) -> list[str]:
    """Return the table's data and delete files below its `write.data.path` but not below its location."""
    path = DATA_PATH.of(table.properties)
    own = table.location().rstrip("/") + "/"
    if path is None or f"{path.rstrip('/')}/".startswith(own):
        return []
    files, _ = _file_paths(table, _manifests(table)[0])
    return [file for file in files if _is_below(file, (path.rstrip("/") + "/",)) and not file.startswith(own)]


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


def _roots(table: Table) -> tuple[str, ...]:
    roots = [table.location(), metadata_directory(table.metadata)]
    data = DATA_PATH.of(table.properties)
    if data is not None:
        roots.append(data)
    return tuple(root.rstrip("/") + "/" for root in roots)


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return path.startswith(roots) and "/../" not in path


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


def _manifests(table: Table) -> tuple[pa.Table, Failures]:
    """Return the distinct manifests of all snapshots, and the failures to read them."""
    found, failures = [_core.describe_manifests(table.io.core, [])], Failures()
    for snapshot in table.snapshots():
        try:
            found += snapshot.manifest_rows(table.io).to_batches()
        except MissingFileError:  # noqa: PERF203 - each may fail by itself
            continue
        except IcebergError as error:
            failures.append((str(snapshot.manifest_list), f"files that only it lists were not deleted: {error}"))
    rows = pa.Table.from_batches(found)
    first = pa.table({"path": rows.column("manifest_path"), "row": pa.array(range(rows.num_rows), pa.int64())})
    return rows.take(first.group_by("path").aggregate([("row", "min")]).column("row_min")), failures


def _file_paths(table: Table, manifests: pa.Table) -> tuple[list[str], Failures]:
    """Return the paths in manifests, and the failures to read them. Manifests are read together, and one by one after an error."""
    try:
        return _paths_in(table, manifests), []
    except IcebergError:
        found, failures = list[str](), Failures()
    for row in range(manifests.num_rows):
        try:
            found += _paths_in(table, manifests.slice(row, 1))
        except MissingFileError:  # noqa: PERF203 - each may fail by itself
            continue
        except IcebergError as error:
            failures.append(
                (manifests.column("manifest_path")[row].as_py(), f"files that only it lists were not deleted: {error}")
            )
    return list(dict.fromkeys(found)), failures


def _paths_in(table: Table, manifests: pa.Table) -> list[str]:
    entries = _core.read_manifest(
        table.io.core, manifests, schema=schema_json(table.schema()), specs=specs_json(table.metadata), keep="all"
    )
    paths: list[str] = entries.column("file_path").unique().to_pylist()
    return paths
