"""The Hive Metastore catalog, which needs thrift: `pip install icefloe[hive]`."""

from icefloe.catalog.hive.hive_catalog import HiveCatalog

__all__ = ["HiveCatalog"]
