"""Random histories, determined by their seeds."""

from __future__ import annotations

import itertools
from random import Random

from tests.simulator.operations import (
    KINDS,
    MAIN,
    PARTS,
    Append,
    ClientTransaction,
    Condition,
    Delete,
    Fault,
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

IDS = 12
MODES = ("copy-on-write", "merge-on-read")
DEV = "dev"
CLOCKS = (0, -30_000, 30_000, -3_600_000, 3_600_000)
"""Milliseconds by which the clock of a client may be ahead."""


def random_history(seed: int) -> History:
    """Return two or three concurrent transactions of one to three operations each."""
    return _Generator(seed).history()


class _Generator:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.values = itertools.count()

    def history(self) -> History:
        rng = self.rng
        initial = tuple(self.rows(rng.randint(2, 4)) for _ in range(rng.randint(1, 3)))
        branches = (DEV,) if rng.random() < 0.25 else ()
        transactions = tuple(self.transaction(branches) for _ in range(rng.randint(2, 3)))
        isolation = rng.choice(["serializable", "serializable", "snapshot"])
        properties = {f"write.{name}.mode": rng.choice(MODES) for name in ("delete", "merge")}
        properties |= {f"write.{name}.isolation-level": isolation for name in ("delete", "update", "merge")}
        return History(
            seed=self.seed,
            layout=rng.choice(list(Layout)),
            initial=initial,
            transactions=transactions,
            properties=properties,
            branches=branches,
            faults=self.faults(len(transactions)),
            clocks=tuple(rng.choice(CLOCKS) for _ in transactions) if rng.random() < 0.3 else (),
        )

    # ---- operations

    def transaction(self, branches: tuple[str, ...]) -> ClientTransaction:
        operations = tuple(self.operation(branches) for _ in range(self.rng.choice([1, 1, 2, 2, 3])))
        return ClientTransaction(operations, explicit=len(operations) > 1 or self.rng.random() < 0.5)

    def operation(self, branches: tuple[str, ...]) -> Operation:
        rng = self.rng
        branch = rng.choice([MAIN, MAIN, *branches])
        kind = rng.choices([Append, Delete, Overwrite, OverwritePartitions, Upsert, Merge], weights=[4, 3, 2, 2, 4, 3])[
            0
        ]
        if kind is Append:
            return Append(self.rows(rng.randint(1, 2)), branch)
        if kind is Delete:
            return Delete(self.condition(), branch)
        if kind is Overwrite:
            return Overwrite(self.rows(rng.randint(1, 2)), self.condition(), branch)
        if kind is OverwritePartitions:
            return OverwritePartitions(self.rows(rng.randint(1, 2)), branch)
        source = self.source(rng.randint(1, 3))
        if kind is Upsert:
            return Upsert(source, branch)
        matched = rng.choice(["update", "update", "delete", "keep"])
        others = rng.random() < 0.15
        return Merge(
            source, matched, insert=matched == "keep" or rng.random() < 0.8, delete_others=others, branch=branch
        )

    def condition(self) -> Condition:
        rng = self.rng
        draw = rng.random()
        if draw < 0.6:
            low = rng.randrange(IDS)
            return Condition(low=low, high=low + rng.choice([0, 0, 1, 3]))
        if draw < 0.85:
            return Condition(parts=tuple(rng.sample(PARTS, rng.choice([1, 1, 2]))))
        if draw < 0.95:
            low = rng.randrange(IDS)
            return Condition(low=low, high=low + 3, parts=(rng.choice(PARTS),))
        return Condition()

    def rows(self, count: int) -> Rows:
        low = self.rng.randrange(IDS)
        return tuple(self.row((low + self.rng.randint(0, 2)) % IDS) for _ in range(count))

    def source(self, count: int) -> Rows:
        low = self.rng.randrange(IDS - 3)
        return tuple(self.row(each) for each in sorted(self.rng.sample(range(low, low + 4), count)))

    def row(self, row_id: int) -> Row:
        return Row(row_id, self.rng.choice(PARTS), next(self.values))

    # ---- faults

    def faults(self, clients: int) -> tuple[Fault, ...]:
        rng = self.rng
        return tuple(self.fault(rng.randrange(clients)) for _ in range(rng.choice([0, 0, 1, 1, 2])))

    def fault(self, client: int) -> Fault:
        rng = self.rng
        kind, delay = rng.choice(KINDS), rng.randrange(40)
        if rng.random() < 0.5:
            return Fault(client, "catalog.swap", rng.choice([0, 0, 0, 1]), kind, delay)
        if rng.random() < 0.3:
            return Fault(client, "catalog.pointer", rng.choice([0, 1, 2, 3]), kind, delay)
        return Fault(client, "", rng.randrange(40), kind, delay)
