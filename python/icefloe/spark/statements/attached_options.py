"""The options of a read, a write or a stream of an attached table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.spark.table_options import TableOptions
from icefloe.table.scan import DataScan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from icefloe.spark.statements.catalog_recipe import CatalogRecipe
    from icefloe.table import Table
    from icefloe.table.scan import IncrementalAppendScan, IncrementalChangelogScan
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

    def _scan_of_snapshots(self) -> DataScan | IncrementalAppendScan | IncrementalChangelogScan:
        """Return the scan of the options, in the table's current schema: Spark has one schema of the table for all of its versions."""
        scan = super()._scan_of_snapshots()
        return scan.update(ref_is_branch=True) if isinstance(scan, DataScan) else scan

    @staticmethod
    def of(
        recipe: CatalogRecipe, identifier: Identifier, given: Mapping[str, str], *, also: Collection[str] = ()
    ) -> AttachedOptions:
        """Return the checked options of a table.

        Args:
            recipe: Catalog of the table.
            identifier: Identifier of the table.
            given: Options of the query, by name in lower case.
            also: Names of further options, as for ``TableOptions.parse``.

        Raises:
            ValidationError: An option is unknown.
        """
        name = ".".join(identifier)
        return AttachedOptions(
            table=name,
            catalog=recipe.name,
            catalog_properties={},
            others=TableOptions.parse({**given, "table": name}, also=also).others,
            recipe=recipe,
            identifier=identifier,
        )
