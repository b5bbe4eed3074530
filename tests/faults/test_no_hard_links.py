"""Commits on file systems without hard links, such as FUSE, SMB and exFAT, simulated by a failing `link` call."""

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

CREATE_AND_APPEND = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("cat", type="sql", uri=f"sqlite:///{sys.argv[1]}/catalog.db", warehouse=sys.argv[1])
catalog.create_namespace("db")
table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
for row in (1, 2):
    table.append(pa.table({"id": [row]}))
"""
CREATE_FILE = """
import sys
from icefloe import _core
_core.FileIo({}).write(sys.argv[1], b"first", overwrite=False)
try:
    _core.FileIo({}).write(sys.argv[1], b"second", overwrite=False)
except OSError as error:
    print(type(error).__name__)
"""
# exFAT through FUSE supports neither hard links nor exclusive renames.
NEITHER = ("-e", "inject=?link,linkat:error=EPERM", "-e", "inject=renameat2:error=EINVAL")


@pytest.fixture
def catalog(tmp_path):
    made = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    made.create_namespace("db")
    made.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [0]}))
    return made


def rows(catalog):
    return sorted(catalog.load_table("db.t").scan().to_arrow().column("id").to_pylist())


@pytest.mark.parametrize("code", ["EPERM", "EOPNOTSUPP", "EMLINK", "ENOSYS"])
def test_commit_without_hard_links_renames_and_replaces_no_file(catalog, tmp_path, code):
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


def test_hadoop_commit_without_links_and_exclusive_renames_is_an_error(catalog, tmp_path):
    done = run(APPEND, *NEITHER, arguments=(str(tmp_path), "1"))
    assert done.returncode == 1
    assert "StorageError" in done.stderr
    assert "neither hard links nor a rename that refuses to replace" in done.stderr
    assert rows(catalog) == [0]
    assert list(tmp_path.rglob(".icefloe-*")) == []


def test_sql_catalog_needs_neither_links_nor_exclusive_renames(tmp_path):
    directory = str(tmp_path)
    done = run(CREATE_AND_APPEND, *NEITHER, arguments=(directory,))
    assert done.returncode == 0, done.stderr
    with load_catalog("cat", type="sql", uri=f"sqlite:///{directory}/catalog.db") as catalog:
        assert rows(catalog) == [1, 2]
    assert list(tmp_path.rglob(".icefloe-*")) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size == 0] == []


def test_exclusive_write_replaces_no_file_without_links_and_exclusive_renames(tmp_path):
    done = run(CREATE_FILE, *NEITHER, arguments=(f"{tmp_path}/file",))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["FileAlreadyExistsError"]
    assert (tmp_path / "file").read_bytes() == b"first"
