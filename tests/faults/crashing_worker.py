"""Append two rows to each of several tables, in one child process per table.

The child of table `db.t<n>` kills itself before its n-th call of storage, core or catalog. Arguments: kind of catalog,
directory, number of tables. Prints the exit code of each child on a line: -9 for a killed child, 0 for a child that ended.
"""

import itertools
import os
import signal
import sys
import traceback

import pyarrow as pa
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.catalog.pointer_catalog import PointerCatalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.io import FileIO

kind, directory, tables = sys.argv[1], sys.argv[2], int(sys.argv[3])
calls = itertools.count(1)
last_call = 0
FUNCTIONS = [
    "plan",
    "read",
    "write_data_files",
    "write_manifests",
    "write_manifest_list",
    "read_manifest",
    "read_manifest_list",
    "filter_manifests",
    "merge_manifests",
]


def tick():
    if next(calls) == last_call:
        os.kill(os.getpid(), signal.SIGKILL)


class CountingIo:
    """Storage that counts its calls."""

    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        value = getattr(self.real, name)
        if not callable(value):
            return value

        def counted(*args, **kwargs):
            tick()
            return value(*args, **kwargs)

        return counted


def counting(function):
    def counted(io, *args, **kwargs):
        tick()
        return function(io.real, *args, **kwargs)

    return counted


def counting_swap(swap):
    def counted(self, *args):
        tick()
        swap(self, *args)
        tick()

    return counted


real_core = FileIO.core
FileIO.core = property(lambda self: CountingIo(real_core.fget(self)))
for name in FUNCTIONS:
    setattr(_core, name, counting(getattr(_core, name)))
SqlCatalog._swap = counting_swap(SqlCatalog._swap)
assert PointerCatalog._swap is not SqlCatalog._swap

properties = {"type": kind, "warehouse": f"{directory}/warehouse"}
if kind == "sql":
    properties["uri"] = f"sqlite:///{directory}/catalog.db"


def append(number):
    table = load_catalog("cat", **properties).load_table(f"db.t{number}")
    table.append(pa.table({"id": pa.array([10, 11], pa.int64())}))


for last_call in range(1, tables + 1):
    child = os.fork()
    if child == 0:
        try:
            append(last_call)
        except BaseException:  # noqa: BLE001 - the child must not run on as its parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
