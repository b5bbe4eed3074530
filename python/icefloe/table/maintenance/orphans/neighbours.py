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
    import pyarrow as pa

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata

_METADATA_FILES = (".metadata.json", ".metadata.json.gz")
_READ_FILES = 20


def check_catalog(table: CommittingTable, roots: tuple[str, ...]) -> None:
    """Check that no other table of the table's namespace is in, above or below the directories, and that they are not a warehouse.

    Raises:
        ValidationError: A directory is shared, or a table of the namespace could not be loaded.
    """
    catalog: Any = table.catalog
    warehouse = getattr(catalog, "properties", {}).get("warehouse")
    if isinstance(warehouse, str) and _overlaps((table.io.core.absolute(warehouse),), roots, below_only=True):
        raise ValidationError(
            f"table {dotted_name(table)}: cannot remove orphan files below {roots[0]}, which holds the warehouse {warehouse}"
        )
    for identifier in catalog.list_tables(table.name()[:-1]):
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
                f"loaded: {error}; pass check_neighbours(False) if it does not"
            ) from error
        if _overlaps(other, roots):
            raise ValidationError(
                f"table {dotted_name(table)}: cannot remove orphan files, since table {name} shares its directories ({other[0]}); files "
                "of that table would be deleted"
            )


def check_listing(table: CommittingTable, metadata: TableMetadata, files: pa.Table) -> None:
    """Check that no metadata file of another table is among the files.

    Metadata files in other directories than the table's belong to another table. Of those in the same directory the newest are read
    for their table's UUID.

    Raises:
        ValidationError: The files include another table's.
    """
    own = normalized([metadata_directory(metadata)])[0]
    same_directory: list[tuple[int, str]] = []
    for part in parts_of(files):
        plain, compressed = (pc.ends_with(part.column("location"), ending) for ending in _METADATA_FILES)
        found = part.filter(pc.or_(plain, compressed))
        for location, modified in zip(
            found.column("location").to_pylist(), found.column("last_modified_ms").to_pylist(), strict=True
        ):
            if normalized([location])[0].rpartition("/")[0] != own:
                _refuse(table, location)
            same_directory.append((modified, location))
    for _, location in sorted(same_directory, reverse=True)[:_READ_FILES]:
        uuid = _uuid_of(table, location)
        if uuid is not None and uuid != str(metadata.table_uuid).lower():
            _refuse(table, location)


def _refuse(table: CommittingTable, location: str) -> None:
    raise ValidationError(
        f"table {dotted_name(table)}: cannot remove orphan files, since another table is below its directories: {location}; files of "
        "that table would be deleted. Move or drop the table, or pass check_neighbours(False) if it is not in use"
    )


def _uuid_of(table: CommittingTable, location: str) -> str | None:
    try:
        return str(read_metadata(table.io, location).table_uuid).lower()
    except (MissingFileError, CorruptFileError):
        return None


def _overlaps(others: tuple[str, ...], roots: tuple[str, ...], *, below_only: bool = False) -> bool:
    below: bool = pc.any(is_below(others, roots)).as_py()
    return below or (not below_only and pc.any(is_below(roots, others)).as_py())
