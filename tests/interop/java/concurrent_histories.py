"""Random histories: a change that read one snapshot commits after other commits, by the Java reference and by icefloe."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from icefloe.exceptions import ValidationException
from icefloe.table import Table
from py4j.protocol import Py4JJavaError

from tests.interop.java.java_steps import JavaSteps
from tests.interop.java.our_steps import OurSteps
from tests.interop.java.same_steps import Script, Step

PARTITIONS = "aab"
HISTORIES = 40
"""Histories of the suite."""


@dataclass(frozen=True)
class History:
    """The commits that a change read, the commits of others after them, and the partitions that the change replaces.

    Attributes:
        read: The commits before the change began; at least one.
        others: The commits after that.
        files: The new files of the change.
        data: Whether the change asks that no data is added to its partitions.
        deletes: Whether the change asks that no row of its partitions is deleted.
    """

    read: tuple[Step, ...]
    others: tuple[Step, ...]
    files: tuple[str, ...]
    data: bool
    deletes: bool


def history(seed: int) -> History:
    """Return the history of a seed."""
    steps = RandomSteps(seed)
    read = steps.steps(1, 3)
    others = steps.steps(1, 4)
    files = tuple(steps.file() for _ in range(steps.random.randint(1, 2)))
    checks = steps.random.choice([(True, False), (False, True), (True, True)])
    return History(read, others, files, *checks)


class RandomSteps:
    """Random commits to a table that is partitioned by `part`; the state of the table decides which are possible."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0
        self.live: dict[str, str] = {}

    def steps(self, fewest: int, most: int) -> tuple[Step, ...]:
        found: list[Step] = []
        for _ in range(self.random.randint(fewest, most)):
            found.extend(self.step())
        return tuple(found)

    def file(self) -> str:
        """Return a new file of one of the partitions."""
        self.count += 1
        part = self.random.choice(PARTITIONS)
        return f"{part}{self.count}:{part}"

    def step(self) -> list[Step]:
        """Return one commit, or several that belong together."""
        kinds = [self.append, self.append, self.row_delta, self.undone_deletes, self.other_spec]
        if self.live:
            kinds += [self.overwrite, self.delete, self.delete, self.rewrite, self.replace_partitions]
        return self.random.choice(kinds)()

    def append(self) -> list[Step]:
        return [Step("append", self.added(self.random.randint(1, 2)))]

    def overwrite(self) -> list[Step]:
        removed = self.removed(1)
        return [Step("overwrite", self.added(1), removed)]

    def delete(self) -> list[Step]:
        return [Step("delete", remove=self.removed(self.random.randint(1, 2)))]

    def rewrite(self) -> list[Step]:
        (removed,) = self.removed(1)
        self.count += 1
        name = f"{removed[0]}{self.count}"
        self.live[name] = removed[0]
        return [Step("rewrite", (f"{name}:{removed[0]}",), (removed,))]

    def row_delta(self) -> list[Step]:
        rows = self.added(self.random.randint(0, 1))
        kind = self.random.choice(["deletes", "keys"])
        return [Step("row_delta", rows, **{kind: (f"d{self.file()}",)})]

    def undone_deletes(self) -> list[Step]:
        """Return a commit of a delete file and the commit that removes it."""
        name = f"d{self.file()}"
        return [Step("row_delta", deletes=(name,)), Step("row_delta", unused=(name.partition(":")[0],))]

    def other_spec(self) -> list[Step]:
        """Return the commit of a file of the spec without fields, and in every other case the commit that removes it."""
        self.count += 1
        name = f"u{self.count}"
        removal = self.random.choice([[], [Step("delete", remove=(name,))]])
        return [Step("remove_field", text="part"), Step("append", (name,)), Step("add_field", text="part"), *removal]

    def replace_partitions(self) -> list[Step]:
        file = self.file()
        name, _, part = file.partition(":")
        self.live = {each: other for each, other in self.live.items() if other != part} | {name: part}
        return [Step("replace_partitions", (file,))]

    def added(self, count: int) -> tuple[str, ...]:
        files = tuple(self.file() for _ in range(count))
        self.live |= {name: part for name, _, part in (file.partition(":") for file in files)}
        return files

    def removed(self, most: int) -> tuple[str, ...]:
        names = tuple(self.random.sample(sorted(self.live), min(most, len(self.live))))
        for name in names:
            del self.live[name]
        return names


def java_outcome(steps: JavaSteps, chosen: History) -> dict[str, Any]:
    """Carry out a history by the API of the Java reference; return whether the change was committed, and the metadata file."""
    steps.run(Script("read", chosen.read, {}))
    start = steps.table.currentSnapshot().snapshotId()
    steps.run(Script("others", chosen.others, {}))
    change = steps.table.newReplacePartitions().validateFromSnapshot(start)
    if chosen.data:
        change.validateNoConflictingData()
    if chosen.deletes:
        change.validateNoConflictingDeletes()
    committed = True
    try:
        steps.add_built(change.addFile, chosen.files)
        change.commit()
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "ValidationException":
            raise
        committed = False
    steps.table.refresh()
    return {"committed": committed, "location": steps.table.operations().current().metadataFileLocation()}


def our_outcome(table: Table, chosen: History) -> dict[str, Any]:
    """Carry out a history by icefloe; return what `java_outcome` returns."""
    steps = OurSteps(table)
    steps.run(Script("read", chosen.read, {}))
    start = table.current_snapshot().snapshot_id
    steps.run(Script("others", chosen.others, {}))
    change = table.new_replace_partitions().validate_from_snapshot(start)
    if chosen.data:
        change.validate_no_conflicting_data()
    if chosen.deletes:
        change.validate_no_conflicting_deletes()
    committed = True
    try:
        steps.add_built(change, chosen.files).commit()
    except ValidationException:
        committed = False
    return {"committed": committed, "location": table.refresh().metadata_location}
