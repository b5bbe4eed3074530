"""FROM before several INSERT statements."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError, NoSuchTableError, SchemaMismatchError, ValidationError


@pytest.fixture
def other(sql, name):
    made = f"{name}_other"
    sql(f"CREATE TABLE {made} (id bigint, name string, n int) USING icefloe")
    return made


def test_each_insert_has_its_own_select_and_condition(sql, name, other):
    sql(
        f"FROM (SELECT id, upper(name) AS u FROM {name}) x INSERT INTO {name} SELECT x.id + 10, u WHERE id = 1 "
        f"INSERT INTO {other} (n, id) SELECT 5, id WHERE id > 1 ORDER BY id"
    )
    assert sql(f"SELECT * FROM {name} WHERE id > 10") == [(11, "A")]
    assert sorted(sql(f"SELECT * FROM {other}")) == [(2, None, 5), (3, None, 5)]


def test_all_queries_read_the_rows_from_before_the_statement(sql, name):
    sql(f"FROM {name} INSERT INTO {name} SELECT id + 10, name INSERT INTO {name} SELECT id + 100, name")
    assert [row[0] for row in sql(f"SELECT id FROM {name} ORDER BY id")] == [1, 2, 3, 11, 12, 13, 101, 102, 103]


def test_overwrites_of_one_table_follow_each_other(sql, name):
    sql(f"FROM {name} INSERT OVERWRITE {name} SELECT id, 'x' INSERT OVERWRITE TABLE {name} SELECT id + 1, 'y'")
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(2, "y"), (3, "y"), (4, "y")]


def test_with_parameters_and_a_common_table_expression(sql, name, other):
    sql(
        f"WITH w AS (SELECT * FROM {name} WHERE id < ?) FROM w INSERT INTO {other} SELECT id, name, ? "
        f"INSERT INTO {name} SELECT id + 10, DEFAULT WHERE id = ?",
        [3, 7, 2],
    )
    assert sorted(sql(f"SELECT * FROM {other}")) == [(1, "a", 7), (2, "b", 7)]
    assert sql(f"SELECT * FROM {name} WHERE id > 10") == [(12, None)]


REFUSED = {
    "INSERT INTO {t} SELECT id, name INSERT INTO {o} SELECT id": SchemaMismatchError,
    "INSERT INTO {t} SELECT id, name INSERT INTO lake.db.absent SELECT id": NoSuchTableError,
    "SELECT id, name INSERT INTO {t} SELECT id, name": ValidationError,
    "INSERT INTO {t} SELECT id, name UNION ALL SELECT 1, 'x'": ValidationError,
    "INSERT INTO {t} MAP id, name USING 'cat' AS (a, b)": FeatureUnsupportedError,
}


@pytest.mark.parametrize("rest", REFUSED)
def test_nothing_is_inserted_if_one_insert_is_refused(sql, name, other, rest):
    with pytest.raises(REFUSED[rest]):
        sql(f"FROM {name} {rest.format(t=name, o=other)}")
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]
