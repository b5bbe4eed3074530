"""Random histories, determined by their seeds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from random import Random

from tests.simulator.operations import (
    KINDS,
    MAIN,
    PARTS,
    AddColumn,
    AddFiles,
    Append,
    ChangeSpec,
    ClientTransaction,
    Condition,
    CreateRef,
    CreateTable,
    Delete,
    DropTable,
    Fault,
    History,
    Layout,
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
    Rows,
    SetProperty,
    SetStatistics,
    Upsert,
)

IDS = 12
MODES = ("copy-on-write", "merge-on-read")
DEV = "dev"
BLOCK, TABLES = 4096, 64
"""Every block of this many seeds shares this many initial tables."""
WEIGHTS: dict[type | None, int] = {
    Append: 5,
    Delete: 4,
    Overwrite: 3,
    OverwritePartitions: 2,
    ReplacePartitions: 2,
    Upsert: 3,
    Merge: 3,
    AddFiles: 2,
    RewriteFiles: 2,
    RewriteManifests: 1,
    None: 5,
}
"""The frequency of each operation; None stands for operations on metadata."""
REPLACEMENTS = 1 / 12
"""The share of histories in which a client replaces the table."""
SPEC_NAMES = ("flat", "part", "id")
CLOCKS = (0, -30_000, 30_000, -3_600_000, 3_600_000)
"""Milliseconds by which the clock of a client may be ahead."""


def random_history(seed: int) -> History:
    """Return two or three concurrent transactions of one to three operations each."""
    return _Generator(seed).history()


@cache
def tables_of(block: int) -> tuple[History, ...]:
    """Return the initial tables of a block of seeds, as histories without transactions."""
    return tuple(_Generator(f"table {block} {number}").table() for number in range(TABLES))


class _Generator:
    def __init__(self, seed: int | str) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.values = itertools.count() if isinstance(seed, str) else itertools.count(100)
        self.tables = tables_of(seed // BLOCK) if isinstance(seed, int) else ()

    def history(self) -> History:
        rng = self.rng
        table = self.tables[rng.randrange(TABLES)]
        transactions = tuple(self.transaction(table) for _ in range(rng.choice([2, 2, 2, 3])))
        faults = self.faults(len(transactions))
        clocks = tuple(rng.choice(CLOCKS) for _ in transactions) if rng.random() < 0.3 else ()
        transactions = self.with_replacement(transactions, table)
        return replace(table, seed=self.seed, transactions=transactions, faults=faults, clocks=clocks)

    def table(self) -> History:
        """Return a history without transactions: a layout, initial rows, branches and properties."""
        rng = self.rng
        isolation = rng.choice(["serializable", "serializable", "snapshot"])
        properties = {f"write.{name}.mode": rng.choice(MODES) for name in ("delete", "merge")}
        properties |= {f"write.{name}.isolation-level": isolation for name in ("delete", "update", "merge")}
        if rng.random() < 0.3:
            properties["commit.manifest.min-count-to-merge"] = "2"
        return History(
            seed=self.seed,
            layout=rng.choice(list(Layout)),
            initial=tuple(self.rows(rng.randint(2, 4)) for _ in range(rng.randint(1, 3))),
            transactions=(),
            properties=properties,
            branches=(DEV,) if rng.random() < 0.25 else (),
            staged=self.rows(1) if rng.random() < 0.2 else (),
            others=("u",) if rng.random() < 0.2 else (),
        )

    # ---- operations

    def transaction(self, table: History) -> ClientTransaction:
        if self.rng.random() < (0.3 if table.others else 0.02):
            return ClientTransaction((self.catalog_operation(),), explicit=False)
        operations = tuple(self.operation(table) for _ in range(self.rng.choice([1, 1, 1, 1, 2, 2, 3])))
        return ClientTransaction(operations, explicit=len(operations) > 1 or self.rng.random() < 0.5)

    def with_replacement(
        self, transactions: tuple[ClientTransaction, ...], table: History
    ) -> tuple[ClientTransaction, ...]:
        """Return the transactions, in every twelfth history with one that replaces the table.

        The draws are separate, so that all other histories are those of their seeds before there were replacements.
        """
        self.rng = rng = Random(f"replacement {self.seed}")
        if rng.random() >= REPLACEMENTS:
            return transactions
        specs = SPEC_NAMES if len(table.layout.value) > 1 else table.layout.value
        operations: list[Operation] = [ReplaceTable(self.rows(rng.randint(1, 3)), rng.choice(specs))]
        if rng.random() < 0.3:
            operations.append(rng.choice([Append(self.rows(1)), Delete(self.condition()), Upsert(self.source(2))]))
        client = rng.randrange(len(transactions))
        replaced = ClientTransaction(tuple(operations), explicit=True)
        return (*transactions[:client], replaced, *transactions[client + 1 :])

    def catalog_operation(self) -> Operation:
        draw = self.rng.randrange(4)
        if draw == 0:
            return DropTable("u")
        if draw == 1:
            return RenameTable(*self.rng.sample(["u", "w"], 2))
        return CreateTable(self.rng.choice(["u", "w"]), self.rows(1))

    def operation(self, table: History) -> Operation:
        rng = self.rng
        branch = rng.choice([MAIN, MAIN, *table.branches])
        kind = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
        if kind in (Append, AddFiles, OverwritePartitions):
            return kind(self.rows(rng.randint(1, 2)), branch)
        if kind is ReplacePartitions:
            chosen = ReplacePartitions if len(table.layout.value) == 1 else OverwritePartitions
            return chosen(self.rows(rng.randint(1, 2)), branch)
        if kind is Delete:
            return Delete(self.condition(), branch)
        if kind is Overwrite:
            return Overwrite(self.rows(rng.randint(1, 2)), self.condition(), branch)
        if kind in (Upsert, Merge):
            return self.merge(kind, branch)
        if kind in (RewriteFiles, RewriteManifests):
            return kind(branch)
        return self.metadata_operation(table)

    def merge(self, kind: type, branch: str) -> Operation:
        rng = self.rng
        source = self.source(rng.randint(1, 3))
        if kind is Upsert:
            return Upsert(source, branch)
        matched = rng.choice(["update", "update", "delete", "keep"])
        others = rng.random() < 0.15
        return Merge(
            source, matched, insert=matched == "keep" or rng.random() < 0.8, delete_others=others, branch=branch
        )

    def metadata_operation(self, table: History) -> Operation:
        rng = self.rng
        if table.staged and rng.random() < 0.6:
            return Publish()
        choices = [
            CreateRef(rng.choice(["b0", "b1"]), tag=rng.random() < 0.5),
            AddColumn(rng.choice(["c0", "c1"])),
            SetProperty(rng.choice(["k0", "k1"]), str(next(self.values))),
            SetStatistics(f"stats-{next(self.values)}.puffin"),
        ]
        if len(table.layout.value) > 1:
            choices.append(ChangeSpec(rng.choice(SPEC_NAMES)))
        if table.is_serializable:
            choices.append(Rollback())
        return rng.choice(choices)

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
        kind, delay = rng.choice(KINDS), rng.randrange(30)
        if rng.random() < 0.5:
            return Fault(client, "catalog.swap", rng.choice([0, 0, 0, 1]), kind, delay)
        if rng.random() < 0.3:
            return Fault(client, "catalog.pointer", rng.choice([0, 1, 2, 3]), kind, delay)
        return Fault(client, "", rng.randrange(30), kind, delay)
