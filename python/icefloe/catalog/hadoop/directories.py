"""Directories of a hadoop catalog: listing, creating and removing them atomically, with icefloe's errors."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from icefloe.exceptions import CommitStateUnknownException, FileAlreadyExistsError, MissingFileError, StorageError
from icefloe.table.metadata.files import DATA_DIRECTORY, LEFTOVER_PREFIX, METADATA_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from icefloe.catalog.hadoop.warehouse import Failures
    from icefloe.io import FileIO
    from icefloe.table.environment import Environment

NEW_PREFIX = f"{LEFTOVER_PREFIX}new-"
"""Prefix of a new table directory before it is renamed to the table's name."""
DROPPED_PREFIX = f"{LEFTOVER_PREFIX}dropped-"
"""Prefix of a dropped table's directory until its files are deleted."""
ROUNDS = 10
"""Attempts to delete a directory to which another process may still add a file."""


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of the operating system about `path` as icefloe's errors, with the original as the cause."""
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
    """Return whether a directory has table metadata; checksums and leftovers of killed writers do not count."""
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
    """Return the directories in a directory, without hidden ones; empty if it does not exist."""
    with storage_errors(directory):
        try:
            found = list(directory.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [child for child in found if not child.name.startswith(".") and child.is_dir()]


def tables_below(directory: Path) -> Iterator[Path]:
    """Yield the tables in a directory and in the namespaces below it; links are not followed."""
    for child in children(directory):
        if child.is_symlink():
            continue
        if is_table(child):
            yield child
        elif child.name not in (METADATA_DIRECTORY, DATA_DIRECTORY):
            yield from tables_below(child)


def create_directory(directory: Path) -> None:
    """Create a directory and its missing parents, and sync each to disk.

    Raises:
        FileAlreadyExistsError: A file or directory of this name exists.
        StorageError: The operating system reported an error. No directory was created, unless its removal failed as well.
        CommitStateUnknownException: The operating system reported an error, and the directory exists.
    """
    with storage_errors(directory):
        above = [path for path in directory.parents if not path.exists()]
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            raise
        except OSError as error:
            # The directory may be another client's, so that it stays.
            if directory.is_dir():
                raise CommitStateUnknownException(
                    f"{directory}: the directory exists, although the operating system reported an error when it was created: {error.strerror}"
                ) from error
            raise
        try:
            for path in (directory, *above):
                sync_directory(path.parent)
        except OSError:
            # A reported failure leaves nothing. A directory that another process has filled since stays.
            for path in (directory, *above):
                with suppress(OSError):
                    path.rmdir()
            raise


def remove_directory(directory: Path) -> None:
    """Remove an empty directory, also if a network file system loses the reply of the removal."""
    try:
        directory.rmdir()
    except FileNotFoundError:
        raise
    except OSError:
        if directory.exists():
            raise


def remove_empty(directory: Path) -> None:
    """Remove a directory and the directories in it, unless they contain files."""
    for path, _, _ in os.walk(directory, topdown=False):
        with suppress(OSError):
            os.rmdir(path)  # noqa: PTH106 - a path of os.walk


def sync_directory(directory: Path) -> None:
    """Sync the entries of a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_directory(directory: Path) -> int:
    """Return an open descriptor, which identifies a directory even after a rename; the caller closes it.

    Raises:
        MissingFileError: The directory does not exist.
    """
    with storage_errors(directory):
        return os.open(directory, os.O_RDONLY)


def is_directory_of(directory: Path, descriptor: int) -> bool:
    """Return whether a path names the directory of an open descriptor."""
    with storage_errors(directory):
        try:
            return os.path.samestat(os.stat(directory), os.fstat(descriptor))  # noqa: PTH116 - beside fstat
        except FileNotFoundError:
            return False


def new_sibling(directory: Path, environment: Environment) -> Path:
    """Return a path beside a directory, to be filled and then renamed to it."""
    return directory.parent / f"{NEW_PREFIX}{environment.new_uuid()}"


def create_filled(staged: Path, inner: str, files: dict[str, bytes]) -> None:
    """Create a directory with a directory inside that contains files, and sync all to disk.

    Files are created by descriptors of their directories: after a rename of the new directory no missing directory is created.

    Args:
        staged: The directory to create; the directory above exists.
        inner: The name of the directory inside.
        files: The content of each file, by name.

    Raises:
        MissingFileError: The directory above does not exist, or the new directory was deleted after it was created.
        StorageError: The operating system reported an error.
    """
    with storage_errors(staged):
        os.mkdir(staged)  # noqa: PTH102 - beside mkdir by descriptor
        with _opened(staged) as outer:
            os.mkdir(inner, dir_fd=outer)
            with _opened(inner, outer) as directory:
                for name, data in files.items():
                    _write_new(name, data, directory)
                os.fsync(directory)
            os.fsync(outer)


def give_name(staged: Path, directory: Path) -> bool:
    """Rename `staged` to `directory` in one step, unless that is a directory with content; return whether it was renamed.

    Raises:
        MissingFileError: The staged directory does not exist any more.
        StorageError: The operating system reported an error.
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


@contextmanager
def _opened(path: Path | str, above: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_new(name: str, data: bytes, directory: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def hide(directory: Path, environment: Environment) -> None:
    """Rename a directory in one step to a hidden name, which is neither a table nor a namespace.

    Raises:
        MissingFileError: The directory does not exist.
        StorageError: The operating system reported an error; nothing has changed.
    """
    hidden = directory.parent / f"{DROPPED_PREFIX}{environment.new_uuid()}"
    with storage_errors(directory):
        try:
            os.rename(directory, hidden)  # noqa: PTH104 - its errors name both paths
        except OSError:
            # A network file system may lose the reply of a rename that took effect.
            if not hidden.is_dir():
                raise


def delete_dropped(io: FileIO, parent: Path) -> Failures:
    """Delete the hidden directories of dropped tables, also of earlier drops that were killed.

    The rename is synced to disk first: after a power cut the table would otherwise reappear without its files.

    Returns:
        The path and reason of each failed deletion.
    """
    try:
        sync_directory(parent)
    except OSError as error:
        return [(str(parent), f"nothing was deleted, since the drop could not be synced to disk: {error.strerror}")]
    return _delete_children(io, parent, DROPPED_PREFIX)


def delete_leftovers(io: FileIO, parent: Path, environment: Environment) -> Failures:
    """Delete the leftovers of killed writers and drops in a directory without tables and namespaces.

    The directory of a new table, which its writer may not have completed, is renamed before its files are deleted: either its writer renames it to
    the name of the table, or it is renamed here.

    Returns:
        The path and reason of each failed deletion.
    """
    failures: Failures = []
    for _ in range(ROUNDS):
        try:
            found = [child for child in parent.iterdir() if child.name.startswith(NEW_PREFIX)]
            for child in found:
                with suppress(FileNotFoundError):
                    os.rename(child, parent / f"{DROPPED_PREFIX}{environment.new_uuid()}")  # noqa: PTH104 - beside others
        except OSError as error:
            return [(str(parent), str(error.strerror))]
        failures = _delete_children(io, parent, LEFTOVER_PREFIX, except_for=NEW_PREFIX)
        if not failures:
            break
        # The writer of a new table may have added a file to a directory that was being deleted.
    return failures


def _delete_children(io: FileIO, parent: Path, prefix: str, except_for: str | None = None) -> Failures:
    try:
        found = [child for child in parent.iterdir() if child.name.startswith(prefix)]
    except OSError as error:
        return [(str(parent), str(error.strerror))]
    failures: Failures = []
    for child in found:
        if except_for is not None and child.name.startswith(except_for):
            continue
        # Metadata is deleted first: a directory without it is not a table to any engine.
        io.core.delete_directory(str(child / METADATA_DIRECTORY))
        failures += io.core.delete_directory(str(child))
    return failures
