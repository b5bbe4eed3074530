"""Random histories, each a function of its seed."""

from __future__ import annotations

import itertools
from random import Random

from tests.simulator.operations import (
    MAIN,
    PARTS,
    Append,
    ClientTransaction,
    Condition,
    Delete,
    History,
    Layout,
    Merge,
    Operation,
    Overwrite,
    OverwritePartitions,
    Row,
    Rows,
    Step,
    Upsert,
)

IDS = 12
MODES = ("copy-on-write", "merge-on-read")
DEV = "dev"


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
        return History(
            seed=self.seed,
            layout=rng.choice(list(Layout)),
            initial=initial,
            transactions=transactions,
            schedule=self.schedule(transactions),
            properties={"write.delete.mode": rng.choice(MODES), "write.merge.mode": rng.choice(MODES)},
            branches=branches,
        )

    # ---- what clients do

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

    # ---- when they do it

    def schedule(self, transactions: tuple[ClientTransaction, ...]) -> tuple[Step, ...]:
        """Return the clients' steps, interleaved; handles are mostly loaded early."""
        waiting = []
        early = []
        for client, transaction in enumerate(transactions):
            operations = len(transaction.operations) if transaction.explicit else 0
            steps = [Step(client, "operate")] * operations + [Step(client, "commit")]
            if self.rng.random() < 0.7:
                early.append(Step(client, "load"))
            else:
                steps.insert(0, Step(client, "load"))
            waiting.append(steps)
        merged = []
        while any(waiting):
            merged.append(self.rng.choice([steps for steps in waiting if steps]).pop(0))
        return tuple(self.overtaken(step) for step in (*early, *merged))

    def overtaken(self, step: Step) -> Step:
        if step.action != "commit" or self.rng.random() > 0.3:
            return step
        return Step(step.client, step.action, tuple(self.rng.randint(0, 4) for _ in range(self.rng.randint(1, 2))))
