"""A table that comes from a metadata file alone: it can be read, and not changed."""

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
    """Stands where a catalog would, and refuses what a catalog would do."""

    name = "none"

    def load_table(self, identifier: str | Identifier) -> NoReturn:
        """Refuse: there is nothing to load from."""
        raise ValidationError(f"{identifier!r} was read from a metadata file: it has no catalog to load it from")

    def check_location(self, table: Table) -> None:
        """Accept every place: no change is ever committed."""

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> NoReturn:
        """Refuse: there is nothing to commit to."""
        raise ValidationError(
            f"{table.metadata_location} was read without a catalog and cannot be changed ({len(updates)} updates, "
            f"{len(requirements)} requirements): load the table from its catalog"
        )


class StaticTable(Table):
    """A table read from a metadata file, fixed in time."""

    @classmethod
    def from_metadata(cls, metadata_location: str, properties: Properties = EMPTY_DICT) -> StaticTable:
        """Return the table of a metadata file, or of the newest metadata file of a table directory.

        Args:
            metadata_location: A `*.metadata.json` file, or the directory that has `metadata/` in it. A relative path, like
                those that the metadata may hold, starts from the working directory as it is now.
            properties: Storage properties.

        Raises:
            NoSuchTableError: The directory holds no table.
            MissingFileError: There is no such file.
            CorruptFileError: The file is not a table's metadata.
        """
        io = load_file_io(dict(properties), metadata_location)
        metadata_location = io.core.absolute(metadata_location)
        is_file = metadata_location.endswith((".metadata.json", ".metadata.json.gz", ".json"))
        location = metadata_location if is_file else newest_location(io, metadata_location)
        name = ("static-table", location)
        return cls(name, read_metadata(io, location), location, io, NoCatalog())

    def refresh(self) -> NoReturn:
        """Refuse: the metadata file is all there is."""
        raise ValidationError(
            "a static table does not change: read its directory again with StaticTable.from_metadata()"
        )
