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
    ReplacePartitions,
    RewriteFiles,
    Row,
)
from tests.simulator.schedules import interleavings
from tests.simulator.shrink import report
from tests.simulator.world import SWAP

KINDS = ("append", "overwrite", "row delta", "rewrite", "replace partitions")
PAIRS = [((first,), (second,)) for first, second in itertools.combinations_with_replacement(KINDS[:4], 2)]
"""The scopes of every test run: two writers of one operation each."""
ALL = [
    (first, second)
    for first in (*itertools.product(KINDS), *itertools.product(KINDS, KINDS))
    for second in itertools.product(KINDS)
]
"""All scopes of two writers and at most three operations."""
SMALL = ((("append",), ("row delta",)), ("serializable",), ("crash before",), (0,))
"""The scope with faults of every test run: crashes of one client."""
ISOLATIONS = ("serializable", "snapshot")
FAULTS = ("crash before", "crash after", "error after", "repeated")


def operation(kind, client, number):
    """Return an operation that overlaps with the operations of the other client in row 1."""
    row = Row(1, "a", 10 * client + number + 10)
    return {
        "append": Append((row,)),
        "overwrite": Overwrite((row,), Condition(low=client, high=client + 1)),
        "row delta": Delete(Condition(low=client, high=client + 1)),
        "rewrite": RewriteFiles(),
        "replace partitions": ReplacePartitions((row,)),
    }[kind]


def scope(kinds, isolation, faults=()):
    properties = {f"write.{name}.isolation-level": isolation for name in ("delete", "update", "merge")}
    transactions = (
        ClientTransaction(
            tuple(operation(kind, client, number) for number, kind in enumerate(own)), explicit=len(own) > 1
        )
        for client, own in enumerate(kinds)
    )
    return History(
        seed=1,
        layout=Layout.BY_PART,
        initial=((Row(0, "a", 0), Row(1, "a", 1), Row(2, "a", 2), Row(3, "b", 3)),),
        transactions=tuple(transactions),
        properties={**properties, "write.delete.mode": "merge-on-read"},
        shared_only=True,
        faults=faults,
    )


def explore(history):
    """Return the outcome of every schedule of a history."""
    outcomes = []
    for scheduled, outcome in interleavings(history):
        outcomes.append(outcome)
        if violation_in(scheduled, outcome) is not None:
            pytest.fail(report(scheduled))
    return outcomes


def test_every_interleaving_of_two_writers_keeps_its_isolation(scope_kinds):
    assert len(explore(scope(scope_kinds, "serializable"))) > 1


@pytest.mark.parametrize("fault", FAULTS)
def test_every_interleaving_with_a_fault_at_the_swap_keeps_its_isolation(fault):
    kinds = (("append",), ("overwrite",))
    outcomes = explore(scope(kinds, "serializable", (Fault(0, SWAP, 0, fault),)))
    assert len(outcomes) > 1
    assert all(outcome.fired for outcome in outcomes)


def explore_all(kinds, isolations, faults, clients):
    """Explore a scope without a fault and with each fault at each swap of each client; return its histories and schedules.

    No client sees the reads of another one, so that a crash before or after a read has the effects of a crash before the next swap.
    A fault leaves the calls before it as they are, so that the swaps without faults are all swaps at which faults occur.
    """
    histories = schedules = 0
    for isolation in isolations:
        faultless = explore(scope(kinds, isolation))
        explored = [
            explore(scope(kinds, isolation, (Fault(client, SWAP, number, fault),)))
            for client, fault in itertools.product(clients, faults)
            for number in range(max(swaps_of(client, outcome) for outcome in faultless))
        ]
        histories += 1 + len(explored)
        schedules += sum(map(len, [faultless, *explored]))
    return histories, schedules


def swaps_of(client, outcome):
    """Return the number of swaps that a client requested."""
    return sum(decision.chosen == client and decision.call == SWAP for decision in outcome.decisions)


def test_every_interleaving_with_a_fault_at_any_shared_call_keeps_its_isolation(faulty_scope):
    histories, schedules = explore_all(*faulty_scope)
    print(f"{faulty_scope[0]}: {histories} histories, {schedules} schedules")
    assert schedules > histories
