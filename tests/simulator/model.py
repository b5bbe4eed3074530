"""A model of a table: the effect of operations, and the final state of every serial order of transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from tests.simulator.operations import (
    MAIN,
    AddColumn,
    AddFiles,
    Append,
    ApplyChanges,
    CatalogOperation,
    ChangeSpec,
    ClientTransaction,
    CreateRef,
    CreateTable,
    Delete,
    DeleteKeys,
    DropTable,
    FindAbsent,
    FindRenamed,
    History,
    Maintain,
    Merge,
    Operation,
    Overwrite,
    OverwritePartitions,
    Publish,
    RenameTable,
    ReplacePartitions,
    ReplaceTable,
    RewriteFiles,
    RewriteManifests,
    Rollback,
    Row,
    RowOperation,
    Rows,
    SetProperty,
    SetStatistics,
    Upsert,
    partition,
)


@dataclass(frozen=True)
class State:
    """The visible state of a table and of the other tables of its catalog.

    Attributes:
        refs: The rows of every branch and tag, in order.
        spec: The current partition spec.
        columns: The names of added columns.
        properties: The properties that clients set.
        statistics: The path of the statistics file of the last initial snapshot; None without one.
        tables: The rows of the other tables.
        published: Whether main has the staged rows; not compared, as it cannot be read from a table.
        replaced: Whether the initial snapshots are no ancestors of main any more; not compared.
        impossible: Whether an operation could not have succeeded in this order.
    """

    refs: Mapping[str, Rows]
    spec: str = "flat"
    columns: frozenset[str] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    statistics: str | None = None
    tables: Mapping[str, Rows] = field(default_factory=dict)
    published: bool = field(default=False, compare=False)
    replaced: bool = field(default=False, compare=False)
    impossible: bool = False


OTHER_ROWS = (Row(7, "a", -7),)
"""The rows of another table that exists in the beginning."""


def initial_state(history: History) -> State:
    """Return the state before any transaction."""
    rows = initial_rows(history)
    return State(
        refs=dict.fromkeys((MAIN, *history.branches), rows),
        spec=history.layout.value[-1],
        tables=dict.fromkeys(history.others, OTHER_ROWS),
    )


def initial_rows(history: History) -> Rows:
    """Return the rows of every branch, in order, before any transaction."""
    return ordered(row for rows in history.initial for row in rows if row.id not in history.deleted)


def ordered(rows: Iterable[Row]) -> Rows:
    """Return rows sorted for comparisons of states."""
    return tuple(sorted(rows, key=lambda row: (row.id, row.part is not None, row.part or "", row.value)))


def apply(state: State, operation: Operation, history: History) -> State:
    """Return the state after an operation."""
    match operation:
        case CreateTable() | RenameTable() | DropTable() | FindAbsent() | FindRenamed():
            return _with_tables(state, operation)
        case RewriteFiles() | RewriteManifests() | Maintain():
            return state
        case Publish() | Rollback() | ReplaceTable():
            return _with_main(state, operation, history)
        case CreateRef(name):
            created = _with_rows(state, name, initial_rows(history))
            return replace(created, impossible=state.impossible or name in state.refs)
        case AddColumn(name):
            columns = state.columns | {name}
            return replace(state, columns=columns, impossible=state.impossible or name in state.columns)
        case ChangeSpec(spec):
            return replace(state, spec=spec)
        case SetProperty(key, value):
            return replace(state, properties={**state.properties, key: value})
        case SetStatistics(path):
            return replace(state, statistics=path)
    return _with_rows(state, operation.branch, changed_rows(state.refs[operation.branch], operation, state.spec))


def changed_rows(rows: Rows, operation: RowOperation, spec: str) -> Rows:
    """Return the rows of a branch after an operation on its rows."""
    match operation:
        case Append(added) | AddFiles(added):
            return ordered((*rows, *added))
        case Delete(where):
            return tuple(row for row in rows if not where.holds(row))
        case DeleteKeys(ids, part):
            return tuple(row for row in rows if row.id not in ids or (spec == "part" and row.part != part))
        case ApplyChanges(added, deleted):
            keys = {(row.id, row.part) for row in added} | set(deleted)
            return ordered((*(row for row in rows if (row.id, row.part) not in keys), *added))
        case Overwrite(added, where):
            return ordered((*(row for row in rows if not where.holds(row)), *added))
        case OverwritePartitions(added) | ReplacePartitions(added):
            replaced = {partition(row, spec) for row in added}
            return ordered((*(row for row in rows if partition(row, spec) not in replaced), *added))
        case Upsert(source):
            return _merged(rows, Merge(source, "update", insert=True))
        case Merge():
            return _merged(rows, operation)


def _with_rows(state: State, ref: str, rows: Rows) -> State:
    return replace(state, refs={**state.refs, ref: rows})


def _with_main(state: State, operation: Publish | Rollback | ReplaceTable, history: History) -> State:
    if isinstance(operation, Publish):
        published = _with_rows(state, MAIN, ordered((*state.refs[MAIN], *history.staged)))
        return replace(published, published=True, impossible=state.impossible or state.published)
    if isinstance(operation, Rollback):
        rolled_back = _with_rows(state, MAIN, initial_rows(history))
        return replace(rolled_back, published=False, impossible=state.impossible or state.replaced)
    replaced = _with_rows(state, MAIN, ordered(operation.rows))
    return replace(replaced, spec=operation.spec, columns=frozenset(), published=False, replaced=True)


def _with_tables(state: State, operation: CatalogOperation) -> State:
    tables = dict(state.tables)
    if isinstance(operation, CreateTable):
        possible = operation.name not in tables
        tables[operation.name] = ordered(operation.rows)
    elif isinstance(operation, FindAbsent):
        possible = operation.name not in tables
    elif isinstance(operation, FindRenamed):
        possible = operation.name not in tables and operation.to in tables
    else:
        possible = operation.name in tables
        moved = tables.pop(operation.name, ())
        if isinstance(operation, RenameTable):
            possible &= operation.to not in tables
            tables[operation.to] = moved
    return replace(state, tables=tables, impossible=state.impossible or not possible)


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


def after(state: State, transaction: ClientTransaction, history: History) -> State:
    """Return the state after a transaction without concurrent changes."""
    for operation in transaction.operations:
        state = apply(state, operation, history)
    return state


def without_void_changes(history: History, swaps: Sequence[int], seen: Mapping[int, int]) -> History:
    """Return a history without the changes of the spec to the one that their client read: `update_spec` has nothing to commit then.

    The arguments are those of `snapshot_outcome`.
    """
    specs, transactions = [initial_state(history).spec], list(history.transactions)
    for client in swaps:
        transaction, newest = transactions[client], specs[-1]
        kinds = ChangeSpec | ReplaceTable
        wanted = [operation.spec for operation in transaction.operations if isinstance(operation, kinds)]
        if wanted and transaction.replacement is None and set(wanted) == {specs[seen[client]]}:
            others = (operation for operation in transaction.operations if not isinstance(operation, ChangeSpec))
            transactions[client] = replace(transaction, operations=tuple(others))
            wanted = []
        specs.append(wanted[-1] if wanted else newest)
    return replace(history, transactions=tuple(transactions))


def with_lost_replies(history: History, committed: Iterable[int], swaps: Sequence[int]) -> History:
    """Return a history in which a drop or rename that lost its reply, committed and had no effect reads that it is done.

    A catalog reads the names back after a lost reply, and cannot see who removed an absent table, or gave the table its new name.

    Args:
        history: The history.
        committed: Clients whose transactions committed.
        swaps: The clients whose transactions took effect.
    """
    lost = {fault.client for fault in history.faults}.intersection(committed).difference(swaps)
    transactions = (
        replace(transaction, operations=tuple(map(_reading, transaction.operations))) if client in lost else transaction
        for client, transaction in enumerate(history.transactions)
    )
    return replace(history, transactions=tuple(transactions))


def _reading(operation: Operation) -> Operation:
    if isinstance(operation, DropTable):
        return FindAbsent(operation.name)
    return FindRenamed(operation.name, operation.to) if isinstance(operation, RenameTable) else operation


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
            state = after(state, history.transactions[client], history)
        outcomes[order] = state
    return outcomes


def snapshot_outcome(history: History, swaps: Sequence[int], seen: Mapping[int, int]) -> State | None:
    """Return the final state under snapshot isolation, None if two transactions removed the same row.

    Each transaction reads the state at the load of its handle. The rows that the transaction removes and adds are applied to
    the state before its swap, and so are its changes of metadata. Operations on other tables, and replacements of the table, read the
    state before their swap.

    Args:
        history: The history.
        swaps: The clients whose transactions took effect, in the order of their effects.
        seen: The number of swaps that were in effect when each client loaded its handle.
    """
    states = [initial_state(history)]
    for client in swaps:
        transaction, newest = history.transactions[client], states[-1]
        is_late = transaction.changes_catalog or transaction.replacement is not None
        read = newest if is_late else states[seen[client]]
        written = after(read, transaction, history)
        refs = dict(newest.refs)
        for ref, rows in written.refs.items():
            earlier = read.refs.get(ref)
            if earlier is None:
                if ref in newest.refs:
                    return None
                refs[ref] = rows
                continue
            removed, added = Counter(earlier) - Counter(rows), Counter(rows) - Counter(earlier)
            if removed - Counter(newest.refs[ref]):
                return None
            refs[ref] = ordered((Counter(newest.refs[ref]) - removed + added).elements())
        changed = {
            name: getattr(written, name)
            for name in ("spec", "statistics", "tables", "published", "replaced")
            if getattr(written, name) != getattr(read, name)
        }
        properties = {key: value for key, value in written.properties.items() if read.properties.get(key) != value}
        states.append(
            replace(
                newest,
                refs=refs,
                columns=newest.columns - (read.columns - written.columns) | (written.columns - read.columns),
                properties={**newest.properties, **properties},
                impossible=newest.impossible or written.impossible,
                **changed,
            )
        )
    return states[-1]
