"""A catalog that is a directory: `<warehouse>/<namespace levels>/<table>/metadata/v<N>.metadata.json`.

Version N+1 is published under a name that must not exist yet, which is the whole of the commit. The name is chosen from
version N alone (its location and its compression), so that all who race from N race for one name and one of them wins.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary, new_table_location
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.staging import check_swappable, new_metadata, updated_metadata
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    FeatureUnsupportedError,
    FileAlreadyExistsError,
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
from icefloe.table.commit.environment import SYSTEM, Environment
from icefloe.table.commit.response import CommitTableResponse
from icefloe.table.metadata_files import (
    METADATA_DIRECTORY,
    PATH_PROPERTY,
    VERSION_HINT,
    hadoop_candidates,
    hadoop_location,
    hadoop_version,
    metadata_bytes,
    newest_hadoop_location,
    read_metadata,
)
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update import SetLocationUpdate
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.io import FileIO
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
        if location is not None and location.rstrip("/") != own:
            raise ValidationError(f"table {dotted(identifier)} of a hadoop catalog lives at {own}, not at {location}")
        metadata = new_metadata(schema, partition_spec, sort_order, own, properties)
        _check_hadoop_table(metadata)
        if newest_hadoop_location(self.file_io(own), own) is not None:
            raise TableAlreadyExistsError(f"catalog {self.name!r} already has a table {dotted(identifier)}")
        try:
            published = self._publish(metadata, hadoop_candidates(own, 1)[0])
        except CommitFailedException as error:
            raise TableAlreadyExistsError(f"catalog {self.name!r} already has a table {dotted(identifier)}") from error
        return self._table(identifier, metadata, published)

    def load_table(self, identifier: str | Identifier) -> Table:  # noqa: D102
        location = self._newest(identifier)
        return self._table(identifier, read_metadata(self.file_io(location), location), location)

    def drop_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        self._newest(identifier)
        shutil.rmtree(self._directory(to_identifier(identifier)))

    def purge_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        table = self.load_table(identifier)
        if table.properties.get("gc.enabled", "true").lower() == "false":
            raise ValidationError(f"table {dotted(identifier)}: gc.enabled is false, so its files may not be deleted")
        self.drop_table(identifier)

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
        return sorted((*levels, child.name) for child in _children(self._directory(levels)) if _is_table(child))

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        if any(isinstance(update, SetLocationUpdate) for update in updates):
            raise ValidationError(f"table {dotted(table.name())}: a table of a hadoop catalog cannot be moved")
        location = self._newest(table.name())
        # A table that was dropped and made anew has the same file names, so the handle's own metadata proves nothing.
        current = read_metadata(table.io, location)
        updated = updated_metadata(current, requirements, updates, location)
        if updated is current:
            return CommitTableResponse(current, location)
        check_swappable(dotted(table.name()), current, updated)
        _check_hadoop_table(updated)
        version = hadoop_version(location)
        if version is None:
            raise ValidationError(f"{location} is not a hadoop table's metadata file")
        return CommitTableResponse(updated, self._publish(updated, hadoop_location(current, version + 1)))

    # ---- namespaces

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        if properties:
            raise FeatureUnsupportedError("namespaces of a hadoop catalog are directories and hold no properties")
        levels = to_identifier(namespace)
        directory = self._directory(levels)
        if not levels:
            raise ValidationError("a namespace needs a name")
        try:
            directory.mkdir(parents=True)
        except FileExistsError as error:
            raise NamespaceAlreadyExistsError(
                f"catalog {self.name!r} already has a namespace {dotted(levels)}"
            ) from error

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = self._existing_namespace(namespace)
        try:
            self._directory(levels).rmdir()
        except OSError as error:
            raise NamespaceNotEmptyError(f"namespace {dotted(levels)} is not empty: {error.strerror}") from error

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = to_identifier(namespace)
        directory = self._directory(self._existing_namespace(above)) if above else self._root
        return sorted((*above, child.name) for child in _children(directory) if not _is_table(child))

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
            if "/" in level or level in (".", ".."):
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
            raise NoSuchTableError(f"catalog {self.name!r} has no table {dotted(identifier)}: no metadata below {own}")
        return location

    def _existing_namespace(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        directory = self._directory(levels)
        if not levels or not directory.is_dir() or _is_table(directory):
            raise NoSuchNamespaceError(
                f"catalog {self.name!r} has no namespace {dotted(levels)}; create it with create_namespace()"
            )
        return levels

    def _table(self, identifier: str | Identifier, metadata: TableMetadata, location: str) -> Table:
        return Table(to_identifier(identifier), metadata, location, self.file_io(location), self)

    def _publish(self, metadata: TableMetadata, location: str) -> str:
        """Write a version that must not exist yet, then the hint.

        A reply may be lost after the write took effect, and a client's own retry then meets its own file; so what is
        there is compared before it is called somebody else's.
        """
        io = self.file_io(location)
        data = metadata_bytes(metadata, location)
        try:
            io.core.write(location, data, overwrite=False)
        except StorageError as error:
            if not _holds(io, location, data):
                if isinstance(error, FileAlreadyExistsError):
                    raise CommitFailedException(
                        f"{location} exists: another commit was first; refresh and retry"
                    ) from error
                raise
        self._write_hint(metadata.location, location)
        return location

    def _write_hint(self, table_location: str, location: str) -> None:
        """Point readers near the newest version. They probe further by themselves, so a lost hint costs time only."""
        version = hadoop_version(location)
        directory = f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}"
        io = self.file_io(location)
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


def _check_hadoop_table(metadata: TableMetadata) -> None:
    if PATH_PROPERTY in metadata.properties:
        raise ValidationError(
            f"a table of a hadoop catalog keeps its metadata in its directory: remove {PATH_PROPERTY}"
        )


def _local_directory(warehouse: str) -> Path:
    parts = urlsplit(warehouse)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise FeatureUnsupportedError(f"hadoop catalog on {parts.scheme}://: only local directories for now")
    return Path(unquote(parts.path) if parts.scheme == "file" else warehouse)


def _children(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return [child for child in directory.iterdir() if child.is_dir() and not child.name.startswith(".")]


def _is_table(directory: Path) -> bool:
    return next((directory / METADATA_DIRECTORY).glob("*.metadata.json*"), None) is not None
