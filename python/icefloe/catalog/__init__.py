"""Catalogs: from names of tables to the tables themselves."""

from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary
from icefloe.catalog.load import load_catalog

__all__ = ["Catalog", "PropertiesUpdateSummary", "load_catalog"]
