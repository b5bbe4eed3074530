"""The options of a read or write of an attached table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.spark.table_options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.spark.statements.catalog_recipe import CatalogRecipe
    from icefloe.table import Table
    from icefloe.typedef import Identifier


@dataclass(frozen=True, kw_only=True)
class AttachedOptions(TableOptions):
    """Options of a read or write whose table is known.

    Args:
        recipe: Catalog of the table.
        identifier: Identifier of the table.
    """

    recipe: CatalogRecipe
    identifier: Identifier

    def is_location(self) -> bool:
        """Return False: the table is in a catalog."""
        return False

    def load(self) -> Table:
        """Return the table."""
        return self.recipe.load().load_table(self.identifier)

    @staticmethod
    def of(recipe: CatalogRecipe, identifier: Identifier, given: Mapping[str, str]) -> AttachedOptions:
        """Return the checked options of a table.

        Args:
            recipe: Catalog of the table.
            identifier: Identifier of the table.
            given: Options of the query, by name in lower case.

        Raises:
            ValidationError: An option is unknown.
        """
        name = ".".join(identifier)
        return AttachedOptions(
            table=name,
            catalog=recipe.name,
            catalog_properties={},
            others=TableOptions.parse({**given, "table": name}).others,
            recipe=recipe,
            identifier=identifier,
        )
