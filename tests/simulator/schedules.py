"""Enumeration of all schedules of a history."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulator.interpreter import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.interpreter import Outcome
    from tests.simulator.operations import History


def interleavings(history: History) -> Iterator[tuple[History, Outcome]]:
    """Yield the history with each of its schedules, and the outcome of that schedule."""
    open_prefixes: list[tuple[int, ...]] = [()]
    while open_prefixes:
        prefix = open_prefixes.pop()
        scheduled = replace(history, schedule=prefix)
        outcome = run(scheduled)
        yield scheduled, outcome
        chosen = tuple(client for _, client in outcome.decisions)
        for place in range(len(prefix), len(chosen)):
            others = set(outcome.decisions[place][0]) - {chosen[place]}
            open_prefixes += [(*chosen[:place], other) for other in sorted(others)]
