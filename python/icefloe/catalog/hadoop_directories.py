"""Directories of a hadoop catalog: listed, created and removed in one step, with errors of the package."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from icefloe.exceptions import FileAlreadyExistsError, MissingFileError, StorageError
from icefloe.table.metadata.files import DATA_DIRECTORY, LEFTOVER_PREFIX, METADATA_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from icefloe.io import FileIO
    from icefloe.table.environment import Environment

NEW_PREFIX = f"{LEFTOVER_PREFIX}new-"
"""Begins the name of a table directory that has not got its own name yet."""
DROPPED_PREFIX = f"{LEFTOVER_PREFIX}dropped-"
"""Begins the name of a dropped table's directory, for as long as its files are being deleted."""

Failures = list[tuple[str, str]]


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of the operating system about `path` as errors of the package, with the original as the cause."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        kind = {errno.ENOENT: MissingFileError, errno.EEXIST: FileAlreadyExistsError}.get(
            error.errno or 0, StorageError
        )
        raised = kind(f"{path}: {error.strerror}")
        raised.errno = error.errno
        raise raised from error


def is_table(directory: Path) -> bool:
    """Return whether a directory has table metadata; leftovers of killed writers and checksums are none."""
    with storage_errors(directory):
        try:
            names = [path.name for path in (directory / METADATA_DIRECTORY).iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return False
    return any(name.endswith((".metadata.json", ".metadata.json.gz")) and not name.startswith(".") for name in names)


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory or a link to one."""
    with storage_errors(path):
        return path.is_dir()


def children(directory: Path) -> list[Path]:
    """Return the directories in a directory, without hidden ones; none if there is no such directory."""
    with storage_errors(directory):
        try:
            found = list(directory.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [child for child in found if not child.name.startswith(".") and child.is_dir()]


def tables_below(directory: Path) -> Iterator[Path]:
    """Yield the tables in a directory and in the namespaces below it, without the targets of links."""
    for child in children(directory):
        if child.is_symlink():
            continue
        if is_table(child):
            yield child
        elif child.name not in (METADATA_DIRECTORY, DATA_DIRECTORY):
            yield from tables_below(child)


def create_directory(directory: Path) -> None:
    """Create a directory and those above it, each of them on disk when the call returns.

    Raises:
        FileAlreadyExistsError: There is a file or a directory of that name.
        StorageError: The operating system refused.
    """
    with storage_errors(directory):
        above = [path for path in directory.parents if not path.exists()]
        directory.mkdir(parents=True)
        for path in (directory, *above):
            sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Have the entries of a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def new_sibling(directory: Path, environment: Environment) -> Path:
    """Return the path beside a directory under which it can be filled before it gets its name."""
    return directory.parent / f"{NEW_PREFIX}{environment.new_uuid()}"


def give_name(staged: Path, directory: Path) -> bool:
    """Rename a directory in one step, unless there is a directory with something in it; return whether that was done.

    Raises:
        StorageError: The operating system refused.
    """
    with storage_errors(directory):
        try:
            os.rename(staged, directory)  # noqa: PTH104 - its errors name both paths
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
        sync_directory(directory.parent)
    return True


def hide(directory: Path, environment: Environment) -> None:
    """Rename a directory, in one step, to a name that is neither a table nor a namespace.

    Raises:
        MissingFileError: There is no such directory.
        StorageError: The operating system refused; nothing has changed.
    """
    with storage_errors(directory):
        os.rename(directory, directory.parent / f"{DROPPED_PREFIX}{environment.new_uuid()}")  # noqa: PTH104 - its errors name both paths


def delete_dropped(io: FileIO, parent: Path) -> Failures:
    """Delete the hidden directories of dropped tables: of the last drop, and of drops that were killed.

    Nothing is deleted before the rename that hid it is on disk: after a power cut the table would be back, without its files.

    Returns:
        What could not be deleted, with the reason.
    """
    try:
        sync_directory(parent)
    except OSError as error:
        return [(str(parent), f"nothing was deleted, for the drop is not known to be on disk: {error.strerror}")]
    return _delete_children(io, parent, DROPPED_PREFIX)


def delete_leftovers(io: FileIO, parent: Path) -> Failures:
    """Delete everything that killed writers and drops left in a directory that holds no tables and namespaces.

    Returns:
        What could not be deleted, with the reason.
    """
    return _delete_children(io, parent, LEFTOVER_PREFIX)


def _delete_children(io: FileIO, parent: Path, prefix: str) -> Failures:
    try:
        found = [child for child in parent.iterdir() if child.name.startswith(prefix)]
    except OSError as error:
        return [(str(parent), str(error.strerror))]
    failures: Failures = []
    for child in found:
        # Without its metadata no engine takes the rest for a table.
        io.core.delete_directory(str(child / METADATA_DIRECTORY))
        failures += io.core.delete_directory(str(child))
    return failures
