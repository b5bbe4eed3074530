"""The catalog in a database, which needs SQLAlchemy: `pip install icefloe[sql]`."""

from icefloe.catalog.sql.sql_catalog import SqlCatalog

__all__ = ["SqlCatalog"]
