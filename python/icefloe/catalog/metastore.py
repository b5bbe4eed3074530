"""The common part of catalogs in metastores: databases of one level, whose tables are not all Iceberg tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from icefloe.catalog.catalog import PropertiesUpdateSummary, property_changes
from icefloe.catalog.configuration import ICEBERG, LOCATION, METADATA_LOCATION, TABLE_TYPE
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.pointer_catalog import PointerCatalog
from icefloe.exceptions import (
    InvalidIdentifierError,
    NoSuchIcebergTableError,
    NoSuchNamespaceError,
    NoSuchTableError,
    ValidationError,
)
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.typedef import Identifier, Properties

STORED_TYPE = ICEBERG.upper()
COMMENT = "comment"


def is_iceberg(parameters: Properties) -> bool:
    """Return whether an entry with these parameters is an Iceberg table; views and tables of other formats are not."""
    return parameters.get(TABLE_TYPE, "").lower() == ICEBERG and METADATA_LOCATION in parameters


class MetastoreCatalog(PointerCatalog):
    """A catalog in a metastore that other engines share."""

    @abstractmethod
    def _parameters(self, database: str, name: str) -> Properties | None:
        """Return the parameters of a table of any format or of a view, or None if it does not exist."""

    @abstractmethod
    def _database_properties(self, database: str) -> Properties | None:
        """Return the properties of a database, or None if it does not exist."""

    @abstractmethod
    def _set_database_properties(self, database: str, before: Properties, after: Properties) -> None:
        """Replace the properties of a database."""

    @abstractmethod
    def _check_name(self, name: str, subject: str) -> None:
        """Raise ValidationError if the metastore cannot store the name of a new table or database."""

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102 - described by the interface
        return self._existing_properties(to_identifier(namespace))

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        names, texts = property_changes(removals, updates)
        levels = to_identifier(namespace)
        before = self._existing_properties(levels)
        after = {**{key: value for key, value in before.items() if key not in names}, **texts}
        self._run(
            f"namespace {dotted(levels)}: update of its properties",
            lambda: self._set_database_properties(levels[0], before, after),
            is_visible=lambda: self._database_properties(levels[0]) == after,
        )
        removed = sorted(names & set(before))
        return PropertiesUpdateSummary(removed, sorted(texts), sorted(names - set(removed)))

    # ---- internals

    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        if len(namespace) != 1:
            return None
        parameters = self._parameters(namespace[0], name)
        return parameters[METADATA_LOCATION] if parameters is not None and is_iceberg(parameters) else None

    def _existing_pointer(self, namespace: Identifier, name: str) -> str:
        parameters = self._parameters(namespace[0], name) if len(namespace) == 1 else None
        if parameters is None:
            raise self._missing(namespace, name)
        return self._location_in(parameters, namespace, name)

    def _location_in(self, parameters: Properties, namespace: Identifier, name: str) -> str:
        if not is_iceberg(parameters):
            raise NoSuchIcebergTableError(
                f"{dotted((*namespace, name))} in catalog {self.name!r} is not an Iceberg table: expected the parameter "
                f"{TABLE_TYPE}={STORED_TYPE} with {METADATA_LOCATION}, got {TABLE_TYPE}={parameters.get(TABLE_TYPE)}"
            )
        return parameters[METADATA_LOCATION]

    def _missing(self, namespace: Identifier, name: str) -> NoSuchTableError:
        return NoSuchTableError(
            f"Table does not exist: {dotted((*namespace, name))} in catalog {self.name!r}; list_tables() returns its tables"
        )

    def _missing_namespace(self, levels: Identifier) -> NoSuchNamespaceError:
        return NoSuchNamespaceError(
            f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
        )

    def _existing_properties(self, levels: Identifier) -> Properties:
        properties = self._database_properties(levels[0]) if len(levels) == 1 else None
        if properties is None:
            raise self._missing_namespace(levels)
        return properties

    def _new_namespace(self, namespace: str | Identifier) -> str:
        """Return the database of a new namespace, or raise if it cannot have this name."""
        levels = to_identifier(namespace)
        if not levels:
            raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
        if len(levels) > 1:
            raise ValidationError(
                f"namespace {dotted(levels)}: catalog {self.name!r} has no nested namespaces; expected one level"
            )
        self._check_name(levels[0], f"namespace {levels[0]!r}")
        return levels[0]

    def _check_namespace(self, namespace: Identifier) -> None:
        self._existing_properties(namespace)

    def _new_name(self, identifier: str | Identifier) -> tuple[Identifier, str]:
        namespace, name = split_table_identifier(identifier)
        self._check_namespace(namespace)
        self._check_name(name, f"table {dotted(identifier)}")
        return super()._new_name(identifier)

    def _new_table_location(self, identifier: str | Identifier, location: str | None) -> str:
        """Return the location of a new table as the Java reference does: below its database, or `<warehouse>/<database>.db`."""
        if location is not None:
            return super()._new_table_location(identifier, location)
        namespace, name = split_table_identifier(identifier)
        above = self._existing_properties(namespace).get(LOCATION) or self._database_location(namespace[0])
        if above is None:
            raise ValidationError(
                f"table {dotted(identifier)}: no location; pass location=, set the property 'warehouse' of catalog "
                f"{self.name!r}, or the property 'location' of namespace {dotted(namespace)}"
            )
        return self.absolute(f"{above.rstrip('/')}/{name}")

    def _database_location(self, database: str) -> str | None:
        warehouse = self.properties.get("warehouse")
        return f"{warehouse.rstrip('/')}/{database}.db" if warehouse is not None else None
