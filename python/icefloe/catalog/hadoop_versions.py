"""Publishing version files of a hadoop table under names that must not exist yet."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from icefloe.catalog.hadoop_directories import give_name, is_directory_of, new_sibling
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

    The version is written into a hidden directory, which is then renamed to the table's name in one step: a killed writer leaves no
    directory that looks like a namespace.

    Raises:
        CommitFailedException: Another writer has created the table.
        StorageError: Storage failed; the table does not exist.
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
        if _contains(io, published, data):
            return published
        raise
    finally:
        io.core.delete_directory(str(staged))
    # Another writer is creating the table, or was killed while creating it.
    return publish(io, metadata, published)


def publish(io: FileIO, metadata: TableMetadata, location: str) -> str:
    """Publish a version that must not exist yet, then write the hint; return the version's location.

    If a reply is lost after the write took effect, a retry finds its own file. So an existing file is compared with the data before it
    counts as another writer's.

    Raises:
        CommitFailedException: Another writer has published that version.
        CommitStateUnknownException: The write failed, and the file cannot be read to find out whether it took effect.
        StorageError: Storage failed, and the version does not exist.
    """
    data = metadata_bytes(metadata, location)
    try:
        io.core.publish(location, data)
    except StorageError as error:
        if not _contains(io, location, data):
            if isinstance(error, FileAlreadyExistsError):
                raise CommitFailedException(
                    f"{location} already exists: another commit was first; refresh and retry"
                ) from error
            raise
    _write_hint(io, metadata.location, location)
    return location


def is_published(location: str, directory: Path, descriptor: int) -> bool:
    """Return whether a written version is in the table's directory, and not in another directory that has taken its name since.

    Args:
        location: The version.
        directory: The table's directory.
        descriptor: The directory that was opened before the commit.

    Raises:
        CommitStateUnknownException: The directory cannot be read.
    """
    try:
        return is_directory_of(directory, descriptor)
    except StorageError as error:
        raise CommitStateUnknownException(
            f"{location}: unknown whether the commit took effect: the version was written, and then the table's directory could not be "
            f"read; nothing was cleaned up. Refresh the table and check for the change before you repeat it: {error}"
        ) from error


def unpublish(io: FileIO, published: str, directory: Path) -> None:
    """Delete a version that was published into the directory of a table that had just been dropped.

    The directories that the write created are deleted as well, unless they contain another table.
    """
    io.core.delete_many([published])
    if newest_hadoop_location(io, str(directory)) is None:
        io.core.delete_many([f"{directory}/{METADATA_DIRECTORY}/{VERSION_HINT}"])
        for path in (directory / METADATA_DIRECTORY, directory):
            with suppress(OSError):
                path.rmdir()


def _write_hint(io: FileIO, table_location: str, location: str) -> None:
    """Write the version hint. Readers probe for newer versions, so a missing hint costs time only."""
    version = hadoop_version(location)
    directory = f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}"
    try:
        io.core.write(f"{directory}/{VERSION_HINT}", str(version).encode("ascii"), overwrite=True)
        # A checksum file of another writer does not match any more, and would make that writer reject the hint.
        io.core.delete_many([f"{directory}/.{VERSION_HINT}.crc"])
    except StorageError:
        return


def _contains(io: FileIO, location: str, data: bytes) -> bool:
    try:
        return io.core.read(location) == data
    except MissingFileError:
        return False
    except StorageError as error:
        raise CommitStateUnknownException(
            f"{location}: unknown whether the commit took effect: storage reported an error, and reading the file failed; "
            f"nothing was cleaned up. Refresh the table and check for the change before you repeat it: {error}"
        ) from error
