"""Every interleaving of two writers at their shared calls, with and without faults, has an outcome of the model."""

from __future__ import annotations

import itertools

import pytest

from tests.simulator.checks import violation_in
from tests.simulator.operations import (
    Append,
    ClientTransaction,
    Condition,
    Delete,
    Fault,
    History,
    Layout,
    Overwrite,
    Row,
)
from tests.simulator.schedules import interleavings
from tests.simulator.shrink import report

FIRST = {
    "append": Append((Row(1, "a", 10),)),
    "overwrite": Overwrite((Row(1, "a", 11),), Condition(low=1, high=1)),
    "delete": Delete(Condition(low=0, high=1)),
}
SECOND = {
    "append": Append((Row(1, "a", 20),)),
    "overwrite": Overwrite((Row(2, "a", 21),), Condition(low=1, high=2)),
    "delete": Delete(Condition(low=1, high=2)),
}
PAIRS = list(itertools.product(FIRST, SECOND))
CRASHES = (
    (),
    (Fault(0, "catalog.swap", 0, "crash before"),),
    (Fault(0, "catalog.swap", 0, "crash after"),),
    (Fault(0, "catalog.swap", 0, "error after"),),
    (Fault(0, "catalog.swap", 0, "repeated"),),
    (Fault(0, "catalog.swap", 0, "late", delay=8),),
)


def scope(pair, mode, isolation, faults):
    first, second = FIRST[pair[0]], SECOND[pair[1]]
    properties = {f"write.{name}.isolation-level": isolation for name in ("delete", "update", "merge")}
    return History(
        seed=0,
        layout=Layout.FLAT,
        initial=((Row(0, "a", 0), Row(1, "a", 1), Row(2, "a", 2)),),
        transactions=(ClientTransaction((first,), explicit=False), ClientTransaction((second,), explicit=False)),
        properties={**properties, "write.delete.mode": mode},
        shared_only=True,
        faults=faults,
    )


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_interleaving_of_two_writers_keeps_its_isolation(pair, interleaving_scopes):
    explored = 0
    for mode, isolation, faults in interleaving_scopes(CRASHES):
        for scheduled, outcome in interleavings(scope(pair, mode, isolation, faults)):
            explored += 1
            if violation_in(scheduled, outcome) is not None:
                pytest.fail(report(scheduled))
    print(f"{pair[0]} and {pair[1]}: {explored} interleavings")
    assert explored > 1
