"""CACHE TABLE of a query of attached tables."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError
from pyspark.errors import AnalysisException


def test_a_cached_query_keeps_its_rows(sql, spark, name):
    sql(f"CACHE TABLE kept AS SELECT id FROM {name} WHERE id > 1")
    try:
        assert spark.catalog.isCached("kept")
        sql(f"DELETE FROM {name}")
        assert sorted(spark.table("kept").collect()) == [(2,), (3,)]
        with pytest.raises(AnalysisException, match="kept"):
            sql(f"CACHE TABLE kept AS SELECT id FROM {name}")
    finally:
        spark.sql("UNCACHE TABLE kept")
        spark.catalog.dropTempView("kept")


def test_a_lazy_query_takes_options(sql, spark, name):
    sql(f"CACHE LAZY TABLE lazily OPTIONS ('storageLevel' = 'MEMORY_ONLY') SELECT id FROM {name}")
    assert spark.table("lazily").count() == 3
    assert spark.table("lazily").storageLevel.useDisk is False
    spark.catalog.dropTempView("lazily")


def test_a_wrong_option_leaves_no_view(sql, spark, name):
    with pytest.raises(Exception, match="StorageLevel: NOWHERE"):
        sql(f"CACHE TABLE wrong OPTIONS ('storageLevel' = 'NOWHERE') AS SELECT id FROM {name}")
    assert not spark.catalog.tableExists("wrong")


def test_a_view_has_no_name_of_a_catalog(sql, name):
    with pytest.raises(FeatureUnsupportedError, match=r"expected CACHE TABLE kept AS ..., got lake.db.kept"):
        sql(f"CACHE TABLE lake.db.kept AS SELECT * FROM {name}")
