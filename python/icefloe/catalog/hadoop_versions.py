"""Version files of a hadoop table, published under names that must be new."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from icefloe.catalog.hadoop_directories import give_name, new_sibling
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    FileAlreadyExistsError,
    MissingFileError,
    StorageError,
)
from icefloe.table.metadata.files import (
    METADATA_DIRECTORY,
    VERSION_HINT,
    hadoop_candidates,
    hadoop_version,
    metadata_bytes,
    newest_hadoop_location,
)

if TYPE_CHECKING:
    from pathlib import Path

    from icefloe.io import FileIO
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata


def create(io: FileIO, metadata: TableMetadata, directory: Path, environment: Environment) -> str:
    """Publish the first version of a table, and return its location.

    It is written into a hidden directory that gets the table's name in one step: a writer that is killed leaves no directory
    that looks like a namespace.

    Raises:
        CommitFailedException: Another writer has created the table.
        StorageError: Storage failed; there is no table.
    """
    published = hadoop_candidates(metadata.location, 1)[0]
    staged = new_sibling(directory, environment)
    data = metadata_bytes(metadata, published)
    try:
        io.core.publish(hadoop_candidates(str(staged), 1)[0], data)
        _write_hint(io, str(staged), published)
        if give_name(staged, directory):
            return published
    except StorageError:
        if _holds(io, published, data):
            return published
        raise
    finally:
        io.core.delete_directory(str(staged))
    # Another writer is about to create the table, or was killed while it did.
    return publish(io, metadata, published)


def publish(io: FileIO, metadata: TableMetadata, location: str) -> str:
    """Publish a version that must not exist yet, then the hint; return its location.

    A reply may be lost after the write took effect, and a client's own retry then meets its own file; so what is there is
    compared before it is called somebody else's.

    Raises:
        CommitFailedException: Another writer has published that version.
        CommitStateUnknownException: Storage does not say what is there now.
        StorageError: Storage failed, and the version is not there.
    """
    data = metadata_bytes(metadata, location)
    try:
        io.core.publish(location, data)
    except StorageError as error:
        if not _holds(io, location, data):
            if isinstance(error, FileAlreadyExistsError):
                raise CommitFailedException(
                    f"{location} exists: another commit was first; refresh and retry"
                ) from error
            raise
    _write_hint(io, metadata.location, location)
    return location


def take_back(io: FileIO, published: str, directory: Path) -> None:
    """Delete a version that was published into the directory of a table that had just been dropped.

    If nobody has created another table there, the directories that the write created go as well.
    """
    io.core.delete_many([published])
    if newest_hadoop_location(io, str(directory)) is None:
        io.core.delete_many([f"{directory}/{METADATA_DIRECTORY}/{VERSION_HINT}"])
        for path in (directory / METADATA_DIRECTORY, directory):
            with suppress(OSError):
                path.rmdir()


def _write_hint(io: FileIO, table_location: str, location: str) -> None:
    """Point readers near the newest version. They probe further by themselves, so a lost hint costs time only."""
    version = hadoop_version(location)
    directory = f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}"
    try:
        io.core.write(f"{directory}/{VERSION_HINT}", str(version).encode("ascii"), overwrite=True)
        # A checksum that another writer left no longer fits, and would make that writer refuse the hint.
        io.core.delete_many([f"{directory}/.{VERSION_HINT}.crc"])
    except StorageError:
        return


def _holds(io: FileIO, location: str, data: bytes) -> bool:
    try:
        return io.core.read(location) == data
    except MissingFileError:
        return False
    except StorageError as error:
        raise CommitStateUnknownException(
            f"{location}: storage did not say whether the commit was published, nor what is there now; nothing was cleaned "
            f"up. Refresh the table and look before trying again: {error}"
        ) from error
