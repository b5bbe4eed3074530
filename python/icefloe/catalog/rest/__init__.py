"""The REST catalog, which needs httpx: `pip install icefloe[rest]`."""

from icefloe.catalog.rest.commits import TableCommit
from icefloe.catalog.rest.rest_catalog import RestCatalog
from icefloe.catalog.rest.views import View

__all__ = ["RestCatalog", "TableCommit", "View"]
