"""Every mutant of the commit code is found by random histories, by the interleavings of a history or by a fault at every call."""

from __future__ import annotations

import itertools

from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError

from tests.faults.test_every_call import call_sweep
from tests.simulator.checks import violation_in, violation_of
from tests.simulator.generator import random_history
from tests.simulator.mutants import HISTORIC, MUTANTS
from tests.simulator.mutation import mutated
from tests.simulator.operations import History
from tests.simulator.schedules import interleavings

MOST_HISTORIES = 600


def find(mutant, tmp_path):
    """Return the violation that a mutant causes, None if it causes no violation."""
    if isinstance(mutant.found_by, History):
        with mutated(mutant):
            if mutant.found_by.schedule is not None:
                return violation_of(mutant.found_by)
            try:
                violations = (violation_in(*explored) for explored in interleavings(mutant.found_by))
                return next(filter(None, violations), None)
            except Exception as error:  # noqa: BLE001 - an error of another kind is a violation
                return f"{type(error).__name__}: {error}"
    if mutant.found_by is None:
        with mutated(mutant):
            for seed in range(mutant.first_seed, mutant.first_seed + MOST_HISTORIES):
                violation = violation_of(random_history(seed))
                if violation is not None:
                    return f"seed {seed}: {violation}"
        return None
    kind, name = mutant.found_by
    tmp_path.mkdir()
    properties = {"type": kind, "warehouse": f"{tmp_path}/warehouse"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{tmp_path}/catalog.db"
    with load_catalog("cat", **properties) as catalog, mutated(mutant):
        sweep = call_sweep(catalog, name)
        try:
            sweep.run()
        except IcebergError as error:
            return f"the table cannot be read: {error}"
        return next(iter(sweep.violations), None)


def test_mutants_are_found(mutant_names, tmp_path):
    directories = (tmp_path / str(number) for number in itertools.count())
    found = {name: find(MUTANTS[name], next(directories)) for name in mutant_names}
    for name, how in found.items():
        historic = " (historic)" if name in HISTORIC else ""
        print(f"{name}{historic}: {how[:160] if how is not None else 'NOT FOUND'}")
    assert [name for name, how in found.items() if how is None] == []


def test_historic_bugs_are_mutants():
    assert set(HISTORIC) <= set(MUTANTS)
