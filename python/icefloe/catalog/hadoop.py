"""A catalog that is a directory: `<warehouse>/<namespace levels>/<table>/metadata/v<N>.metadata.json`.

Version N+1 is published under a name that must not exist yet, which is the whole of the commit. The name is chosen from
version N alone (its location and its compression), so that all who race from N race for one name and one of them wins.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from icefloe.catalog.apply_commit import check_swappable, new_metadata, updated_metadata
from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary, new_table_location
from icefloe.catalog.hadoop_directories import (
    children,
    create_directory,
    delete_dropped,
    delete_leftovers,
    hide,
    is_directory,
    is_table,
    storage_errors,
    tables_below,
)
from icefloe.catalog.hadoop_versions import create, publish, take_back
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
    PATH_PROPERTY,
    hadoop_location,
    hadoop_version,
    newest_hadoop_location,
    read_metadata,
)
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update import SetLocationUpdate
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class HadoopCatalog(Catalog):
    """Tables as directories of a local file system, needing no database; other engines' hadoop catalogs read and write them.

    Args:
        name: The catalog's name.
        **properties: `warehouse` (the directory that holds all tables) and storage properties.

    Raises:
        ValidationError: `warehouse` is missing.
        FeatureUnsupportedError: The warehouse is not on a local file system, whose files cannot be replaced by mistake.

    Example:
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
            raise ValidationError(f"catalog {name!r} needs a property 'warehouse', the directory that holds its tables")
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
            raise ValidationError(f"table {dotted(identifier)} of a hadoop catalog lives at {own}, not at {location}")
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
        if table.properties.get("gc.enabled", "true").lower() == "false":
            raise ValidationError(f"table {dotted(identifier)}: gc.enabled is false, so its files may not be deleted")
        self._drop(identifier, files_elsewhere(table))

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:  # noqa: D102
        raise FeatureUnsupportedError(
            f"rename of {from_identifier!r} to {to_identifier!r}: tables of a hadoop catalog are directories, whose "
            "metadata names them; create the new table and append the rows of the old"
        )

    def register_table(  # noqa: D102
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> Table:
        raise FeatureUnsupportedError(
            f"register {metadata_location} as {identifier!r} (overwrite={overwrite}): a hadoop catalog has only the "
            "tables below its warehouse; StaticTable.from_metadata() reads any other"
        )

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        levels = self._existing_namespace(namespace)
        return sorted((*levels, child.name) for child in children(self._directory(levels)) if is_table(child))

    def check_location(self, table: Table) -> None:
        """Refuse to change a table whose metadata names another place than the directory that it is in.

        Raises:
            ValidationError: The table's directory was moved or copied; its new files would go to the old place.
        """
        own = self._directory(to_identifier(table.name()))
        recorded = table.io.core.absolute(table.location())
        if not _is_same_directory(recorded, own):
            raise ValidationError(
                f"table {dotted(table.name())}: its directory is {own}, but its metadata says {recorded}: it was moved or "
                "copied, and its new files would go to the old place. It can be read; to change it, move it back, or "
                "append its rows to a new table"
            )

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        if any(isinstance(update, SetLocationUpdate) for update in updates):
            raise ValidationError(f"table {dotted(table.name())}: a table of a hadoop catalog cannot be moved")
        self.check_location(table)
        directory = self._directory(to_identifier(table.name()))
        try:
            # Held open, the directory keeps its identity: a drop during the commit is seen, even if the table is created anew.
            with storage_errors(directory):
                descriptor = os.open(directory, os.O_RDONLY)
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
        # A table that was dropped and made anew has the same file names, so the handle's own metadata proves nothing.
        current = read_metadata(table.io, location)
        updated = updated_metadata(current, requirements, updates, location, self.environment)
        if updated is current:
            return CommitTableResponse(current, location)
        check_swappable(dotted(table.name()), current, updated)
        _check_hadoop_table(updated)
        version = hadoop_version(location)
        if version is None:
            raise ValidationError(f"{location} is not a hadoop table's metadata file")
        published = publish(table.io, updated, hadoop_location(current, version + 1))
        self._check_not_dropped(table, published, *opened)
        return CommitTableResponse(updated, published)

    # ---- namespaces

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        if properties:
            raise FeatureUnsupportedError("namespaces of a hadoop catalog are directories and hold no properties")
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
                f"namespace {dotted(levels)} was not dropped: files of dropped tables could not be deleted; "
                f"{failures[0][0]}: {failures[0][1]}"
            )
        try:
            with storage_errors(directory):
                directory.rmdir()
        except StorageError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            held = ", ".join(sorted(others)[:5])
            raise NamespaceNotEmptyError(
                f"Namespace {dotted(levels)} is not empty: {directory} holds {held}"
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
            f"namespace {namespace!r} is a directory and holds no properties to set ({sorted(updates)}) "
            f"or remove ({sorted(removals or set())})"
        )

    # ---- how

    def _directory(self, levels: Identifier) -> Path:
        for level in levels:
            if "/" in level or "\0" in level or level in (".", "..") or level.startswith(LEFTOVER_PREFIX):
                raise ValidationError(f"{level!r} cannot name a directory")
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
            f"Table does not exist: {dotted(identifier)} in catalog {self.name!r}: no metadata below {own}"
        )

    def _check_no_namespace(self, identifier: str | Identifier, directory: Path) -> None:
        """Refuse a table in the directory of a namespace with content, which a drop of the table would delete."""
        own = (METADATA_DIRECTORY, DATA_DIRECTORY)
        held = sorted(child.name for child in children(directory) if child.name not in own or is_table(child))
        if held:
            raise ValidationError(
                f"table {dotted(identifier)}: {directory} is the directory of a namespace, which holds {', '.join(held[:5])}; "
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
        """Hide the table's directory, which is the drop, then delete what it holds and the table's files `elsewhere`."""
        directory = self._directory(to_identifier(identifier))
        if directory.is_symlink():
            raise ValidationError(
                f"table {dotted(identifier)}: {directory} is a link to {os.path.realpath(directory)}; remove the link and the "
                "directory behind it yourself"
            )
        for below in tables_below(directory):
            raise ValidationError(
                f"table {dotted(identifier)}: its directory holds another table, {below}; drop that table first"
            )
        try:
            hide(directory, self.environment)
        except MissingFileError as error:
            raise self._no_table(identifier) from error
        io = self.file_io()
        failures = delete_dropped(io, directory.parent) + delete_files_elsewhere(io, elsewhere)
        warn_of_leftovers(dotted(identifier), failures)

    def _check_not_dropped(self, table: Table, published: str, directory: Path, descriptor: int) -> None:
        """Take a version back that went to another directory than the one it was made from."""
        try:
            with storage_errors(directory):
                if os.path.samestat(os.stat(directory), os.fstat(descriptor)):  # noqa: PTH116 - beside fstat
                    return
        except MissingFileError:
            pass
        take_back(table.io, published, directory)
        raise self._no_table(table.name())


def _check_hadoop_table(metadata: TableMetadata) -> None:
    if PATH_PROPERTY in metadata.properties:
        raise ValidationError(
            f"a table of a hadoop catalog keeps its metadata in its directory: remove {PATH_PROPERTY}"
        )


def _local_directory(warehouse: str) -> Path:
    parts = urlsplit(warehouse)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise FeatureUnsupportedError(f"hadoop catalog on {parts.scheme}://: only local directories for now")
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
