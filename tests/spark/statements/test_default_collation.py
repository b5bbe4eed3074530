"""The default collation and the owner of a table, as the Java runtime stores them."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError


def test_default_collation_is_a_property(sql, lake):
    sql("CREATE TABLE lake.db.collated (id int, n string) USING icefloe DEFAULT COLLATION utf8_lcase")
    properties = lake.catalog.load_table("db.collated").properties
    (user,) = sql("SELECT current_user()")[0]
    assert {key: properties[key] for key in ("owner", "collation")} == {"owner": user, "collation": "UTF8_LCASE"}
    sql("INSERT INTO lake.db.collated VALUES (1, 'A')")
    # As in the Java runtime, values are compared by their bytes.
    assert sql("SELECT n = 'a' FROM lake.db.collated") == [(False,)]
    assert sql("DESCRIBE lake.db.collated") == [("id", "int", None), ("n", "string", None)]
    facts = sql("DESCRIBE TABLE EXTENDED lake.db.collated")
    assert {("Collation", "UTF8_LCASE", ""), ("Owner", user, "")} <= set(facts)
    assert {"owner", "collation"}.isdisjoint(key for key, _ in sql("SHOW TBLPROPERTIES lake.db.collated"))
    ((statement,),) = sql("SHOW CREATE TABLE lake.db.collated")
    assert "\nDEFAULT COLLATION UTF8_LCASE\n" in statement
    assert "owner" not in statement
    sql("ALTER TABLE lake.db.collated DEFAULT COLLATION UNICODE")
    assert lake.catalog.load_table("db.collated").properties["collation"] == "UNICODE"
    sql("CREATE OR REPLACE TABLE lake.db.collated DEFAULT COLLATION UTF8_LCASE AS SELECT 'x' AS n")
    assert lake.catalog.load_table("db.collated").properties["collation"] == "UTF8_LCASE"


def test_a_new_table_belongs_to_the_user(sql, lake):
    (user,) = sql("SELECT current_user()")[0]
    for text in ("CREATE TABLE lake.db.owned AS SELECT 1 AS id", "REPLACE TABLE lake.db.owned (id int)"):
        sql(text)
        assert lake.catalog.load_table("db.owned").properties["owner"] == user


@pytest.mark.parametrize("key", ["owner", "external"])
def test_properties_of_spark_are_not_set_by_their_keys(sql, name, key):
    for text in (
        f"CREATE TABLE lake.db.reserved (id int) TBLPROPERTIES ('{key}' = 'x')",
        f"CREATE TABLE lake.db.reserved (id int) OPTIONS ('{key}' = 'x')",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('{key}' = 'x')",
        f"ALTER TABLE {name} UNSET TBLPROPERTIES ('{key}')",
    ):
        with pytest.raises(ValidationError, match=f"'{key}' is reserved; expected .*, got a table property"):
            sql(text)


def test_an_unknown_collation_is_refused(sql, lake):
    with pytest.raises(ValidationError, match="DEFAULT COLLATION: Spark has no collation nope; expected one of"):
        sql("CREATE TABLE lake.db.uncollated (n string) DEFAULT COLLATION nope")
    with pytest.raises(ValidationError, match="'collation' is reserved; expected the clause DEFAULT COLLATION"):
        sql("CREATE TABLE lake.db.uncollated (n string) TBLPROPERTIES ('collation' = 'UNICODE')")
    assert not lake.catalog.table_exists("db.uncollated")
