"""Tables that icefloe, the Java reference and icefloe again change, with equal rows after each."""

from __future__ import annotations

import pytest

from tests.interop.java.continued import SERVER_JARS, combinations, sqlite_driver

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(sqlite_driver() is None, reason=f"the REST server is not in {SERVER_JARS}: make rest-server"),
]


@pytest.mark.parametrize(("catalog", "change"), combinations())
def test_java_continues_a_table_and_icefloe_after_it(java, catalog, change):
    readings = java.record("continued", f"{catalog}-{change}")
    assert len(readings) == 3
    for reading in readings:
        assert reading["icefloe"] == reading["java"]
    names, last = readings[-1]["icefloe"]["main"]
    ids = {row[names.index("id")] for row in last}
    assert "201" in ids
    assert not {"3", "4", "100", "101", "200"} & ids
