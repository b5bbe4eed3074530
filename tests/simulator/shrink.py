"""Reduction of a history that violates a rule to a smaller history, printed as a test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulator.checks import violation_of
from tests.simulator.interpreter import run
from tests.simulator.operations import ClientTransaction, Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.operations import History

MOST_RUNS = 400


def report(history: History) -> str:
    """Return the violation of a history, and the smallest history with a violation that was found, as a test."""
    small, violation = shrink(history)
    return "\n".join(
        [
            f"seed {history.seed}: {violation_of(history)}",
            f"shrunk: {violation}",
            "",
            f"def test_history_{history.seed}_keeps_its_isolation():",
            f"    history = {small!r}",
            "    assert violation_of(history) is None",
        ]
    )


def shrink(history: History) -> tuple[History, str | None]:
    """Return a smaller history with a violation and its violation, or the history itself if it has no violation."""
    best, violation = with_schedule(history), violation_of(history)
    if violation_of(best) is None:
        return history, violation
    runs, changed = 0, True
    while changed and runs < MOST_RUNS:
        changed = False
        for candidate in smaller(best):
            runs += 1
            found = violation_of(candidate)
            if found is not None:
                best, violation, changed = candidate, found, True
                break
            if runs == MOST_RUNS:
                break
    return best, violation


def with_schedule(history: History) -> History:
    """Return a history with an explicit schedule: the decisions that were drawn from its seed."""
    if history.schedule is not None:
        return history
    try:
        decisions = run(history).decisions
    except Exception:  # noqa: BLE001 - the violation is an error; its schedule stays drawn from the seed
        return history
    return replace(history, schedule=tuple(decision.chosen for decision in decisions))


def smaller(history: History) -> Iterator[History]:
    """Yield smaller histories: without one fault, transaction, operation or row, or with a simpler layout or schedule."""
    for number in range(len(history.faults)):
        yield replace(history, faults=_without(history.faults, number))
    for client, transaction in enumerate(history.transactions):
        if transaction.operations:
            yield _with_operations(history, client, ())
        if len(transaction.operations) > 1:
            for number in range(len(transaction.operations)):
                yield _with_operations(history, client, _without(transaction.operations, number))
    if history.clocks:
        yield replace(history, clocks=())
    if history.layout is not Layout.FLAT:
        yield replace(history, layout=Layout.FLAT)
    yield from _with_fewer_rows(history)
    yield from _shorter_schedules(history)


def _with_fewer_rows(history: History) -> Iterator[History]:
    for number in range(len(history.initial)):
        yield replace(history, initial=_without(history.initial, number))
        if len(history.initial[number]) > 1:
            for row in range(len(history.initial[number])):
                rows = _without(history.initial[number], row)
                yield replace(history, initial=(*history.initial[:number], rows, *history.initial[number + 1 :]))


def _shorter_schedules(history: History) -> Iterator[History]:
    schedule = history.schedule
    if not schedule:
        return
    length = len(schedule) // 2
    while length:
        for start in range(0, len(schedule), length):
            yield replace(history, schedule=schedule[:start] + schedule[start + length :])
        length //= 2


def _with_operations(history: History, client: int, operations: tuple) -> History:
    changed = ClientTransaction(operations, history.transactions[client].explicit)
    return replace(history, transactions=(*history.transactions[:client], changed, *history.transactions[client + 1 :]))


def _without(values: tuple, number: int) -> tuple:
    return values[:number] + values[number + 1 :]
