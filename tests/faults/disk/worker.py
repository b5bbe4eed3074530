"""Sweep operations over system calls or power cuts in a process with the preloaded library of `disk.c`.

Arguments: what is swept ("errors", "kills" or "power"), kind of catalog, directory, share and first number of the faults,
names of operations. Prints the figures and the violations of each operation as a line of JSON. The variable `POWER_CUT_MUTANT`
names a bug that the process has.
"""

import json
import os
import signal
import sys
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path

from icefloe.catalog import load_catalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.table.environment import SYSTEM

from tests.faults.disk.faulty_disk import FaultyDisk
from tests.faults.disk.power_cuts import PowerCuts
from tests.faults.operations import OPERATIONS
from tests.faults.selection import Selection
from tests.faults.sweep import Calls, Sweep
from tests.simulator.mutants import POWER_CUT_MUTANTS
from tests.simulator.mutation import mutated


def open_catalog(kind, directory):
    properties = {"type": kind, "warehouse": f"{directory}/warehouse"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{directory}/catalog.db"
    return load_catalog("cat", **properties)


class KilledDisk(FaultyDisk):
    """A disk whose faults kill the process."""

    def kinds_of(self, name):
        if name.startswith(("open", "read")):
            return ()
        return ("killed before", "torn and killed") if name.startswith("write") else ("killed before",)


class KillSweep(Sweep):
    """Runs of an operation in a child process, which is killed at each of its system calls."""

    def _act(self, number, kind):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # Connections of the parent are not usable in a child.
                self.changing = open_catalog(*self.place)
                code = 0 if super()._act(number, kind)[0] == "success" else 1
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        calls = Calls()
        self.faults.read_calls(calls)
        if code == -signal.SIGKILL:
            return "killed", None, calls
        return "success" if code == 0 else "failure", None, calls


def do_not_sleep(_seconds):
    """Return at once: waits before the outcome of a change is read back take no time."""


def main(what, kind, directory, share, first, *names):
    root = Path(directory).resolve()
    (root / "disk").mkdir()
    root_of_tables, log = root / "disk", root / "record"
    SqlCatalog.environment = replace(SYSTEM, sleep=do_not_sleep)
    selection = Selection(int(share), int(first))
    for number, name in enumerate(names):
        with open_catalog(kind, root_of_tables) as catalog:
            options = {"warehouse": f"{root_of_tables}/warehouse", "selection": selection, "name": f"n{number}x"}
            if what == "errors":
                sweep = Sweep(OPERATIONS[name], catalog, catalog, FaultyDisk(root_of_tables, log), **options)
            elif what == "kills":
                sweep = KillSweep(OPERATIONS[name], catalog, catalog, KilledDisk(root_of_tables, log), **options)
                sweep.place = (kind, root_of_tables)
            else:
                sweep = PowerCuts(
                    OPERATIONS[name], lambda: open_catalog(kind, root_of_tables), root_of_tables, log, **options
                )
            sweep.run()
        print(json.dumps({"operation": name, "tally": asdict(sweep.tally), "violations": sweep.violations}), flush=True)


mutant = os.environ.get("POWER_CUT_MUTANT")
with nullcontext() if mutant is None else mutated(POWER_CUT_MUTANTS[mutant]):
    main(*sys.argv[1:])
