"""The Java reference's REST client and icefloe on one server: each reads the other's commits and commits after them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.types import StringType

from tests.catalogs.rest.conftest import ROWS, SCHEMA

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"


def rows(table):
    return sorted(list(row.values()) for row in table.scan().to_arrow().to_pylist())


@pytest.mark.interop
@pytest.mark.spark
def test_java_and_icefloe_continue_each_others_tables(rest, catalog, namespace, tmp_path):
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    with catalog.create_table_transaction((namespace, "ours"), SCHEMA) as transaction:
        transaction.append(ROWS)
    ours = catalog.load_table((namespace, "ours"))
    with ours.update_properties() as update:
        update.set_properties({"write.delete.mode": "merge-on-read"})
    with ours.update_schema() as update:
        update.add_column("note", StringType())
    ours.delete("id = 2")
    command = [sys.executable, "-m", "tests.catalogs.rest.java_job", str(jars[-1]), str(tmp_path), rest.uri, namespace]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["before"] == [[1, "a", None], [3, "c", None]]
    assert found["after"] == [[1, "a", None], [10, "java", None]]
    assert rows(ours.refresh()) == found["after"]
    ours.append(pa.table({"id": [11], "name": ["icefloe"], "note": ["again"]}))
    assert len(rows(ours)) == 3
    theirs = catalog.load_table((namespace, "theirs"))
    assert rows(theirs) == found["theirs"] == [[1, "a", None], [3, "c", None]]
    theirs.append(pa.table({"id": [4], "name": ["d"], "note": ["n"]}))
    assert rows(theirs) == [[1, "a", None], [3, "c", None], [4, "d", "n"]]
