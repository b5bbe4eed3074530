"""Version files of a hadoop table: publishing the next one under a name that must not exist yet, and deleting old ones.

A writer that is slow may publish version N+1 after others published it, went on, and deleted it as old. Old versions are deleted
oldest first, and with every version that is older, so version N, from which the writer started, is gone in that case.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    CorruptFileError,
    FileAlreadyExistsError,
    MissingFileError,
    StorageError,
)
from icefloe.table.metadata.files import (
    METADATA_DIRECTORY,
    VERSION_HINT,
    hadoop_candidates,
    hadoop_version,
    metadata_content,
    read_metadata,
)
from icefloe.table.properties.definitions import DELETE_AFTER_COMMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata

_DELETE_ENABLED = "s3.delete-enabled"
KEEPS_OBJECTS = f"{_DELETE_ENABLED}=false keeps every object"
"""The reason of errors where an object has to be deleted."""


def keeps_objects(io: FileIO, location: str) -> bool:
    """Return whether deletions of objects on S3 do nothing, since the property `s3.delete-enabled` is `false`."""
    scheme, separator, _ = location.partition("://")
    is_s3 = separator != "" and scheme.lower() in ("s3", "s3a", "s3n")
    return is_s3 and io.properties.get(_DELETE_ENABLED, "").lower() == "false"


def retract(io: FileIO, location: str) -> None:
    """Delete a version that lost to another change, and whose name is free only because that change deleted files.

    Raises:
        CommitStateUnknownException: The version cannot be deleted.
    """
    reason = _reason_it_stays(io, location)
    if reason is not None:
        raise CommitStateUnknownException(
            f"{location}: this version lost to another change and cannot be deleted, so that readers may take it for the newest one: "
            f"{reason}. Delete the object, then refresh the table and repeat the change"
        )


def _reason_it_stays(io: FileIO, location: str) -> str | None:
    """Delete an object, and return the reason if it cannot be deleted."""
    failures = io.core.delete_many([location])
    if failures:
        return str(failures[0][1])
    return KEEPS_OBJECTS if keeps_objects(io, location) else None


def publish(io: FileIO, metadata: TableMetadata, location: str) -> str:
    """Publish a version that must not exist yet, and return its location.

    If a reply is lost after the write took effect, a retry finds its own file. So an existing file is compared with the data before it
    counts as another writer's.

    Raises:
        CommitFailedException: Another writer has published that version.
        CommitStateUnknownException: The write failed, and the file cannot be read to find out whether it took effect.
        StorageError: Storage failed, and the version does not exist.
    """
    publish_content(io, metadata_content(metadata, location), location)
    return location


def publish_content(io: FileIO, data: list[bytes], location: str) -> None:
    """As :func:`publish`, for the content of a file in pieces."""
    try:
        io.core.publish(location, data)
    except StorageError as error:
        if not contains(io, location, data):
            if isinstance(error, FileAlreadyExistsError):
                raise CommitFailedException(
                    f"{location} already exists: another commit was first; refresh and retry"
                ) from error
            raise


def is_newest_or_followed(io: FileIO, metadata: TableMetadata, location: str) -> bool:
    """Return whether a version is the newest of its table, or later versions were made from it.

    Used if the version before `location` is gone. A version that neither is has taken the name of an older version, which was deleted,
    and is deleted as well: readers that start from an old hint would take it for the newest.

    Raises:
        CommitStateUnknownException: Later versions have no trace of this one, or it cannot be deleted.
    """
    newest = highest_version(io, metadata.location)
    if newest is None or newest == location:
        return True
    later = read_metadata(io, newest)
    times = {entry.timestamp_ms for entry in later.metadata_log if entry.metadata_file == location}
    if metadata.last_updated_ms in times:
        return True
    if times:
        retract(io, location)
        return False
    reason = _reason_it_stays(io, location)
    advice = (
        ""
        if reason is None
        else f". Delete the object as well, since readers may take it for the newest version: {reason}"
    )
    raise CommitStateUnknownException(
        f"{location}: unknown whether the commit took effect: {newest} is newer, and its log does not reach back; refresh the table "
        f"and check for the change before you repeat it{advice}"
    )


@contextmanager
def checking(location: str) -> Iterator[None]:
    """Raise errors of storage as an unknown outcome, since a version was published before its check.

    Raises:
        CommitStateUnknownException: The version's place among the others cannot be read.
    """
    try:
        yield
    except (StorageError, CorruptFileError) as error:
        raise CommitStateUnknownException(
            f"{location}: unknown whether the commit took effect: the version was written, and checking it against other versions failed; "
            f"nothing was cleaned up. Refresh the table and check for the change before you repeat it: {error}"
        ) from error


def delete_old_versions(io: FileIO, before: TableMetadata, after: TableMetadata) -> None:
    """Delete the versions that a commit dropped from the metadata log, and all older ones, if the table's properties say so.

    Deletion is best effort: the commit has already succeeded. It stops at the first failure, since no version may be missing between
    two others.
    """
    if not DELETE_AFTER_COMMIT.of(after.properties) or keeps_objects(io, after.location):
        return
    logged = {entry.metadata_file for entry in after.metadata_log}
    dropped = _numbered(entry.metadata_file for entry in before.metadata_log if entry.metadata_file not in logged)
    kept = [version for version, _ in _numbered(logged)]
    if not dropped or not kept:
        return
    with suppress(StorageError):
        first = dropped[0][0]
        if any(io.core.exists(location) for location in hadoop_candidates(after.location, first - 1)):
            dropped = _versions(io, after.location)
        own = metadata_directory_of(after.location)
        for version, location in dropped:
            if version >= min(kept) or not location.startswith(f"{own}/") or io.core.delete_many([location]):
                return


def write_hint(io: FileIO, table_location: str, location: str) -> None:
    """Write the version hint. Readers probe for newer versions, so a missing hint costs time only."""
    version = hadoop_version(location)
    directory = metadata_directory_of(table_location)
    try:
        io.core.write(f"{directory}/{VERSION_HINT}", str(version).encode("ascii"), overwrite=True)
        # A checksum file of another writer does not match any more, and would make that writer reject the hint.
        io.core.delete_many([f"{directory}/.{VERSION_HINT}.crc"])
    except StorageError:
        return


def highest_version(io: FileIO, table_location: str) -> str | None:
    """Return the location of the highest version in a directory listing, or None."""
    return max(_versions(io, table_location), default=(0, None))[1]


def metadata_directory_of(table_location: str) -> str:
    """Return the directory of a hadoop table's versions."""
    return f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}"


def contains(io: FileIO, location: str, data: list[bytes]) -> bool:
    """Return whether a file has this content, given in pieces.

    Raises:
        CommitStateUnknownException: The file cannot be read.
    """
    try:
        return io.core.read_unless(location, data) is None
    except MissingFileError:
        return False
    except StorageError as error:
        raise CommitStateUnknownException(
            f"{location}: unknown whether the commit took effect: storage reported an error, and reading the file failed; "
            f"nothing was cleaned up. Refresh the table and check for the change before you repeat it: {error}"
        ) from error


def _versions(io: FileIO, table_location: str) -> list[tuple[int, str]]:
    directory = metadata_directory_of(table_location)
    return _numbered(f"{directory}/{name}" for name in io.core.children(directory)[1])


def _numbered(locations: Iterable[str]) -> list[tuple[int, str]]:
    """Return the metadata files of a hadoop table among files, with their versions, in order."""
    numbered = ((hadoop_version(location), location) for location in locations)
    return sorted((version, location) for version, location in numbered if version is not None)
