"""The examples in the docstrings of catalogs and tables."""

import doctest
import importlib
import pkgutil

import icefloe.catalog
import icefloe.table
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

NAMES = [
    module.name
    for package in (icefloe.catalog, icefloe.table)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if ".update." not in module.name
]


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in NAMES:
        for found in finder.find(importlib.import_module(name)):
            if found.examples and found.globs.get("__name__") == name:
                yield pytest.param(found, id=found.name)


@pytest.mark.parametrize("example", list(examples()))
def test_example_runs(example):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("examples")
        table = catalog.create_table("examples.t", pa.schema([("id", pa.int64())]))
        table.append(pa.table({"id": [1, 2, 3]}))
        example.globs.update({"pa": pa, "catalog": catalog, "table": table, "scan": table.scan()})
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        report = []
        assert runner.run(example, out=report.append).failed == 0, "".join(report)
