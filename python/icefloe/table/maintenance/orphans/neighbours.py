"""Detection of other tables that share a table's directories: their files would look like orphans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.exceptions import (
    CorruptFileError,
    IcebergError,
    MissingFileError,
    NoSuchIcebergTableError,
    NoSuchTableError,
    ValidationError,
)
from icefloe.table.maintenance.locations import is_below, table_roots
from icefloe.table.maintenance.orphans.listing import parts_of
from icefloe.table.maintenance.snapshot_files import normalized
from icefloe.table.maintenance.table_checks import dotted_name
from icefloe.table.metadata.files import metadata_directory, read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier

_METADATA_FILES = (".metadata.json", ".metadata.json.gz")
_READ_FILES = 20


def check_catalog(table: CommittingTable, roots: tuple[str, ...]) -> None:
    """Check that no other table is in, above or below the directories, and that they are not a warehouse.

    Tables of the same namespace are loaded. A directory outside of the table's location, such as a data path, may be shared by tables
    that have their metadata elsewhere, so tables of all namespaces are loaded then.

    Raises:
        ValidationError: A directory is shared, or a table could not be loaded.
    """
    catalog: Any = table.catalog
    warehouse = getattr(catalog, "properties", {}).get("warehouse")
    if isinstance(warehouse, str) and _overlaps((table.io.core.absolute(warehouse),), roots, below_only=True):
        raise ValidationError(
            f"table {dotted_name(table)}: cannot remove orphan files below {roots[0]}, which holds the warehouse {warehouse}"
        )
    is_below_location = pc.all(is_below(roots, (table.metadata.location,))).as_py()
    for identifier in _neighbours(table, everywhere=not is_below_location):
        name = ".".join(identifier)
        if tuple(identifier) == tuple(table.name()):
            continue
        try:
            other = table_roots(catalog.load_table(identifier).metadata)
        except (NoSuchTableError, NoSuchIcebergTableError):
            continue
        except IcebergError as error:
            raise ValidationError(
                f"table {dotted_name(table)}: cannot tell whether table {name} shares its directories, since that table could not be "
                f"loaded: {error}; pass check_neighbours(False), or --ignore-neighbours to the command, if it does not"
            ) from error
        if _overlaps(other, roots):
            raise ValidationError(
                f"table {dotted_name(table)}: cannot remove orphan files, since table {name} shares its directories ({other[0]}); files "
                "of that table would be deleted"
            )


def _neighbours(table: CommittingTable, *, everywhere: bool) -> Iterator[Identifier]:
    """Yield the names of the tables of the table's namespace, or of all namespaces, that namespace first."""
    catalog: Any = table.catalog
    own = tuple(table.name()[:-1])
    yield from catalog.list_tables(own)
    if everywhere:
        for namespace in _namespaces(catalog, ()):
            if namespace != own:
                yield from catalog.list_tables(namespace)


def _namespaces(catalog: Any, above: Identifier) -> Iterator[Identifier]:
    for found in catalog.list_namespaces(above):
        yield tuple(found)
        yield from _namespaces(catalog, tuple(found))


def check_listing(table: CommittingTable, metadata: TableMetadata, files: pa.Table) -> None:
    """Check that no metadata file of another table is among the files.

    Metadata files in other directories than the table's belong to another table, unless `rewrite_table_path` staged them for a copy of
    this one. Of those in the same directory the newest are read for their table's UUID.

    Raises:
        ValidationError: The files include another table's.
    """
    own = normalized([metadata_directory(metadata)])[0]
    by_directory: dict[str, list[tuple[int, str]]] = {}
    for part in parts_of(files):
        plain, compressed = (pc.ends_with(part.column("location"), ending) for ending in _METADATA_FILES)
        found = part.filter(pc.or_(plain, compressed))
        for location, modified in zip(
            found.column("location").to_pylist(), found.column("last_modified_ms").to_pylist(), strict=True
        ):
            directory = normalized([location])[0].rpartition("/")[0]
            by_directory.setdefault(directory, []).append((modified, location))
    for directory, found_there in by_directory.items():
        newest = [location for _, location in sorted(found_there, reverse=True)]
        if directory != own and not _is_staged_copy(table, metadata, directory, newest[0]):
            _refuse(table, newest[0])
        for location in newest[:_READ_FILES] if directory == own else ():
            other = _metadata_at(table, location)
            if other is not None and str(other.table_uuid).lower() != str(metadata.table_uuid).lower():
                _refuse(table, location)


def _is_staged_copy(table: CommittingTable, metadata: TableMetadata, directory: str, location: str) -> bool:
    """Return whether a metadata file is of this table and lies in another directory than the one that it is for."""
    copy = _metadata_at(table, location)
    if copy is None or str(copy.table_uuid).lower() != str(metadata.table_uuid).lower():
        return False
    return normalized([metadata_directory(copy)])[0] != directory


def _refuse(table: CommittingTable, location: str) -> None:
    raise ValidationError(
        f"table {dotted_name(table)}: cannot remove orphan files, since another table is below its directories: {location}; files of "
        "that table would be deleted. Move or drop the table, or pass check_neighbours(False), or --ignore-neighbours to the command, if "
        "it is not in use"
    )


def _metadata_at(table: CommittingTable, location: str) -> TableMetadata | None:
    try:
        return read_metadata(table.io, location)
    except (MissingFileError, CorruptFileError):
        return None


def _overlaps(others: tuple[str, ...], roots: tuple[str, ...], *, below_only: bool = False) -> bool:
    below: bool = pc.any(is_below(others, roots)).as_py()
    return below or (not below_only and pc.any(is_below(roots, others)).as_py())
