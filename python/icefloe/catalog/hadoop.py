"""A catalog that is a directory: `<warehouse>/<namespace levels>/<table>/metadata/v<N>.metadata.json`.

A commit publishes version N+1 under a name that must not exist yet. The name follows from version N alone (its location and its
compression), so that all writers that start from version N compete for the same name and one of them succeeds.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from icefloe.catalog.apply_commit import check_same_uuid, new_metadata, updated_metadata
from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary, new_table_location
from icefloe.catalog.hadoop_directories import (
    children,
    create_directory,
    delete_dropped,
    delete_leftovers,
    hide,
    is_directory,
    is_table,
    open_directory,
    storage_errors,
    tables_below,
)
from icefloe.catalog.hadoop_versions import create, is_published, publish, unpublish
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.purge import delete_files_elsewhere, files_elsewhere, warn_of_leftovers
from icefloe.exceptions import (
    CommitFailedException,
    FeatureUnsupportedError,
    FileAlreadyExistsError,
    InvalidIdentifierError,
    MissingFileError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.table import Table
from icefloe.table.commit.committing_table import CommitTableResponse
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.metadata.files import (
    DATA_DIRECTORY,
    LEFTOVER_PREFIX,
    METADATA_DIRECTORY,
    hadoop_location,
    hadoop_version,
    newest_hadoop_location,
    read_metadata,
)
from icefloe.table.properties.definitions import GC_ENABLED, METADATA_PATH
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update import SetLocationUpdate
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class HadoopCatalog(Catalog):
    """A catalog of table directories on a local file system, which hadoop catalogs of other engines read and write.

    Args:
        name: The catalog's name.
        **properties: `warehouse` (the directory of all tables) and storage properties.

    Raises:
        ValidationError: `warehouse` is missing.
        FeatureUnsupportedError: The warehouse is not on a local file system.

    Examples:
        >>> import tempfile
        >>> import pyarrow as pa
        >>> catalog = HadoopCatalog("files", warehouse=tempfile.mkdtemp())
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64())]))
        >>> table.metadata_location.rsplit("/", 1)[-1]
        'v1.metadata.json'
    """

    environment: Environment = SYSTEM

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        warehouse = self.properties.get("warehouse")
        if warehouse is None:
            raise ValidationError(
                f"catalog {name!r}: property 'warehouse' is missing; expected the directory of its tables"
            )
        self._root = _local_directory(warehouse)

    # ---- tables

    def create_table(  # noqa: PLR0913, D102 - the signature shared with PyIceberg; described by the interface
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        namespace, _ = split_table_identifier(identifier)
        self._existing_namespace(namespace)
        own = self._location(identifier)
        if location is not None and self.absolute(location).rstrip("/") != own:
            raise ValidationError(
                f"table {dotted(identifier)}: a hadoop catalog determines the location of a table; expected {own}, got {location}"
            )
        metadata = new_metadata(schema, partition_spec, sort_order, own, properties, self.environment)
        _check_hadoop_table(metadata)
        if newest_hadoop_location(self.file_io(own), own) is not None:
            raise TableAlreadyExistsError(f"Table {dotted(identifier)} already exists in catalog {self.name!r}")
        directory = self._directory(to_identifier(identifier))
        self._check_no_namespace(identifier, directory)
        try:
            published = create(self.file_io(own), metadata, directory, self.environment)
        except CommitFailedException as error:
            raise TableAlreadyExistsError(
                f"Table {dotted(identifier)} already exists in catalog {self.name!r}"
            ) from error
        return self._table(identifier, metadata, published)

    def load_table(self, identifier: str | Identifier) -> Table:  # noqa: D102
        location = self._newest(identifier)
        return self._table(identifier, read_metadata(self.file_io(location), location), location)

    def drop_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        self._newest(identifier)
        self._drop(identifier, [])

    def purge_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        table = self.load_table(identifier)
        if not GC_ENABLED.of(table.properties):
            raise ValidationError(
                f"table {dotted(identifier)}: cannot purge it, since table property gc.enabled is false; use drop_table()"
            )
        self._drop(identifier, files_elsewhere(table))

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:  # noqa: D102
        raise FeatureUnsupportedError(
            f"cannot rename {from_identifier!r} to {to_identifier!r}: the metadata of a table in a hadoop catalog contains the "
            "path of its directory; create the new table and append the rows of the old one"
        )

    def register_table(  # noqa: D102
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> Table:
        raise FeatureUnsupportedError(
            f"cannot register {metadata_location} as {identifier!r} (overwrite={overwrite}): a hadoop catalog contains only the "
            "tables below its warehouse; read other tables with StaticTable.from_metadata()"
        )

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        levels = self._existing_namespace(namespace)
        return sorted((*levels, child.name) for child in children(self._directory(levels)) if is_table(child))

    def check_location(self, table: Table) -> None:
        """Raise if the location in a table's metadata is not the table's directory.

        Raises:
            ValidationError: The table's directory was moved or copied, so that new files would go to the old location.
        """
        own = self._directory(to_identifier(table.name()))
        recorded = table.io.core.absolute(table.location())
        if not _is_same_directory(recorded, own):
            raise ValidationError(
                f"table {dotted(table.name())}: its directory was moved or copied: expected {recorded}, the location in its metadata, "
                f"got {own}; the table can be read, but to change it move the directory back, or append the rows to a new table"
            )

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        if any(isinstance(update, SetLocationUpdate) for update in updates):
            raise ValidationError(
                f"table {dotted(table.name())}: the location of a table in a hadoop catalog cannot be moved; append the rows to a new "
                "table"
            )
        self.check_location(table)
        directory = self._directory(to_identifier(table.name()))
        try:
            # An open descriptor identifies the directory: a drop during the commit is detected even if the table is created again.
            descriptor = open_directory(directory)
        except MissingFileError as error:
            raise self._no_table(table.name()) from error
        try:
            return self._commit(table, requirements, updates, (directory, descriptor))
        finally:
            os.close(descriptor)

    def _commit(
        self,
        table: Table,
        requirements: tuple[TableRequirement, ...],
        updates: tuple[TableUpdate, ...],
        opened: tuple[Path, int],
    ) -> CommitTableResponse:
        location = self._newest(table.name())
        # A table that was dropped and created again has the same file names, so the handle's metadata may be of the old table.
        current = read_metadata(table.io, location, table.metadata)
        updated = updated_metadata(current, requirements, updates, location, self.environment)
        if updated is current:
            return CommitTableResponse(current, location)
        check_same_uuid(dotted(table.name()), current, updated)
        _check_hadoop_table(updated)
        version = hadoop_version(location)
        if version is None:
            raise ValidationError(
                f"table {dotted(table.name())}: cannot commit after {location}; expected a metadata file named v<N>.metadata.json"
            )
        published = publish(table.io, updated, hadoop_location(current, version + 1))
        self._check_not_dropped(table, published, *opened)
        return CommitTableResponse(updated, published)

    # ---- namespaces

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        if properties:
            raise FeatureUnsupportedError(
                f"cannot create namespace {namespace!r} with properties {sorted(properties)}: a namespace of a hadoop catalog is a "
                "directory and has no properties"
            )
        levels = to_identifier(namespace)
        directory = self._directory(levels)
        if not levels:
            raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
        try:
            create_directory(directory)
        except FileAlreadyExistsError as error:
            raise NamespaceAlreadyExistsError(
                f"Namespace {dotted(levels)} already exists in catalog {self.name!r}"
            ) from error

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = self._existing_namespace(namespace)
        directory = self._directory(levels)
        with storage_errors(directory):
            others = [path.name for path in directory.iterdir() if not path.name.startswith(LEFTOVER_PREFIX)]
        failures = [] if others else delete_leftovers(self.file_io(), directory)
        if failures:
            raise StorageError(
                f"namespace {dotted(levels)}: cannot drop it, since files of dropped tables could not be deleted: "
                f"{failures[0][0]}: {failures[0][1]}"
            )
        try:
            with storage_errors(directory):
                directory.rmdir()
        except StorageError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            content = ", ".join(sorted(others)[:5])
            raise NamespaceNotEmptyError(
                f"Namespace {dotted(levels)} is not empty: {directory} contains {content}; drop its tables and namespaces first"
            ) from error

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = to_identifier(namespace)
        directory = self._directory(self._existing_namespace(above)) if above else self._root
        return sorted((*above, child.name) for child in children(directory) if not is_table(child))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        levels = self._existing_namespace(namespace)
        return {"location": "/".join([self.properties["warehouse"].rstrip("/"), *levels])}

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        raise FeatureUnsupportedError(
            f"cannot set properties {sorted(updates)} or remove properties {sorted(removals if removals is not None else ())} of "
            f"namespace {namespace!r}: a namespace of a hadoop catalog is a directory and has no properties"
        )

    # ---- internals

    def _directory(self, levels: Identifier) -> Path:
        for level in levels:
            if "/" in level or "\0" in level or level in (".", "..") or level.startswith(LEFTOVER_PREFIX):
                raise ValidationError(
                    f"{level!r} cannot be a directory name; expected no slash, no null character, not . or .., and not the prefix "
                    f"{LEFTOVER_PREFIX}"
                )
        return self._root.joinpath(*levels)

    def _location(self, identifier: str | Identifier) -> str:
        self._directory(to_identifier(identifier))
        return new_table_location(self, identifier, None)

    def _newest(self, identifier: str | Identifier) -> str:
        split_table_identifier(identifier)
        own = self._location(identifier)
        location = newest_hadoop_location(self.file_io(own), own)
        if location is None:
            raise self._no_table(identifier)
        return location

    def _no_table(self, identifier: str | Identifier) -> NoSuchTableError:
        own = self._location(identifier)
        return NoSuchTableError(
            f"Table does not exist: {dotted(identifier)} in catalog {self.name!r}; expected metadata below {own}"
        )

    def _check_no_namespace(self, identifier: str | Identifier, directory: Path) -> None:
        """Raise if the directory is a namespace with content, which a drop of the table would delete."""
        own = (METADATA_DIRECTORY, DATA_DIRECTORY)
        content = sorted(child.name for child in children(directory) if child.name not in own or is_table(child))
        if content:
            raise ValidationError(
                f"table {dotted(identifier)}: {directory} is the directory of a namespace, which contains {', '.join(content[:5])}; "
                "choose another name for the table"
            )

    def _existing_namespace(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        directory = self._directory(levels)
        if not levels or not is_directory(directory) or is_table(directory):
            raise NoSuchNamespaceError(
                f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
            )
        return levels

    def _table(self, identifier: str | Identifier, metadata: TableMetadata, location: str) -> Table:
        return Table(to_identifier(identifier), metadata, location, self.file_io(location), self)

    def _drop(self, identifier: str | Identifier, elsewhere: list[str]) -> None:
        """Rename the table's directory to a hidden name, which drops the table, then delete its content and the files `elsewhere`."""
        directory = self._directory(to_identifier(identifier))
        if directory.is_symlink():
            raise ValidationError(
                f"table {dotted(identifier)}: cannot drop it, since {directory} is a link to {os.path.realpath(directory)}; delete the "
                "link and its target yourself"
            )
        for below in tables_below(directory):
            raise ValidationError(
                f"table {dotted(identifier)}: its directory contains another table, {below}; drop that table first"
            )
        try:
            hide(directory, self.environment)
        except MissingFileError as error:
            raise self._no_table(identifier) from error
        io = self.file_io()
        failures = delete_dropped(io, directory.parent) + delete_files_elsewhere(io, elsewhere)
        warn_of_leftovers(dotted(identifier), failures)

    def _check_not_dropped(self, table: Table, published: str, directory: Path, descriptor: int) -> None:
        """Delete a published version if the table's directory was replaced during the commit."""
        if is_published(published, directory, descriptor):
            return
        unpublish(table.io, published, directory)
        raise self._no_table(table.name())


def _check_hadoop_table(metadata: TableMetadata) -> None:
    # The name of the next version contains the codec: after an invalid one, no commit could follow.
    hadoop_location(metadata, 1)
    if METADATA_PATH.name in metadata.properties:
        raise ValidationError(
            f"table property {METADATA_PATH.name} cannot be set in a hadoop catalog, whose tables have their metadata in their directory; "
            "remove it"
        )


def _local_directory(warehouse: str) -> Path:
    parts = urlsplit(warehouse)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise FeatureUnsupportedError(
            f"hadoop catalog at {warehouse}: {parts.scheme}:// is not supported; expected a local directory"
        )
    path = Path(unquote(parts.path) if parts.scheme == "file" else warehouse)
    if not path.is_absolute():
        raise ValidationError(
            f"hadoop catalog at {warehouse}: expected an absolute path after file:, or a path without it"
        )
    return path


def _is_same_directory(location: str, directory: Path) -> bool:
    try:
        path = _local_directory(location)
    except FeatureUnsupportedError:
        return False
    return os.path.realpath(path) == os.path.realpath(directory)
