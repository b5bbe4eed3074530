"""The data source behind one table in Spark's catalog: Spark drops the options of tables, so each table has its own class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from icefloe.exceptions import ValidationError
from icefloe.spark.data_source import IcefloeReader, IcefloeWriter
from icefloe.spark.table_options import TableOptions
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceReader

    from icefloe.catalog import Catalog
    from icefloe.table import Table
    from icefloe.typedef import Identifier

# Properties of the entry in Spark's catalog, which Spark passes as options when it infers a schema.
_OF_SPARK = ("owner", "provider", "location", "comment", "collation", "external", "is_managed_location", "table_type")
_CHOSEN = ("table", "path", "catalog")


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


class AttachedSource(DataSource):
    """Reads and writes of one table. Subclasses name the table; options of the query choose a version, a filter and columns."""

    recipe: CatalogRecipe
    identifier: Identifier

    def schema(self) -> Any:
        """Return the Spark schema of the table's rows."""
        return to_spark_schema(self._options().scan().projection_json())

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader of the columns of a schema."""
        return IcefloeReader(self._options(), [field.name for field in schema.fields])

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer after a check that the rows fit the table."""
        return IcefloeWriter.make(self._options(), schema, overwrite=overwrite)

    def _options(self) -> AttachedOptions:
        given = {key.lower(): value for key, value in self.options.items() if key.lower() not in _OF_SPARK}
        chosen = [key for key in given if key in _CHOSEN or key.startswith("catalog.")]
        if chosen:
            raise ValidationError(
                f"option {chosen[0]}: an attached table is fixed; expected other options, got {chosen[0]}"
            )
        name = ".".join(self.identifier)
        parsed = TableOptions.parse({**given, "table": name})
        return AttachedOptions(
            table=name,
            catalog=self.recipe.name,
            catalog_properties={},
            others=parsed.others,
            recipe=self.recipe,
            identifier=self.identifier,
        )


def source_class(name: str, catalog: Catalog, identifier: Identifier) -> type[AttachedSource]:
    """Return the data source of one table.

    Args:
        name: Name of the data source in Spark.
        catalog: Catalog, which each process of Spark makes again.
        identifier: Identifier of the table.
    """
    attributes = {
        "name": classmethod(lambda _: name),
        "recipe": CatalogRecipe.of(catalog),
        "identifier": identifier,
    }
    return type(f"AttachedSource_{name}", (AttachedSource,), attributes)
