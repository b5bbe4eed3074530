"""Rules that every outcome of a history must satisfy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulator.interpreter import run
from tests.simulator.model import serial_outcomes, snapshot_outcome, with_lost_replies, without_void_changes

if TYPE_CHECKING:
    from tests.simulator.interpreter import Outcome
    from tests.simulator.model import State
    from tests.simulator.operations import History

EXPECTED = (
    "CommitFailedException",
    "ValidationException",
    "ValidationError: Cannot add column, name already exists",
    "ValidationError: cannot create",
    "TableAlreadyExistsError",
    "NoSuchTableError",
    "ResolveError: merge",
    "ResolveError: upsert",
)
"""Exceptions that may end a transaction in a history without faults."""
EXPIRED = (
    "ValidationError: the table has no snapshot",
    "ValidationError: plan of",
    "ValidationError: cannot set",
    "MissingFileError",
)
"""Further exceptions that may end a transaction beside expiry, which removes snapshots that a transaction names or reads."""

REPLACED = ("ValidationError: cannot roll back to snapshot",)
"""Further exceptions that may end a transaction beside a replacement of the table, after which main has other ancestors."""


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
    swaps = [client for client in outcome.swaps if client not in history.maintainers]
    took_effect = set(swaps)
    reported = took_effect & set(outcome.refused)
    if reported:
        return f"transactions of clients {reported} took effect and were reported as failed: {outcome.refused}"
    if len(took_effect) < len(swaps) or max(Counter(outcome.tags).values(), default=0) > 1:
        return f"a transaction took effect twice: swaps {outcome.swaps}, snapshots {outcome.tags}"
    if outcome.stamps:
        return f"sequence numbers: {outcome.stamps}"
    if not outcome.fired:
        expected = (*EXPECTED, *EXPIRED) if history.maintainers else EXPECTED
        if any(transaction.replacement is not None for transaction in history.transactions):
            expected = (*expected, *REPLACED)
        odd = [reason for reason in outcome.refused.values() if not reason.startswith(expected)]
        if odd or outcome.unknown:
            return f"failures without a fault: {odd} {outcome.unknown}"
        if outcome.orphans:
            return f"files that no snapshot refers to: {sorted(outcome.orphans)}"
    return _wrong_rows(history, outcome) or _wrong_following(outcome)


def _wrong_rows(history: History, outcome: Outcome) -> str | None:
    if not history.is_serializable:
        expected = snapshot_outcome(history, outcome.swaps, outcome.seen)
        if expected is not None and _compared(history, expected) == _compared(history, outcome.state):
            return None
        return f"rows under snapshot isolation: expected {expected}, got {outcome.state}; swaps {outcome.swaps}, seen {outcome.seen}"
    clients = sorted({*outcome.swaps, *outcome.committed} - history.maintainers)
    meant = with_lost_replies(
        without_void_changes(history, outcome.swaps, outcome.seen), outcome.committed, outcome.swaps
    )
    orders = serial_outcomes(meant, clients, outcome.before)
    if _compared(history, outcome.state) in [_compared(history, state) for state in orders.values()]:
        return None
    return f"no serial order of clients {clients} has the rows {outcome.state}; orders: {orders}"


def _compared(history: History, state: State | None) -> State | None:
    """Return what is compared of a state: an expired snapshot loses its statistics."""
    return replace(state, statistics=None) if history.maintainers and state is not None else state


def _wrong_following(outcome: Outcome) -> str | None:
    return None if outcome.following is None else f"the next writer failed: {outcome.following}"
