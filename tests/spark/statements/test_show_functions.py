"""SHOW FUNCTIONS of an attached catalog."""

from __future__ import annotations

import pytest
from icefloe.exceptions import NoSuchNamespaceError

NAMES = ("bucket", "days", "hours", "iceberg_version", "months", "truncate", "years")


def test_user_functions_are_the_transforms(sql):
    own = [(f"lake.system.{name}",) for name in NAMES]
    assert sql("SHOW USER FUNCTIONS IN lake.system") == own
    assert sql("SHOW USER FUNCTIONS FROM lake") == [(f"lake.{name}",) for name in NAMES]
    assert sql("SHOW USER FUNCTIONS IN lake.system LIKE 'B*|hou*'") == [own[0], own[2]]
    assert sql("SHOW USER FUNCTIONS LIKE lake.system.bucket") == own[:1]
    assert sql("SHOW FUNCTIONS lake.system.nope") == []
    assert sql("SHOW USER FUNCTIONS IN lake.db") == []
    with pytest.raises(NoSuchNamespaceError, match="SHOW FUNCTIONS: lake has no namespace nope"):
        sql("SHOW FUNCTIONS IN lake.nope")


def test_other_functions_are_listed_with_the_functions_of_spark(sql):
    assert sql("SHOW FUNCTIONS IN lake.system LIKE 'y*|day'") == [("day",), ("lake.system.years",), ("year",)]
    assert sql("SHOW ALL FUNCTIONS IN lake.db LIKE 'y*'") == [("year",)]
    assert sql("SHOW SYSTEM FUNCTIONS IN lake.system 'y*'") == [("year",)]


def test_functions_of_the_current_namespace(sql):
    sql("USE lake")
    try:
        assert sql("SHOW USER FUNCTIONS LIKE 'y*'") == [("lake.years",)]
        assert sql("SHOW USER FUNCTIONS IN system LIKE 'y*'") == [("lake.system.years",)]
        sql("USE db")
        assert sql("SHOW USER FUNCTIONS") == []
    finally:
        sql("USE spark_catalog")
