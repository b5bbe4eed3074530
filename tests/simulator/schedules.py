"""Enumeration of the schedules of a history, one for each class of equivalent schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulator.interpreter import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.interpreter import Outcome
    from tests.simulator.operations import History

READS = ("catalog.pointer", "sleep", "")
"""Calls whose order among each other has no effect. The empty name is the beginning of a client."""


def interleavings(history: History) -> Iterator[tuple[History, Outcome]]:
    """Yield the history with its schedules, and the outcome of each schedule.

    Schedules that differ only in the order of adjacent reads of different clients are equivalent. Sleep sets skip equivalent
    schedules, unless a fault depends on the number of calls of all clients.
    """
    reduced = not any(fault.kind == "late" for fault in history.faults)
    open_prefixes: list[tuple[tuple[int, ...], frozenset[int]]] = [((), frozenset())]
    while open_prefixes:
        prefix, asleep = open_prefixes.pop()
        scheduled = replace(history, schedule=prefix)
        outcome = run(scheduled)
        yield scheduled, outcome
        chosen = tuple(client for _, client, _ in outcome.decisions)
        for place in range(len(prefix), len(chosen)):
            running, client, calls = outcome.decisions[place]
            explored = asleep | {client}
            for other in sorted(set(running) - explored):
                open_prefixes.append(
                    (
                        (*chosen[:place], other),
                        frozenset(one for one in explored if reduced and _commute(calls[one], calls[other])),
                    )
                )
                explored |= {other}
            if client in asleep:
                break
            asleep = frozenset(one for one in asleep if _commute(calls[one], calls[client]))


def _commute(first: str, second: str) -> bool:
    return first in READS and second in READS
