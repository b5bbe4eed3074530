"""A hadoop warehouse on an object store, where the only atomic step is to create an object that does not exist yet.

A namespace is a marker object. A table is dropped by publishing a last version, the mark of a drop, with the name that the next commit
would take, so that drops and commits order themselves. The mark is deleted after all other files.

With `s3.delete-enabled=false` the mark and all other files stay. Only a commit or creation that overlaps with deletions by another client
needs to delete an object, its own version.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from icefloe.catalog.hadoop.versions import (
    KEEPS_OBJECTS,
    checking,
    highest_version,
    is_newest_or_followed,
    keeps_objects,
    metadata_directory_of,
    publish,
    publish_content,
    retract,
    write_hint,
)
from icefloe.catalog.hadoop.warehouse import Failures, Warehouse
from icefloe.catalog.identifiers import dotted
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    CorruptFileError,
    FeatureUnsupportedError,
    FileAlreadyExistsError,
    MissingFileError,
    StorageError,
    ValidationError,
)
from icefloe.table.metadata.files import (
    LEFTOVER_PREFIX,
    METADATA_DIRECTORY,
    hadoop_candidates,
    hadoop_location,
    hadoop_version,
    newest_hadoop_location,
    read_metadata,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier

SCHEMES = ("s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "az")
MARKER = f"{LEFTOVER_PREFIX}namespace"
DROP_MARK = '{{"dropped-by-icefloe":"{0}"}}'
MARK_SIZE = len(DROP_MARK.format("0" * 36))
"""Bytes of the mark of a drop: no metadata file is that short."""
ROUNDS = 10
_NOT_IN_KEYS = re.compile("[\\\\\x00-\x1f\x7f\ufffe\uffff]")
"""Azure takes backslashes for slashes, clients refuse control characters, and XML, in which keys are listed, has no non-characters."""


class ObjectWarehouse(Warehouse):
    """Objects with the keys of a warehouse."""

    def location_of(self, levels: Identifier) -> str:
        """Return the location of a namespace or table.

        Raises:
            ValidationError: A level cannot be a part of a key on every object store.
        """
        for level in levels:
            if _NOT_IN_KEYS.search(level):
                raise ValidationError(
                    f"{level!r} cannot be a directory name in a hadoop catalog on an object store; expected no backslash, no control "
                    "character and neither U+FFFE nor U+FFFF, which listings cannot contain"
                )
        return super().location_of(levels)

    def newest(self, levels: Identifier) -> str | None:
        """Return the location of the newest version of a table, or None if the table does not exist or is being dropped."""
        location = self._last(levels)
        return None if location is None or self._is_mark(location) else location

    def is_table(self, levels: Identifier) -> bool:  # noqa: D102 - described by the interface
        return self.newest(levels) is not None

    def is_namespace(self, levels: Identifier) -> bool:  # noqa: D102
        return self._exists(levels) and self._last(levels) is None

    def children(self, levels: Identifier) -> list[str]:  # noqa: D102
        found = self.io.core.children(self.location_of(levels))[0]
        return [name for name in found if not name.startswith(".")]

    def create_namespace(self, levels: Identifier) -> None:  # noqa: D102
        location = self.location_of(levels)
        if self._exists(levels):
            raise FileAlreadyExistsError(f"{location}: exists")
        self.io.core.publish(f"{location}/{MARKER}", b"")

    def drop_namespace(self, levels: Identifier) -> list[str]:  # noqa: D102
        location = self.location_of(levels)
        if self._keeps_objects:
            raise FeatureUnsupportedError(
                f"namespace {dotted(levels)}: cannot drop it, since the drop deletes {location}/{MARKER}, and {KEEPS_OBJECTS}; drop it with a "
                "catalog without this property"
            )
        inner, files = self.io.core.children(location)
        others = [*inner, *(name for name in files if name != MARKER)]
        if others:
            return others
        failures = self.io.core.delete_many([f"{location}/{MARKER}"])
        if failures:
            raise StorageError(f"namespace {dotted(levels)}: cannot drop it: {failures[0][1]}")
        try:
            remains = self._exists(levels)
            inner, files = self.io.core.children(location) if remains else ([], [])
        except StorageError as error:
            raise CommitStateUnknownException(
                f"namespace {dotted(levels)}: its marker is deleted, but storage could not be read afterwards, so it is unknown whether another "
                f"client has created a table in it since: {error}"
            ) from error
        if not remains:
            return []
        if not inner and not files:
            raise StorageError(
                f"namespace {dotted(levels)}: cannot drop it, since {location}/ is a directory marker of another program; delete it "
                "with that program"
            )
        # Another client created a table after the first listing: the namespace stays.
        if MARKER not in files:
            with suppress(FileAlreadyExistsError):
                self.io.core.publish(f"{location}/{MARKER}", b"")
        return [*inner, *files]

    def create_table(self, levels: Identifier, metadata: TableMetadata) -> str:  # noqa: D102
        last = self._last(levels)
        if last is not None and self._is_mark(last):
            if self._keeps_objects:
                raise ValidationError(
                    f"table {dotted(levels)}: a table of this name was dropped and has left its files, since {KEEPS_OBJECTS}; choose another "
                    "name, or call drop_table() of a catalog without this property, which deletes the files"
                )
            raise ValidationError(
                f"table {dotted(levels)}: it is being dropped, or its drop was interrupted; call drop_table() to complete the drop"
            )
        if last is not None:
            raise CommitFailedException(f"{last}: another writer has created the table")
        published = hadoop_candidates(metadata.location, 1)[0]
        publish(self.io, metadata, published)
        with checking(published):
            highest = highest_version(self.io, metadata.location)
            is_own = highest in (None, published) or self._is_of(str(highest), metadata)
        if not is_own:
            # The name was free because a drop of another table has begun.
            retract(self.io, published)
            raise CommitFailedException(f"{published}: another writer has created the table")
        write_hint(self.io, metadata.location, published)
        return published

    @contextmanager
    def committing(  # noqa: D102
        self, levels: Identifier
    ) -> Iterator[Callable[[FileIO, TableMetadata, tuple[str, str]], None]]:
        def publish_next(io: FileIO, metadata: TableMetadata, locations: tuple[str, str]) -> None:
            base, location = locations
            publish(io, metadata, location)
            with checking(location):
                is_dropped, counts = False, io.core.exists(base)
                if not counts:
                    is_dropped = self._is_dropped(io, metadata, location)
                    counts = not is_dropped and is_newest_or_followed(io, metadata, location)
            if is_dropped:
                retract(io, location)
                raise MissingFileError(f"{metadata.location}: the table was dropped during the commit")
            if not counts:
                raise CommitFailedException(f"{location}: other commits were first; refresh and retry")
            write_hint(io, metadata.location, location)

        yield publish_next

    def drop_table(self, levels: Identifier) -> Failures:  # noqa: D102
        location = self.location_of(levels)
        if self._keeps_objects:
            if self.newest(levels) is None:
                raise MissingFileError(f"{location}: there is no table")
            self._mark(levels)
            return []
        mark = self._mark(levels)
        failures: Failures = []
        try:
            listed = self._listed(location)
            failures += self.io.core.delete_many([path for path in listed if path != mark])
            # A slow writer may publish a version whose name has become free; it finds the table dropped, or is found here.
            for _ in range(ROUNDS):
                late = [
                    path for path in self._listed(metadata_directory_of(location)) if _is_version(path) and path != mark
                ]
                if not late:
                    # Without the mark, files that could not be deleted would look like a namespace.
                    return failures or self.io.core.delete_many([mark])
                failures += self.io.core.delete_many(late)
        except StorageError as error:
            # The mark has dropped the table; a failed listing only leaves files.
            failures.append((location, str(error)))
        return failures

    def is_location_of(self, recorded: str, levels: Identifier) -> bool:  # noqa: D102
        return _without_scheme(recorded) == _without_scheme(self.location_of(levels))

    @property
    def _keeps_objects(self) -> bool:
        return keeps_objects(self.io, self.location)

    def _last(self, levels: Identifier) -> str | None:
        return newest_hadoop_location(self.io, self.location_of(levels))

    def _is_mark(self, location: str) -> bool:
        try:
            return self.io.core.size(location) == MARK_SIZE
        except MissingFileError:
            return False

    def _is_of(self, location: str, metadata: TableMetadata) -> bool:
        """Return whether a version is of the same table."""
        try:
            return read_metadata(self.io, location).table_uuid == metadata.table_uuid
        except (CorruptFileError, MissingFileError):
            return False

    def _exists(self, levels: Identifier) -> bool:
        inner, files = self.io.core.children(self.location_of(levels))
        # Other programs create empty objects whose keys end in a slash; only the listing above shows them.
        return bool(inner or files) or levels[-1] in self.io.core.children(self.location_of(levels[:-1]))[0]

    def _listed(self, location: str) -> list[str]:
        found: list[str] = self.io.core.list(f"{location}/").column("location").to_pylist()
        return found

    def _mark(self, levels: Identifier) -> str:
        """Publish the mark of a drop as the next version, and return its location; find the mark of an interrupted drop."""
        location = self.location_of(levels)
        for _ in range(ROUNDS):
            last = self._last(levels)
            if last is None:
                raise MissingFileError(f"{location}: there is no table")
            if self._is_mark(last):
                return last
            own = metadata_directory_of(location)
            for path in self._listed(location):
                if f"/{METADATA_DIRECTORY}/" in path and _is_version(path) and not path.startswith(f"{own}/"):
                    below = path.rsplit(f"/{METADATA_DIRECTORY}/", 1)[0]
                    raise ValidationError(
                        f"table {dotted(levels)}: its directory contains another table, {below}; drop that table first"
                    )
            mark = self._next(location, last)
            try:
                publish_content(self.io, [DROP_MARK.format(self.environment.new_uuid()).encode("ascii")], mark)
            except CommitFailedException:
                continue
            return mark
        raise CommitFailedException(f"table {dotted(levels)}: other commits were first; repeat the drop")

    def _next(self, location: str, last: str) -> str:
        """Return the location that the next commit takes."""
        version = (hadoop_version(last) or 0) + 1
        try:
            return hadoop_location(read_metadata(self.io, last), version)
        except (CorruptFileError, MissingFileError, ValidationError):
            return hadoop_candidates(location, version)[0]

    def _is_dropped(self, io: FileIO, metadata: TableMetadata, location: str) -> bool:
        """Return whether the table of a published version, whose previous version is gone, was dropped during the commit."""
        newest = highest_version(io, metadata.location)
        return newest is None or newest == location or self._is_mark(newest)


def _is_version(location: str) -> bool:
    return hadoop_version(location) is not None


def _without_scheme(location: str) -> str:
    return location.split("://", 1)[-1].rstrip("/")
