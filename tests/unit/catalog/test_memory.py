"""A catalog in memory and its temporary warehouse."""

import subprocess
import sys
from pathlib import Path

import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import NoSuchNamespaceError

FORKED = """
import os, sys
from pathlib import Path
from icefloe.catalog.memory import InMemoryCatalog
catalog = InMemoryCatalog("cat")
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
print(Path(catalog.properties["warehouse"]).is_dir())
print(catalog.properties["warehouse"])
"""


def test_warehouse_outlives_a_forked_child_and_not_the_process():
    done = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True)
    there, warehouse = done.stdout.split()
    assert there == "True"
    assert not Path(warehouse).exists()


def test_given_warehouse_is_not_deleted(tmp_path):
    with InMemoryCatalog("cat", str(tmp_path)):
        pass
    assert tmp_path.is_dir()


def test_dropped_namespace_cannot_be_dropped_or_changed():
    with InMemoryCatalog("cat") as catalog:
        catalog.create_namespace("db")
        catalog.drop_namespace("db")
        with pytest.raises(NoSuchNamespaceError):
            catalog.drop_namespace("db")
        with pytest.raises(NoSuchNamespaceError):
            catalog.update_namespace_properties("db", updates={"a": "1"})
        assert catalog.list_namespaces() == []
