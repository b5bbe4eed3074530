"""The catalogs attached to a session, and to other sessions of its Spark application: statements resolve names in this order.

Spark runs ``foreachBatch`` in a copy of the session that starts the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.session import is_connect, session_key
from icefloe.spark.session_lineage import lineage
from icefloe.spark.statements.attached import attached_by_session
from icefloe.spark.statements.catalog_recipe import CatalogRecipe

if TYPE_CHECKING:
    from icefloe.spark.statements.attached import AttachedCatalog


def found_catalogs(spark: Any) -> dict[str, AttachedCatalog]:
    """Return the attached catalogs of a session by name.

    A name that the session has not attached is looked up in the session that it is a copy of, then in all other sessions of the application.
    A name that these other sessions have for different catalogs is left out.
    """
    attached, own = attached_by_session(), session_key(spark)
    found = attached.pop(own, {})
    if is_connect(spark) or not attached:
        return found
    attached = {key: _of_application(spark, lakes) for key, lakes in attached.items()}
    for key in lineage(spark):
        found = {**attached.pop(key, {}), **found}
    others: dict[str, AttachedCatalog | None] = {}
    for lakes in attached.values():
        for name, lake in lakes.items():
            known = others.setdefault(name, lake)
            if known is not None and not _is_same_catalog(known, lake):
                others[name] = None
    return {**{name: lake for name, lake in others.items() if lake is not None}, **found}


def _of_application(spark: Any, lakes: dict[str, AttachedCatalog]) -> dict[str, AttachedCatalog]:
    """Return the catalogs of another session that belong to the same Spark application."""
    return {
        name: lake
        for name, lake in lakes.items()
        if not is_connect(lake.spark) and lake.spark.sparkContext is spark.sparkContext
    }


def _is_same_catalog(one: AttachedCatalog, two: AttachedCatalog) -> bool:
    from icefloe.catalog.memory import InMemoryCatalog

    if one.catalog is two.catalog or isinstance(one.catalog, InMemoryCatalog):
        return one.catalog is two.catalog
    return CatalogRecipe.of(one.catalog) == CatalogRecipe.of(two.catalog)
