"""What another process needs to make a catalog again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.catalog import Catalog


@dataclass(frozen=True)
class CatalogRecipe:
    """Makes a catalog again in another process.

    Args:
        kind: Class of the catalog.
        name: Name of the catalog.
        properties: Properties of the catalog.
    """

    kind: type[Catalog]
    name: str
    properties: Mapping[str, str] = field(repr=False)

    @staticmethod
    def of(catalog: Catalog) -> CatalogRecipe:
        """Return the recipe of a catalog."""
        return CatalogRecipe(type(catalog), catalog.name, dict(catalog.properties))

    def load(self) -> Catalog:
        """Return the catalog."""
        return self.kind(self.name, **self.properties)
