"""A hadoop warehouse on a local file system, where tables are created and dropped by renaming their directory."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from icefloe.catalog.hadoop import directories
from icefloe.catalog.hadoop.directories import ROUNDS, storage_errors
from icefloe.catalog.hadoop.versions import checking, contains, is_newest_or_followed, publish, write_hint
from icefloe.catalog.hadoop.warehouse import Failures, Warehouse
from icefloe.catalog.identifiers import dotted
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    FeatureUnsupportedError,
    MissingFileError,
    StorageError,
    ValidationError,
)
from icefloe.table.metadata.files import (
    LEFTOVER_PREFIX,
    METADATA_DIRECTORY,
    VERSION_HINT,
    hadoop_candidates,
    metadata_content,
    newest_hadoop_location,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier


class LocalWarehouse(Warehouse):
    """Directories of a local file system.

    Raises:
        ValidationError: The location is not an absolute path.
        FeatureUnsupportedError: The location is not local.
    """

    def __init__(self, location: str, io: FileIO, environment: Environment) -> None:
        super().__init__(location, io, environment)
        self._root = local_directory(location)

    def is_table(self, levels: Identifier) -> bool:  # noqa: D102 - described by the interface
        return directories.is_table(self._path(levels))

    def is_namespace(self, levels: Identifier) -> bool:  # noqa: D102
        path = self._path(levels)
        return directories.is_directory(path) and not directories.is_table(path)

    def children(self, levels: Identifier) -> list[str]:  # noqa: D102
        return [child.name for child in directories.children(self._path(levels))]

    def create_namespace(self, levels: Identifier) -> None:  # noqa: D102
        directories.create_directory(self._path(levels))

    def drop_namespace(self, levels: Identifier) -> list[str]:  # noqa: D102
        path = self._path(levels)
        with storage_errors(path):
            others = [child.name for child in path.iterdir() if not child.name.startswith(LEFTOVER_PREFIX)]
        failures = [] if others else directories.delete_leftovers(self.io, path, self.environment)
        if failures:
            raise StorageError(
                f"namespace {dotted(levels)}: cannot drop it, since files of dropped tables could not be deleted: "
                f"{failures[0][0]}: {failures[0][1]}"
            )
        try:
            with storage_errors(path):
                directories.remove_directory(path)
        except StorageError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            with storage_errors(path):
                return others or [child.name for child in path.iterdir()]
        try:
            directories.sync_directory(path.parent)
        except OSError as error:
            raise CommitStateUnknownException(
                f"namespace {dotted(levels)}: its directory is removed, but the removal could not be synced to disk and may be lost in a power "
                f"cut: {error.strerror}"
            ) from error
        return []

    def create_table(self, levels: Identifier, metadata: TableMetadata) -> str:
        """Write the first version into a hidden directory, and rename that to the table's name in one step.

        A killed writer leaves no directory that looks like a namespace. A client that drops the namespace takes the hidden directory by
        a rename as well: the table is written again if the namespace still exists then.

        Raises:
            CommitFailedException: Another writer has created the table.
            MissingFileError: The namespace does not exist; nothing was created.
            StorageError: Storage failed; the table does not exist.
        """
        path = self._path(levels)
        published = hadoop_candidates(metadata.location, 1)[0]
        data = metadata_content(metadata, published)
        files = {published.rsplit("/", 1)[-1]: b"".join(data), VERSION_HINT: b"1"}
        for _ in range(ROUNDS):
            staged = directories.new_sibling(path, self.environment)
            try:
                directories.create_filled(staged, METADATA_DIRECTORY, files)
                if not directories.give_name(staged, path):
                    self._publish_into(path, metadata, published)
            except StorageError as error:
                if contains(self.io, published, data):
                    return published
                if not isinstance(error, MissingFileError) or not directories.is_directory(path.parent):
                    raise
            else:
                return published
            finally:
                self.io.core.delete_directory(str(staged))
        raise StorageError(
            f"table {dotted(levels)}: cannot create it, since another client drops its namespace again and again; repeat the creation"
        )

    def _publish_into(self, path: Path, metadata: TableMetadata, published: str) -> None:
        """Publish the first version into a directory with content: the files of a transaction, or another writer's.

        Raises:
            CommitFailedException: Another writer has created the table.
            MissingFileError: The directory was dropped before the file was published.
        """
        descriptor = directories.open_directory(path)
        try:
            publish(self.io, metadata, published)
            self._check_not_dropped(self.io, published, path, descriptor)
        finally:
            os.close(descriptor)
        write_hint(self.io, metadata.location, published)

    def remove_empty(self, levels: Identifier) -> None:
        """Remove the empty directories of a table that was not created, unless another writer has created it."""
        if self.newest(levels) is None:
            directories.remove_empty(self._path(levels))

    @contextmanager
    def committing(  # noqa: D102
        self, levels: Identifier
    ) -> Iterator[Callable[[FileIO, TableMetadata, tuple[str, str]], None]]:
        path = self._path(levels)
        # An open descriptor identifies the directory: a drop during the commit is detected even if the table is created again.
        descriptor = directories.open_directory(path)

        def publish_next(io: FileIO, metadata: TableMetadata, locations: tuple[str, str]) -> None:
            base, location = locations
            publish(io, metadata, location)
            self._check_not_dropped(io, location, path, descriptor)
            with checking(location):
                counts = io.core.exists(base) or is_newest_or_followed(io, metadata, location)
            if not counts:
                raise CommitFailedException(f"{location}: other commits were first; refresh and retry")
            write_hint(io, metadata.location, location)

        try:
            yield publish_next
        finally:
            os.close(descriptor)

    def drop_table(self, levels: Identifier) -> Failures:
        """Rename the table's directory to a hidden name, which drops the table, then delete its content.

        Raises:
            MissingFileError: The table does not exist.
            ValidationError: The directory contains another table or is a link.
        """
        path = self._path(levels)
        if self.newest(levels) is None:
            raise MissingFileError(f"{path}: there is no table")
        if path.is_symlink():
            raise ValidationError(
                f"table {dotted(levels)}: cannot drop it, since {path} is a link to {os.path.realpath(path)}; delete the "
                "link and its target yourself"
            )
        for below in directories.tables_below(path):
            raise ValidationError(
                f"table {dotted(levels)}: its directory contains another table, {below}; drop that table first"
            )
        directories.hide(path, self.environment)
        return directories.delete_dropped(self.io, path.parent)

    def is_location_of(self, recorded: str, levels: Identifier) -> bool:  # noqa: D102
        try:
            path = local_directory(recorded)
        except FeatureUnsupportedError:
            return False
        return os.path.realpath(path) == os.path.realpath(self._path(levels))

    def _path(self, levels: Identifier) -> Path:
        self.location_of(levels)
        return self._root.joinpath(*levels)

    def _check_not_dropped(self, io: FileIO, published: str, path: Path, descriptor: int) -> None:
        """Delete a published version and raise if the table's directory was replaced during the commit."""
        with checking(published):
            if directories.is_directory_of(path, descriptor):
                return
        _unpublish(io, published, path)
        raise MissingFileError(f"{path}: the table was dropped during the commit")


def local_directory(warehouse: str) -> Path:
    """Return the path of a local location.

    Raises:
        ValidationError: The path is relative.
        FeatureUnsupportedError: The location is not local.
    """
    parts = urlsplit(warehouse)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise FeatureUnsupportedError(
            f"hadoop catalog at {warehouse}: {parts.scheme}:// is not supported; expected a local directory, or a location on S3, Google "
            "Cloud Storage or Azure"
        )
    path = Path(unquote(parts.path) if parts.scheme == "file" else warehouse)
    if not path.is_absolute():
        raise ValidationError(
            f"hadoop catalog at {warehouse}: expected an absolute path after file:, or a path without it"
        )
    return path


def _unpublish(io: FileIO, published: str, directory: Path) -> None:
    """Delete a version that was published into the directory of a table that had just been dropped.

    The directories that the write created are deleted as well, unless they contain another table.
    """
    io.core.delete_many([published])
    if newest_hadoop_location(io, str(directory)) is None:
        io.core.delete_many([f"{directory}/{METADATA_DIRECTORY}/{VERSION_HINT}"])
        for path in (directory / METADATA_DIRECTORY, directory):
            with suppress(OSError):
                path.rmdir()
