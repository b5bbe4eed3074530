import pytest
from icefloe.catalog.noop import NoopCatalog


def test_every_operation_is_refused():
    catalog = NoopCatalog("none")
    for act in (lambda: catalog.load_table("db.t"), catalog.list_namespaces, lambda: catalog.drop_namespace("db")):
        with pytest.raises(NotImplementedError, match="'none' is a NoopCatalog"):
            act()
