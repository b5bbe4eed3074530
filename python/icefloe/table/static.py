"""Tables read from a metadata file without a catalog, which cannot be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from icefloe.exceptions import ValidationError
from icefloe.io import load_file_io
from icefloe.table.metadata.files import newest_location, read_metadata
from icefloe.table.table import Table
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Identifier, Properties


class NoCatalog:
    """The catalog of a static table, which refuses to load and to commit."""

    name = "none"

    def load_table(self, identifier: str | Identifier) -> NoReturn:
        """Raise ValidationError: there is no catalog to load from."""
        raise ValidationError(
            f"table {identifier!r}: cannot load it, since it was read from a metadata file and has no catalog"
        )

    def check_location(self, table: Table) -> None:
        """Accept every location, because no change is ever committed."""

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> NoReturn:
        """Raise ValidationError: there is no catalog to commit to."""
        raise ValidationError(
            f"table of {table.metadata_location}: cannot commit {len(updates)} updates with {len(requirements)} requirements, since "
            "the table was read without a catalog; load it from its catalog"
        )


class StaticTable(Table):
    """A table read from a metadata file, fixed to one version and read-only."""

    @classmethod
    def from_metadata(cls, metadata_location: str, properties: Properties = EMPTY_DICT) -> StaticTable:
        """Return the table of a metadata file, or of the newest metadata file of a table directory.

        Args:
            metadata_location: A `*.metadata.json` file, or the directory that contains `metadata/`. Relative paths, in the metadata
                too, start from the current working directory.
            properties: Storage properties.

        Raises:
            NoSuchTableError: The directory contains no metadata file.
            MissingFileError: The file does not exist.
            CorruptFileError: The file is not the metadata of a table.

        Examples:
            >>> StaticTable.from_metadata(table.metadata_location).scan().count()
            3
        """
        io = load_file_io(dict(properties), metadata_location)
        metadata_location = io.core.absolute(metadata_location)
        is_file = metadata_location.endswith((".metadata.json", ".metadata.json.gz", ".json"))
        location = metadata_location if is_file else newest_location(io, metadata_location)
        name = ("static-table", location)
        return cls(name, read_metadata(io, location), location, io, NoCatalog())

    def refresh(self) -> NoReturn:
        """Raise ValidationError: a static table has one version."""
        raise ValidationError(
            "a static table cannot be refreshed; read its directory again with StaticTable.from_metadata()"
        )
