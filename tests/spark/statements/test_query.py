"""Versions of tables in queries."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("time", ["current_timestamp()", "current_timestamp", "now()", "date_add(current_date(), 1)"])
def test_time_travel_takes_functions(sql, name, time):
    assert sql(f"SELECT count(*) FROM {name} TIMESTAMP AS OF {time} AS t WHERE t.id > 1") == [(2,)]


def test_table_is_a_query_of_all_rows(sql, name):
    assert sorted(sql(f"TABLE {name}"), key=str) == [(1, "a"), (2, "b"), (3, None)]
    sql(f"INSERT INTO {name} TABLE {name}")
    assert sql(f"SELECT count(*) FROM {name}") == [(6,)]
