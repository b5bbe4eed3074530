"""Enumeration of the schedules of a history, one for each class of equivalent schedules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.simulator.interpreter import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.simulator.interpreter import Outcome
    from tests.simulator.operations import History
    from tests.simulator.world import Decision

LONGEST = 10_000
"""More decisions than a client has."""


def interleavings(history: History) -> Iterator[tuple[History, Outcome]]:
    """Yield the history with its schedules, and the outcome of each schedule.

    Schedules that differ only in the order of adjacent independent calls of different clients are equivalent, and one of
    them is run: two calls that a run proves to be dependent are run in the other order as well (dynamic partial-order
    reduction, Flanagan and Godefroid 2005), and sleep sets skip the orders that another run covers.
    """
    steps: list[_Step] = []
    prefix: tuple[int, ...] = ()
    while True:
        outcome = run(replace(history, schedule=(*prefix, *prefix[-1:] * LONGEST)))
        chosen = tuple(decision.chosen for decision in outcome.decisions)
        yield replace(history, schedule=chosen), outcome
        _extend(steps, outcome.decisions[len(prefix[:-1]) :], history)
        _add_reversals(steps, history)
        while steps and not steps[-1].open:
            steps.pop()
        if not steps:
            return
        prefix = (*chosen[: len(steps) - 1], min(steps[-1].open))


@dataclass
class _Step:
    """A decision of the current run and what remains to be tried in its place.

    Attributes:
        taken: The decision of the current run.
        tried: The decision of every run so far, by its client.
        asleep: The decisions of clients whose selection here is equivalent to a schedule that was run.
        wanted: The clients whose selection reverses two dependent calls.
    """

    taken: Decision
    tried: dict[int, Decision] = field(default_factory=dict)
    asleep: dict[int, Decision] = field(default_factory=dict)
    wanted: set[int] = field(default_factory=set)

    @property
    def open(self) -> set[int]:
        """The clients that remain to be selected."""
        return self.wanted - self.tried.keys() - self.asleep.keys()


def _extend(steps: list[_Step], decisions: Sequence[Decision], history: History) -> None:
    """Replace the last step's decision by the first of the new decisions, and add a step for each other one."""
    for number, decision in enumerate(decisions):
        if number == 0 and steps:
            steps[-1].taken = decision
        else:
            steps.append(_Step(decision, asleep=_asleep_after(steps[-1], history) if steps else {}))
        steps[-1].tried[decision.chosen] = decision


def _asleep_after(step: _Step, history: History) -> dict[int, Decision]:
    covered = {**step.asleep, **step.tried}
    return {
        client: decision
        for client, decision in covered.items()
        if client != step.taken.chosen and not _depend(decision, step.taken, history)
    }


def _add_reversals(steps: Sequence[_Step], history: History) -> None:
    """For each call, select its client before the last dependent call of another client that did not have to come before."""
    known: list[dict[int, int]] = []
    newest: dict[int, dict[int, int]] = {}
    for number, step in enumerate(steps):
        client = step.taken.chosen
        own = dict(newest.get(client, {}))
        before = dict(own)
        raced = False
        for place in range(number - 1, -1, -1):
            other = steps[place].taken
            if other.chosen == client or not _depend(other, step.taken, history):
                continue
            if not raced and before.get(other.chosen, -1) < place:
                steps[place].wanted.add(client)
                raced = True
            own = {
                each: max(own.get(each, -1), known[place].get(each, -1)) for each in own.keys() | known[place].keys()
            }
        own[client] = number
        known.append(own)
        newest[client] = own


def _depend(first: Decision, second: Decision, history: History) -> bool:
    """Return whether the order of two calls of different clients matters.

    A change of a catalog depends on every other call of the catalog. Other calls write or delete files that no other client refers
    to, unless clients maintain the table; late changes take effect after a number of calls of all clients.
    """
    if history.maintainers or any(fault.kind == "late" for fault in history.faults):
        return True
    return (first.changed or second.changed) and all(
        call.startswith("catalog.") or (call == "" and history.transactions[client].changes_catalog)
        for client, call in ((first.chosen, first.call), (second.chosen, second.call))
    )
