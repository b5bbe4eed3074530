"""Table functions of an attached catalog, for plain Spark SQL: metadata tables, ancestors of snapshots, and plans of expiries.

Spark runs a table function on an executor, again for each action, so only reads are functions; changes are ``CALL``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import udtf
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType
from pyspark.sql.udtf import AnalyzeResult

from icefloe.exceptions import ValidationError
from icefloe.spark.statements.catalog_recipe import CatalogRecipe
from icefloe.spark.statements.literals import in_utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from icefloe.catalog import Catalog

ANCESTOR_COLUMNS = StructType([StructField("snapshot_id", LongType()), StructField("timestamp", LongType())])


def register_functions(spark: Any, catalog: Catalog, name: str) -> None:
    """Register the table functions of a catalog.

    ``<name>_metadata('db.events', 'snapshots')`` returns a metadata table, ``<name>_ancestors_of('db.events', snapshot_id)`` the
    ancestors of a snapshot, by default of the current one. ``<name>_plan_expire('db.events', older_than, retain_last)`` returns each
    snapshot, branch and tag with the reason why an expiry keeps or removes it; nothing is changed.
    """
    recipe = CatalogRecipe.of(catalog)
    spark.udtf.register(f"{name}_metadata", udtf(_metadata_function(recipe)))
    spark.udtf.register(f"{name}_ancestors_of", udtf(_ancestors_function(recipe)))
    spark.udtf.register(f"{name}_plan_expire", udtf(_plan_expire_function(recipe)))


def _metadata_function(recipe: CatalogRecipe) -> type[Any]:
    class Metadata:
        @staticmethod
        def analyze(table: Any, name: Any) -> AnalyzeResult:
            from icefloe.spark.metadata_tables import metadata_schema

            schema = metadata_schema(recipe.load().load_table(_text(table)), _text(name))
            return AnalyzeResult(from_arrow_schema(schema))

        def eval(self, table: str, name: str) -> Iterator[tuple[Any, ...]]:
            from icefloe.spark.metadata_tables import metadata_rows

            rows = metadata_rows(recipe.load().load_table(table), name)
            for row in rows.to_pylist(maps_as_pydicts="strict"):
                yield tuple(row.values())

    return Metadata


def _ancestors_function(recipe: CatalogRecipe) -> type[Any]:
    class AncestorsOf:
        @staticmethod
        def analyze(table: Any, snapshot_id: Any = None) -> AnalyzeResult:  # noqa: ARG004 - Spark passes them by name
            return AnalyzeResult(ANCESTOR_COLUMNS)

        def eval(self, table: str, snapshot_id: int | None = None) -> Iterator[tuple[int, int]]:
            from icefloe.spark.maintenance.snapshot_changes import ancestor_rows

            yield from ancestor_rows(recipe.load().load_table(table), snapshot_id)

    return AncestorsOf


def _plan_expire_function(recipe: CatalogRecipe) -> type[Any]:
    class PlanExpire:
        @staticmethod
        def analyze(table: Any, older_than: Any = None, retain_last: Any = None) -> AnalyzeResult:  # noqa: ARG004 - passed by name
            from icefloe.table.maintenance.expiry.expiry_values import ROWS_SCHEMA

            return AnalyzeResult(from_arrow_schema(ROWS_SCHEMA))

        def eval(
            self, table: str, older_than: datetime | str | None = None, retain_last: int | None = None
        ) -> Iterator[tuple[Any, ...]]:
            builder = recipe.load().load_table(table).maintenance.expire_snapshots().delete_files(False)
            if older_than is not None:
                builder = builder.older_than(in_utc(older_than))
            if retain_last is not None:
                builder = builder.retain_last(retain_last)
            for row in builder.plan().rows().to_pylist():
                yield tuple(row.values())

    return PlanExpire


def _text(argument: Any) -> str:
    value = argument.value
    if not isinstance(value, str):
        raise ValidationError(f"table function: expected texts in quotes for table and metadata table, got {value!r}")
    return value
