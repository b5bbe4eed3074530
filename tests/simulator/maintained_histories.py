"""Random histories of writers and of clients that maintain the table, determined by their seeds."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.simulator.generator import DEV, IDS, random_history
from tests.simulator.maintaining import POLICY, VERBS, WITHOUT_PLAN
from tests.simulator.operations import (
    MAIN,
    PARTS,
    ApplyChanges,
    ClientTransaction,
    DeleteKeys,
    Fault,
    History,
    Maintain,
    Row,
)

CALLS = ("", "", "catalog.swap", "catalog.pointer", "io.delete", "core.write")
"""Prefixes of the calls of maintenance at which faults occur."""
CHANGES = 0.4
"""The share of the serializable histories of tables with several specs in which a writer applies changes by key."""
FIRST_VALUE = 1_000_000
"""The first value of the rows of changes, above the values of all other rows."""


def maintained_history(seed: int) -> History:
    """Return a random history in which one or two clients maintain the table, and writers may delete by equality."""
    history, rng = random_history(seed), Random(f"maintained {seed}")
    writers = list(history.transactions[: rng.choice([1, 2, 2])])
    # Only tables of one spec: an equality delete of a partition does not apply to files of another spec. Equality deletes are blind:
    # one deletes rows that another transaction removed as well, which the model of snapshot isolation excludes.
    if len(history.layout.value) == 1 and history.is_serializable and rng.random() < 0.4:
        keys = DeleteKeys(tuple(rng.sample(range(IDS), 2)), rng.choice(PARTS), rng.choice([MAIN, *history.branches]))
        writers[0] = ClientTransaction((keys,), explicit=rng.random() < 0.5)
    changes = Random(f"changes {seed}")
    if len(history.layout.value) > 1 and history.is_serializable and changes.random() < CHANGES:
        history = replace(history, is_created_partitioned=True)
        writers[0] = ClientTransaction((_changes(changes, history),), explicit=changes.random() < 0.5)
    maintainers = [_maintainer(rng, history) for _ in range(rng.choice([1, 1, 2]))]
    faults = tuple(fault for fault in history.faults if fault.client < len(writers))
    if rng.random() < 0.4:
        client = len(writers) + rng.randrange(len(maintainers))
        kind = rng.choice(["crash before", "crash after", "error before", "error after", "late", "repeated"])
        faults += (Fault(client, rng.choice(CALLS), rng.randrange(12), kind, rng.randrange(30)),)
    return replace(
        history,
        transactions=(*writers, *maintainers),
        faults=faults,
        clocks=history.clocks[: len(writers)],
        properties={**history.properties, **POLICY},
        deleted=_deleted(history, rng),
    )


def _changes(rng: Random, history: History) -> ApplyChanges:
    """Return a batch of changes, most of them of initial rows, whose values no other row has."""
    initial = sorted({(row.id, row.part) for rows in history.initial for row in rows if row.part is not None})
    keys = sorted({*rng.sample(initial, min(len(initial), 2)), (rng.randrange(IDS), "a")})
    deleted = tuple(key for key in keys if rng.random() < 0.5)
    rows = (Row(*key, FIRST_VALUE + number) for number, key in enumerate(keys) if key not in deleted)
    return ApplyChanges(tuple(rows), deleted, rng.choice([MAIN, *history.branches]))


def _maintainer(rng: Random, history: History) -> ClientTransaction:
    branches = [MAIN, MAIN, *history.branches] if DEV in history.branches else [MAIN]
    verbs = rng.choices(list(VERBS), weights=[3 if verb in ("policy", "expire") else 1 for verb in VERBS], k=2)
    planned = [
        verb if rng.random() < 0.6 or verb in WITHOUT_PLAN else f"planned {verb}"
        for verb in verbs[: rng.choice([1, 1, 2])]
    ]
    return ClientTransaction(tuple(Maintain(verb, rng.choice(branches)) for verb in planned), explicit=False)


def _deleted(history: History, rng: Random) -> tuple[int, ...]:
    # The same for all histories of a table, which is prepared once.
    rng = Random(str(history.initial))
    ids = sorted({row.id for rows in history.initial for row in rows})
    return tuple(rng.sample(ids, min(rng.choice([0, 1, 2, 2]), len(ids) - 1)))
