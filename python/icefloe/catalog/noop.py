"""A catalog without operations, for code that requires a catalog and does not use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from icefloe.catalog.catalog import Catalog
from icefloe.exceptions import FeatureUnsupportedError

if TYPE_CHECKING:
    from typing import Any


class NoopCatalog(Catalog):
    """A catalog that refuses every operation with FeatureUnsupportedError."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise FeatureUnsupportedError(
            f"catalog {self.name!r} is a NoopCatalog, which supports no operation; use a catalog from load_catalog()"
        )

    create_table = load_table = drop_table = purge_table = rename_table = register_table = _refuse
    list_tables = commit_table = create_namespace = drop_namespace = list_namespaces = _refuse
    load_namespace_properties = update_namespace_properties = _refuse
