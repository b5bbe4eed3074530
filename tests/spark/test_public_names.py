"""The names of `icefloe.spark` load their modules at their first use."""

from __future__ import annotations

import json
import subprocess
import sys

import icefloe.spark
from icefloe.spark import public


def modules_after(statements: str) -> set[str]:
    """Return the modules that a new process has loaded after some statements."""
    code = f"{statements}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    return set(json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout))


def test_package_has_the_names_that_type_checkers_see() -> None:
    assert sorted(public.__all__) == icefloe.spark.__all__
    assert {name: getattr(icefloe.spark, name) for name in public.__all__} == {
        name: getattr(public, name) for name in public.__all__
    }


def test_reading_loads_no_parser_of_sql() -> None:
    loaded = modules_after("import icefloe.spark\nicefloe.spark.read\nicefloe.spark.write\nicefloe.spark.attach")
    assert "icefloe.spark.reader.read" in loaded
    assert not {"sqlglot", "sqlalchemy", "polars", "duckdb"} & loaded


def test_importing_the_package_loads_no_pyspark() -> None:
    assert not {"pyspark", "pyarrow", "pydantic"} & modules_after("import icefloe.spark")
