"""Views of an attached catalog: their queries, and the names and columns that these have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, NoSuchNamespaceError, NoSuchViewError, ValidationError
from icefloe.schema import Schema
from icefloe.spark.statements.current_namespace import CurrentNamespace

if TYPE_CHECKING:
    from collections.abc import Collection

    from icefloe.catalog.rest.views import View
    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.references import References
    from icefloe.typedef import Identifier

_DIALECT = "spark"
_CATALOG_OF_SPARK = "spark_catalog"


@dataclass(frozen=True)
class CatalogView:
    """A view of an attached catalog.

    Args:
        lake: Its catalog.
        view: The view.
    """

    lake: AttachedCatalog
    view: View

    @property
    def dotted(self) -> str:
        """The name as in messages."""
        return ".".join((self.lake.name, *self.view.identifier))

    @property
    def text(self) -> str:
        """The query.

        Raises:
            FeatureUnsupportedError: No text of the view is in the dialect of Spark.
        """
        text = self.view.sql(_DIALECT)
        if text is None:
            texts = self.view.current_version.get("representations") or []
            found = ", ".join(str(one.get("dialect")) for one in texts) or "none"
            raise FeatureUnsupportedError(f"view {self.dotted}: expected a query in the dialect spark, got {found}")
        return text

    @property
    def schema(self) -> Schema:
        """The columns, in the order of the query's.

        Raises:
            ValidationError: The metadata of the view has no such schema.
        """
        number = self.view.current_version.get("schema-id")
        schemas = {one.get("schema-id", 0): one for one in self.view.metadata.get("schemas") or []}
        if number not in schemas:
            found = ", ".join(map(str, schemas)) or "none"
            raise ValidationError(f"view {self.dotted}: expected a view's schema {number} in its metadata, got {found}")
        return Schema.model_validate(schemas[number])

    def namespace_of_names(self, lakes: Collection[str]) -> CurrentNamespace | None:
        """Return the catalog and the namespace to which the names in the query are relative; None for Spark's own.

        Raises:
            ValidationError: The catalog is not attached.
        """
        version = self.view.current_version
        catalog = version.get("default-catalog") or self.lake.name
        if catalog.lower() == _CATALOG_OF_SPARK:
            return None
        if catalog.lower() not in lakes:
            raise ValidationError(
                f"view {self.dotted}: its query names tables of the catalog {catalog}, which is not attached; expected "
                f"icefloe.spark.attach(spark, catalog, name={catalog!r})"
            )
        return CurrentNamespace(catalog.lower(), tuple(version.get("default-namespace") or ()))


def catalog_view(references: References, parts: tuple[str, ...]) -> CatalogView | None:
    """Return the view of a dotted name; None if there is no such view."""
    lake, identifier = references.locate(parts)
    catalog: Any = lake.catalog
    if len(identifier) < 2 or not hasattr(catalog, "load_view"):
        return None
    try:
        return CatalogView(lake, catalog.load_view(identifier))
    except (NoSuchViewError, NoSuchNamespaceError, FeatureUnsupportedError):
        # A server without an endpoint for views has none.
        return None


def listed_views(lake: AttachedCatalog, namespace: Identifier) -> list[Identifier]:
    """Return the identifiers of the views of a namespace; none if the catalog has no views."""
    catalog: Any = lake.catalog
    return catalog.list_views(namespace) if namespace and hasattr(catalog, "list_views") else []


def drop_catalog_view(references: References, parts: tuple[str, ...]) -> None:
    """Remove a view.

    Raises:
        NoSuchViewError: There is no such view.
    """
    lake, identifier = references.locate(parts)
    catalog: Any = lake.catalog
    try:
        if hasattr(catalog, "drop_view"):
            catalog.drop_view(identifier)
            return
    except NoSuchViewError:
        pass
    name = ".".join((lake.name, *identifier))
    raise NoSuchViewError(f"DROP VIEW: expected a view of {lake.name}, got {name}: DROP TABLE drops a table")
