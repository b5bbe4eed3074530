"""The interface of a hadoop catalog to the directories of its storage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.metadata.files import newest_hadoop_location

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from icefloe.io import FileIO
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier

Failures = list[tuple[str, str]]
"""The location and reason of each failed deletion."""
MAX_NAME_BYTES = 255


class Warehouse(ABC):
    """Directories of namespaces and tables, one below the other.

    Args:
        location: The location of the directory above all.
        io: Access to the storage.
        environment: Randomness.
    """

    def __init__(self, location: str, io: FileIO, environment: Environment) -> None:
        self.location = location.rstrip("/")
        self.io = io
        self.environment = environment

    def location_of(self, levels: Identifier) -> str:
        """Return the location of a namespace or table.

        Raises:
            ValidationError: A level cannot be the name of a directory.
        """
        for level in levels:
            if "/" in level or "\0" in level or level.startswith("."):
                raise ValidationError(
                    f"{level!r} cannot be a directory name in a hadoop catalog; expected no slash, no null character, and no dot at the "
                    "beginning, which hides a directory"
                )
            if len(level.encode("utf-8")) > MAX_NAME_BYTES:
                raise ValidationError(
                    f"{level!r} cannot be a directory name; expected at most {MAX_NAME_BYTES} bytes of UTF-8, got "
                    f"{len(level.encode('utf-8'))}"
                )
        return "/".join([self.location, *levels])

    def newest(self, levels: Identifier) -> str | None:
        """Return the location of the newest version of a table, or None if the table does not exist."""
        return newest_hadoop_location(self.io, self.location_of(levels))

    @abstractmethod
    def is_table(self, levels: Identifier) -> bool:
        """Return whether a directory is a table."""

    @abstractmethod
    def is_namespace(self, levels: Identifier) -> bool:
        """Return whether a directory exists and is not a table."""

    @abstractmethod
    def children(self, levels: Identifier) -> list[str]:
        """Return the names of the directories in a directory, without hidden ones; empty if it does not exist."""

    @abstractmethod
    def create_namespace(self, levels: Identifier) -> None:
        """Create a directory and its missing parents.

        Raises:
            FileAlreadyExistsError: The directory exists.
        """

    @abstractmethod
    def drop_namespace(self, levels: Identifier) -> list[str]:
        """Remove a directory, or return the names in it if it is not empty.

        Raises:
            StorageError: Leftovers of dropped tables in it cannot be deleted.
        """

    @abstractmethod
    def create_table(self, levels: Identifier, metadata: TableMetadata) -> str:
        """Publish the first version of a table, and return its location.

        Raises:
            CommitFailedException: Another writer has created the table.
            StorageError: Storage failed; the table does not exist.
        """

    def remove_empty(self, levels: Identifier) -> None:  # noqa: B027 - object stores have no directories
        """Remove the empty directories of a table that was not created."""

    @abstractmethod
    def committing(
        self, levels: Identifier
    ) -> AbstractContextManager[Callable[[FileIO, TableMetadata, tuple[str, str]], None]]:
        """Return a block that reads the newest version and publishes the next one, by the function that it gets.

        The function is given the storage of the table, the metadata of the new version, and the locations of the newest version and of
        the new one. Block and function raise MissingFileError if the table does not exist, or was dropped since the block began.
        """

    @abstractmethod
    def drop_table(self, levels: Identifier) -> Failures:
        """Remove a table in one step, then delete its files.

        Raises:
            MissingFileError: The table does not exist.
            ValidationError: The table cannot be dropped, since its directory contains another table or is a link.
        """

    @abstractmethod
    def is_location_of(self, recorded: str, levels: Identifier) -> bool:
        """Return whether the location in a table's metadata is the table's directory."""
