"""A model of a table: the effect of operations on rows, and the final rows of every serial order of transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from tests.simulator.operations import (
    MAIN,
    Append,
    ClientTransaction,
    Delete,
    History,
    Layout,
    Merge,
    Operation,
    Overwrite,
    OverwritePartitions,
    Row,
    Rows,
    Upsert,
)

State = dict[str, Rows]


def initial_state(history: History) -> State:
    """Return the rows of every branch, in order, before any transaction."""
    rows = ordered(row for rows in history.initial for row in rows)
    return dict.fromkeys((MAIN, *history.branches), rows)


def ordered(rows: Iterable[Row]) -> Rows:
    """Return rows sorted for comparisons of states."""
    return tuple(sorted(rows, key=lambda row: (row.id, row.part is not None, row.part or "", row.value)))


def apply(rows: Rows, operation: Operation, layout: Layout) -> Rows:
    """Return the rows of a branch after an operation."""
    match operation:
        case Append(added):
            return ordered((*rows, *added))
        case Delete(where):
            return tuple(row for row in rows if not where.holds(row))
        case Overwrite(added, where):
            return ordered((*(row for row in rows if not where.holds(row)), *added))
        case OverwritePartitions(added):
            replaced = {layout.partition(row) for row in added}
            return ordered((*(row for row in rows if layout.partition(row) not in replaced), *added))
        case Upsert(source):
            return _merged(rows, Merge(source, "update", insert=True))
        case Merge():
            return _merged(rows, operation)


def _merged(rows: Rows, merge: Merge) -> Rows:
    source = {row.id: row for row in merge.rows}
    remaining = []
    for row in rows:
        if row.id not in source:
            remaining += [] if merge.delete_others else [row]
        elif merge.matched != "delete":
            remaining.append(source[row.id] if merge.matched == "update" else row)
    known = {row.id for row in rows}
    inserted = [row for row in merge.rows if row.id not in known] if merge.insert else []
    return ordered((*remaining, *inserted))


def after(state: State, transaction: ClientTransaction, layout: Layout) -> State:
    """Return the state after a transaction without concurrent changes."""
    result = dict(state)
    for operation in transaction.operations:
        result[operation.branch] = apply(result[operation.branch], operation, layout)
    return result


def serial_outcomes(
    history: History, committed: Iterable[int], before: frozenset[tuple[int, int]]
) -> dict[tuple[int, ...], State]:
    """Return the final state of every serial order of the committed transactions.

    Args:
        history: The history.
        committed: Clients whose transactions committed.
        before: Pairs of clients whose first client had committed when the second client loaded its handle. Orders
            that contradict a pair are omitted.
    """
    outcomes = {}
    for order in permutations(committed):
        place = {client: number for number, client in enumerate(order)}
        if any(place[first] > place[second] for first, second in before if first in place and second in place):
            continue
        state = initial_state(history)
        for client in order:
            state = after(state, history.transactions[client], history.layout)
        outcomes[order] = state
    return outcomes


def snapshot_outcome(history: History, swaps: Sequence[int], seen: Mapping[int, int]) -> State | None:
    """Return the final state under snapshot isolation, None if two transactions removed the same row.

    Each transaction reads the state at the load of its handle. The rows that the transaction removes and adds are applied to
    the state before its swap.

    Args:
        history: The history.
        swaps: The clients whose transactions took effect, in the order of their effects.
        seen: The number of swaps that were in effect when each client loaded its handle.
    """
    states = [initial_state(history)]
    for client in swaps:
        read = states[seen[client]]
        written = after(read, history.transactions[client], history.layout)
        state = {}
        for branch, rows in states[-1].items():
            removed = Counter(read[branch]) - Counter(written[branch])
            added = Counter(written[branch]) - Counter(read[branch])
            if removed - Counter(rows):
                return None
            state[branch] = ordered((Counter(rows) - removed + added).elements())
        states.append(state)
    return states[-1]
