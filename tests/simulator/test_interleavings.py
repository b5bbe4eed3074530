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
    """Return the number of schedules of a history and whether a fault occurred in any of them."""
    explored, fired = 0, False
    for scheduled, outcome in interleavings(history):
        explored += 1
        fired |= outcome.fired > 0
        if violation_in(scheduled, outcome) is not None:
            pytest.fail(report(scheduled))
    return explored, fired


def test_every_interleaving_of_two_writers_keeps_its_isolation(scope_kinds):
    explored, _ = explore(scope(scope_kinds, "serializable"))
    assert explored > 1


@pytest.mark.parametrize("fault", FAULTS)
def test_every_interleaving_with_a_fault_at_the_swap_keeps_its_isolation(fault):
    kinds = (("append",), ("overwrite",))
    explored, fired = explore(scope(kinds, "serializable", (Fault(0, "catalog.swap", 0, fault),)))
    assert explored > 1
    assert fired


def histories_of(kinds, isolations, faults, clients):
    """Yield the histories of a scope, without a fault and with each fault at each swap of each client.

    No client sees the reads of another one, so that a crash before or after a read has the effects of a crash before the next swap.
    """
    for isolation in isolations:
        yield scope(kinds, isolation)
        for client, fault in itertools.product(clients, faults):
            for number in itertools.count():
                fires = yield scope(kinds, isolation, (Fault(client, "catalog.swap", number, fault),))
                if not fires:
                    break


def explore_all(*parts):
    """Return the number of histories of a scope and of their schedules."""
    histories, schedules, count = histories_of(*parts), 0, 0
    history = next(histories)
    while history is not None:
        explored, fired = explore(history)
        schedules, count = schedules + explored, count + 1
        try:
            history = histories.send(fired)
        except StopIteration:
            history = None
    return count, schedules


def test_every_interleaving_with_a_fault_at_any_shared_call_keeps_its_isolation(faulty_scope):
    histories, schedules = explore_all(*faulty_scope)
    print(f"{faulty_scope[0]}: {histories} histories, {schedules} schedules")
    assert schedules > histories
