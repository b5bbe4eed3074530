"""Tables that a statement names, loaded from attached catalogs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.metadata_tables import METADATA_TABLES
from icefloe.table.commit.snapshot_producer import MAIN

if TYPE_CHECKING:
    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.current_namespace import CurrentNamespace
    from icefloe.table import Table
    from icefloe.typedef import Identifier

_SELECTORS = ("snapshot_id_", "at_timestamp_", "branch_", "tag_")
_DATABASES_OF_VIEWS = ("global_temp", "session")
_OF_PATHS = re.compile(r"[/:*]")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A table as a statement names it.

    Args:
        lake: Catalog of the table.
        identifier: Identifier in the catalog.
        table: The table.
        metadata_table: Name of its metadata table that is meant; None for the table itself.
        version: Arguments of ``icefloe.spark.read`` that choose a version; empty for the current one.
    """

    lake: AttachedCatalog
    identifier: Identifier
    table: Table
    metadata_table: str | None = None
    version: dict[str, Any] = field(default_factory=dict)

    @property
    def dotted(self) -> str:
        """The name as in messages."""
        return ".".join((self.lake.name, *self.identifier))

    def writable(self) -> Table:
        """Return the table, to change all of it.

        Raises:
            ValidationError: A metadata table or a version of the table is named, or a branch that does not exist.
        """
        if self.metadata_table is not None or set(self.version) - {"branch"}:
            raise ValidationError(
                f"{self.dotted}: only a table or a branch can be changed; expected one, got a read-only version"
            )
        branch = self.version.get("branch", MAIN)
        if branch != MAIN and branch not in self.table.refs():
            raise ValidationError(
                f"{self.dotted}: the table has no branch {branch!r}; expected one of {', '.join(sorted(self.table.refs()))}: ALTER TABLE "
                f"{self.dotted} CREATE BRANCH {branch} makes it"
            )
        return self.table


class References:
    """The tables of one statement: each is loaded once, so all parts of the statement read the same version.

    Args:
        lakes: Attached catalogs by name.
        spark: Session; None if no names are relative.
        current: The attached catalog and the namespace to which names are relative; None to leave such names to Spark.
        temporary_views: Whether temporary views of the session are known; the query of a catalog's view reads none.
    """

    def __init__(
        self,
        lakes: dict[str, AttachedCatalog],
        spark: Any = None,
        current: CurrentNamespace | None = None,
        *,
        temporary_views: bool = True,
    ) -> None:
        self.lakes = lakes
        self.current = current
        self._spark = spark
        self._has_temporary_views = temporary_views
        self._loaded: dict[tuple[str, Identifier], Table] = {}

    def is_attached(self, parts: tuple[str, ...]) -> bool:
        """Return whether a dotted name is in an attached catalog, or is an attached table in Spark's own catalog.

        A relative name is one of the current catalog unless the session has a temporary view of that name.
        """
        if self._is_absolute(parts):
            return True
        if self.current is None or (len(parts) == 1 and parts[0].lower() in self._views):
            return False
        is_view = len(parts) == 2 and parts[0].lower() in _DATABASES_OF_VIEWS
        # Spark reads files by the name of a format and a path.
        is_path = len(parts) == 2 and _OF_PATHS.search(parts[1]) is not None
        return not is_view and not is_path and (len(parts) == 1 or not self.is_catalog_of_spark(parts[0]))

    def is_of_spark(self, parts: tuple[str, ...]) -> bool:
        """Return whether a dotted name is in no attached catalog, nor in a database of attached tables in Spark's own catalog."""
        if self.is_attached(parts):
            return False
        within = parts[1:] if parts[0].lower() == "spark_catalog" else parts
        return len(within) < 2 or all(within[0].lower() not in lake.databases for lake in self.lakes.values())

    def is_catalog_of_spark(self, name: str) -> bool:
        """Return whether Spark itself has a catalog of a name."""
        return name.lower() == "spark_catalog" or self._spark.conf.get(f"spark.sql.catalog.{name}", None) is not None

    def current_lake(self, current: CurrentNamespace) -> AttachedCatalog:
        """Return the catalog to which names are relative.

        Raises:
            ValidationError: The catalog is no longer attached, or other sessions have attached several catalogs by its name.
        """
        lake = self.lakes.get(current.catalog)
        if lake is None:
            raise ValidationError(
                f"SQL: the current catalog is no longer attached, or other sessions have attached several catalogs by its name; expected one of "
                f"{', '.join(self.lakes) or 'no attached catalog'}, got {current.catalog}: attach the catalog in this session, or run "
                "USE spark_catalog.default"
            )
        return lake

    def locate(self, parts: tuple[str, ...]) -> tuple[AttachedCatalog, Identifier]:
        """Return the catalog of the dotted name of a table and the identifier in it, which need not exist.

        Raises:
            ValidationError: The name is in no attached catalog, or has no namespace.
        """
        if self.current is not None and not self._is_absolute(parts) and self.is_attached(parts):
            namespace = self.current.namespace if len(parts) == 1 else ()
            return self.current_lake(self.current), (*namespace, *parts)
        for lake in self.lakes.values():
            identifier = lake.identifier_of(parts)
            if identifier is not None:
                return lake, identifier
        return self._in_lake(parts)

    def locate_namespace(self, parts: tuple[str, ...]) -> tuple[AttachedCatalog, Identifier]:
        """Return the catalog of the dotted name of a namespace and the namespace, which need not exist.

        Raises:
            ValidationError: The name is in no attached catalog, or is the name of a catalog alone.
        """
        if parts[0].lower() not in self.lakes and self.current is not None:
            return self.current_lake(self.current), parts
        return self._in_lake(parts)

    @cached_property
    def _views(self) -> frozenset[str]:
        """The names of the session's temporary views in lower case."""
        if not self._has_temporary_views:
            return frozenset()
        # The database of global views lists the views of the session as well, whatever the current catalog of Spark is.
        rows = self._spark.sql("SHOW VIEWS IN spark_catalog.global_temp").collect()
        return frozenset(row["viewName"].lower() for row in rows if not row["namespace"])

    def _is_absolute(self, parts: tuple[str, ...]) -> bool:
        if len(parts) > 1 and parts[0].lower() in self.lakes:
            return True
        return any(lake.identifier_of(parts) is not None for lake in self.lakes.values())

    def _in_lake(self, parts: tuple[str, ...]) -> tuple[AttachedCatalog, Identifier]:
        lake_name, *rest = parts
        if lake_name.lower() not in self.lakes or not rest:
            raise ValidationError(
                f"{'.'.join(parts)}: expected a name in an attached catalog ({', '.join(self.lakes) or 'none is attached'}), such as "
                f"lake.db.events"
            )
        return self.lakes[lake_name.lower()], tuple(rest)

    def resolve(self, parts: tuple[str, ...]) -> Reference:
        """Return the table of a dotted name, or the metadata table or version after it.

        Raises:
            NoSuchTableError: There is no such table.
        """
        lake, identifier = self.locate(parts)
        if len(identifier) < 2:
            raise ValidationError(f"{'.'.join(parts)}: expected a namespace and a table, such as {lake.name}.db.events")
        try:
            return Reference(lake=lake, identifier=identifier, table=self._load(lake, identifier))
        except NoSuchTableError:
            suffix, above = identifier[-1].lower(), identifier[:-1]
            if len(above) < 2 or (suffix not in METADATA_TABLES and not suffix.startswith(_SELECTORS)):
                raise
        table = self._load(lake, above)
        if suffix in METADATA_TABLES:
            return Reference(lake=lake, identifier=above, table=table, metadata_table=suffix)
        return Reference(lake=lake, identifier=above, table=table, version=_selected(identifier[-1]))

    def _load(self, lake: AttachedCatalog, identifier: Identifier) -> Table:
        key = (lake.name, identifier)
        if key not in self._loaded:
            table = self._loaded[key] = lake.catalog.load_table(identifier)
            lake.follow_schema(identifier, table.schema())
        return self._loaded[key]


def _selected(suffix: str) -> dict[str, Any]:
    prefix = next(one for one in _SELECTORS if suffix.lower().startswith(one))
    value = suffix[len(prefix) :]
    if prefix in ("branch_", "tag_"):
        return {prefix.rstrip("_"): value}
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValidationError(f"{suffix}: expected a whole number after {prefix}, got {value!r}")
    return {"snapshot_id" if prefix == "snapshot_id_" else "as_of_timestamp": int(value)}
