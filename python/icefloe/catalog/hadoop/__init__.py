"""The catalog of table directories, on a local file system or an object store."""

from icefloe.catalog.hadoop.hadoop_catalog import HadoopCatalog

__all__ = ["HadoopCatalog"]
