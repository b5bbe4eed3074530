"""Commits on file systems without hard links, as FUSE, SMB and exFAT are: their `link` is refused by the kernel here."""

import subprocess
import sys

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

from tests.faults.strace import needs_strace, run

pytestmark = needs_strace
APPEND = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
table = load_catalog("cat", type="hadoop", warehouse=sys.argv[1]).load_table("db.t")
for row in sys.argv[2:]:
    table.append(pa.table({"id": [int(row)]}))
"""


@pytest.fixture
def catalog(tmp_path):
    made = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    made.create_namespace("db")
    made.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [0]}))
    return made


def rows(catalog):
    return sorted(catalog.load_table("db.t").scan().to_arrow().column("id").to_pylist())


@pytest.mark.parametrize("code", ["EPERM", "EOPNOTSUPP", "EMLINK", "ENOSYS"])
def test_commit_without_hard_links_renames_without_replacing(catalog, tmp_path, code):
    done = run(APPEND, "-e", f"inject=?link,linkat:error={code}", arguments=(str(tmp_path), "1"))
    assert done.returncode == 0, done.stderr
    assert rows(catalog) == [0, 1]
    assert list(tmp_path.rglob(".icefloe-*")) == []


def test_writers_without_hard_links_lose_no_commit(catalog, tmp_path):
    table = catalog.load_table("db.t")
    table.transaction().set_properties({"commit.retry.num-retries": "100"}).commit_transaction()
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=?link,linkat:error=EPERM", sys.executable, "-B"]
    writers = [
        subprocess.Popen([*command, "-c", APPEND, str(tmp_path), *(str(10 * writer + row) for row in range(5))])
        for writer in range(1, 4)
    ]
    assert [writer.wait(300) for writer in writers] == [0, 0, 0]
    assert rows(catalog) == [0, *range(10, 15), *range(20, 25), *range(30, 35)]


def test_commit_that_no_call_can_make_exclusive_is_refused(catalog, tmp_path):
    injected = ("-e", "inject=?link,linkat:error=EPERM", "-e", "inject=renameat2:error=EINVAL")
    done = run(APPEND, *injected, arguments=(str(tmp_path), "1"))
    assert done.returncode == 1
    assert "StorageError" in done.stderr
    assert "neither hard links nor a rename that refuses to replace" in done.stderr
    assert rows(catalog) == [0]
    assert list(tmp_path.rglob(".icefloe-*")) == []
