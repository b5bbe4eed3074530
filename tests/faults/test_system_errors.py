"""A failure of every system call that changes a file: operations raise errors of icefloe, and the table stays valid."""

import errno
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

from tests.faults.strace import needs_strace, run

# Prints the outcome of an append. The version hint is written after the commit, so its failure is not a failure of the
# append.
APPEND = """
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.exceptions import CommitStateUnknownException, IcebergError
kind, directory, name = sys.argv[1:]
properties = {"type": kind, "warehouse": f"{directory}/warehouse", "uri": f"sqlite:///{directory}/catalog.db"}
if kind == "hadoop":
    del properties["uri"]
table = load_catalog("cat", **properties).load_table(name)
rows = pa.table({"id": [10, 11]})
try:
    table.append(rows)
except IcebergError as error:
    cause = error.__cause__ if isinstance(error, OSError) else error
    print("refused", type(error).__name__, type(cause).__name__, getattr(error, "errno", None))
else:
    print("appended")
"""
CALLS = {
    "EIO": "fsync",
    "ENOSPC": "?mkdir,mkdirat,?link,linkat",
    "EACCES": "?mkdir,mkdirat,?link,linkat,?rename,?renameat,renameat2",
}
# Appends rows with a limit on the size of files, which simulates a full disk.
LIMITED = """
import resource
import sys
limit = int(sys.argv.pop())
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
"""


def ids(catalog, name):
    return sorted(catalog.load_table(name).scan().to_arrow().column("id").to_pylist())


def create(catalog, numbers, *, first_rows, file_format="parquet"):
    for number in numbers:
        properties = {"write.format.default": file_format}
        table = catalog.create_table(f"db.t{number}", pa.schema([("id", pa.int64())]), properties=properties)
        if first_rows:
            table.append(pa.table({"id": first_rows}))
    catalog.close()


def check(catalog, name, before, end):
    """Check that a table has its old or its new rows, and accepts the next commit."""
    assert end.returncode == 0, end.stderr
    found = ids(catalog, name)
    if end.stdout.startswith("appended"):
        assert found == [*before, 10, 11]
    else:
        assert found in (before, [*before, 10, 11])
    catalog.load_table(name).append(pa.table({"id": [12]}))
    assert ids(catalog, name) == [*found, 12]


@needs_strace
@pytest.mark.parametrize("code", CALLS)
def test_append_with_failing_system_calls_leaves_the_old_rows_or_the_new(shared_catalog, kind, tmp_path, code):
    numbers = range(1, 13)
    before = [1, 2] if code == "EIO" else []
    create(shared_catalog, numbers, first_rows=before)

    def append(number):
        options = ("-e", f"inject={CALLS[code]}:error={code}:when={number}")
        return run(APPEND, *options, arguments=(kind, str(tmp_path), f"db.t{number}"))

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(append, numbers))
    for number, end in zip(numbers, ends, strict=True):
        check(shared_catalog, f"db.t{number}", before, end)
    refused = [end.stdout.split() for end in ends if end.stdout.startswith("refused")]
    assert refused
    for _, error, cause, number in refused:
        if error == "StorageError" and kind == "hadoop":
            assert (cause, number) == (type(OSError(getattr(errno, code), "")).__name__, str(getattr(errno, code)))


@pytest.mark.parametrize("file_format", ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def test_append_to_a_full_disk_leaves_the_old_rows(shared_catalog, kind, tmp_path, file_format):
    limits = [0, 1, 100, 300, 1_000, 2_000, 4_000]
    create(shared_catalog, limits, first_rows=[1, 2], file_format=file_format)
    for limit in limits:
        arguments = (kind, str(tmp_path), f"db.t{limit}", str(limit))
        end = subprocess.run(
            [sys.executable, "-B", "-c", LIMITED + APPEND, *arguments], check=False, capture_output=True, text=True
        )
        check(shared_catalog, f"db.t{limit}", [1, 2], end)
        if limit < 300 or (limit == 300 and file_format == "parquet"):
            assert end.stdout.split()[:2] == ["refused", "StorageError"]
            assert end.stdout.split()[-1] == str(errno.EFBIG)


READ = """
import sys
from icefloe.catalog import load_catalog
table = load_catalog("cat", type="hadoop", warehouse=sys.argv[1]).load_table("db.t")
try:
    table.scan().to_arrow()
except OSError as error:
    print(type(error).__name__, type(error.__cause__).__name__, error.errno)
"""


@needs_strace
@pytest.mark.parametrize(
    ("call", "code", "cause"), [("pread64", "EIO", "OSError"), ("openat", "EACCES", "PermissionError")]
)
def test_unreadable_data_file_is_an_error_with_its_cause(tmp_path, call, code, cause):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1]}))
    path = table.inspect.files().column("file_path")[0].as_py()
    done = run(READ, "-P", path, "-e", f"inject={call}:error={code}", arguments=(str(tmp_path),))
    assert done.stdout.split() == ["StorageError", cause, str(getattr(errno, code))], done.stderr
