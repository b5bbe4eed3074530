"""Rules that every outcome of a history must satisfy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.simulator.interpreter import run
from tests.simulator.model import serial_outcomes, snapshot_outcome

if TYPE_CHECKING:
    from tests.simulator.interpreter import Outcome
    from tests.simulator.operations import History

EXPECTED = (
    "CommitFailedException",
    "ValidationException",
    "ValidationError: Cannot add column, name already exists",
    "ValidationError: cannot create",
    "TableAlreadyExistsError",
    "NoSuchTableError",
    "ResolveError: merge",
)
"""Exceptions that may end a transaction in a history without faults."""


def violation_of(history: History) -> str | None:
    """Run a history and return the first rule that its outcome violates, None if there is no violation."""
    try:
        outcome = run(history)
    except Exception as error:  # noqa: BLE001 - any error of another kind is a violation
        return f"{type(error).__name__}: {error}"
    return violation_in(history, outcome)


def violation_in(history: History, outcome: Outcome) -> str | None:
    """Return the first rule that an outcome violates, None if there is no violation."""
    if outcome.missing:
        return f"files of snapshots do not exist: {sorted(outcome.missing)}"
    took_effect = set(outcome.swaps)
    reported = took_effect & set(outcome.refused)
    if reported:
        return f"transactions of clients {reported} took effect and were reported as failed: {outcome.refused}"
    if len(took_effect) < len(outcome.swaps) or max(Counter(outcome.tags).values(), default=0) > 1:
        return f"a transaction took effect twice: swaps {outcome.swaps}, snapshots {outcome.tags}"
    if outcome.stamps:
        return f"sequence numbers: {outcome.stamps}"
    if not outcome.fired:
        odd = [reason for reason in outcome.refused.values() if not reason.startswith(EXPECTED)]
        if odd or outcome.unknown:
            return f"failures without a fault: {odd} {outcome.unknown}"
        if outcome.orphans:
            return f"files that no snapshot refers to: {sorted(outcome.orphans)}"
    return _wrong_rows(history, outcome) or _wrong_following(outcome)


def _wrong_rows(history: History, outcome: Outcome) -> str | None:
    if not history.is_serializable:
        expected = snapshot_outcome(history, outcome.swaps, outcome.seen)
        if expected is not None and expected == outcome.state:
            return None
        return f"rows under snapshot isolation: expected {expected}, got {outcome.state}; swaps {outcome.swaps}, seen {outcome.seen}"
    clients = sorted({*outcome.swaps, *outcome.committed})
    orders = serial_outcomes(history, clients, outcome.before)
    if outcome.state in orders.values():
        return None
    return f"no serial order of clients {clients} has the rows {outcome.state}; orders: {orders}"


def _wrong_following(outcome: Outcome) -> str | None:
    return None if outcome.following is None else f"the next writer failed: {outcome.following}"
