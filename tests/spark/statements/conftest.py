"""A catalog attached to the session, as `lake`."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest

NAMES = itertools.count()


@pytest.fixture(scope="module")
def lake(spark, catalog):
    attached = icefloe.spark.attach(spark, catalog, "lake")
    yield attached
    icefloe.spark.detach(spark, "lake")
    # A temporary view of this module would stand for a relative name in another one.
    for one in spark.catalog.listTables():
        if one.isTemporary:
            spark.catalog.dropTempView(one.name)


@pytest.fixture
def sql(spark, lake):
    """A function that runs a statement and returns its rows as tuples."""

    def run(text, args=None):
        return [tuple(row) for row in icefloe.spark.sql(spark, text, args).collect()]

    return run


@pytest.fixture
def name(sql):
    """The name of a table with the rows (1, 'a'), (2, 'b'), (3, None)."""
    made = f"lake.db.s{next(NAMES)}"
    sql(f"CREATE TABLE {made} (id bigint, name string) USING icefloe")
    sql(f"INSERT INTO {made} VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    return made
