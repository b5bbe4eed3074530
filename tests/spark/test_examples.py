"""The examples in the docstrings of `icefloe.spark` run, each module's on a table of three rows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog


def examples(name):
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    return [example for example in found if example.examples]


MODULES = [
    module.name for module in pkgutil.walk_packages(icefloe.spark.__path__, "icefloe.spark.") if examples(module.name)
]
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_spark_modules_run(spark, tmp_path, name):
    catalog = load_catalog("lake", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    runner = doctest.DocTestRunner()
    for example in examples(name):
        if catalog.table_exists("db.events"):
            catalog.drop_table("db.events")
        table = catalog.create_table("db.events", SCHEMA)
        table.append(pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}, schema=SCHEMA))
        example.globs |= {
            "icefloe": icefloe,
            "spark": spark,
            "table": table,
            "catalog": catalog,
            "warehouse": str(tmp_path),
        }
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


def test_public_functions_of_spark_have_an_example():
    finder = doctest.DocTestFinder()
    public = [
        getattr(icefloe.spark, name) for name in icefloe.spark.__all__ if name not in ("MergeResult", "ScanChoice")
    ]
    without = [one.__name__ for one in public if not any(test.examples for test in finder.find(one))]
    assert without == []
