"""Sequences of operations that the Java reference and icefloe both carry out, on data files that exist in manifests only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """One commit.

    Attributes:
        kind: The operation.
        add: Added data files, `name` or `name:partition value`.
        remove: Names of removed data files.
        deletes: Added position delete files, as `add`; `name:partition value>data file` refers to one data file.
        keys: Added equality delete files, as `add`.
        unused: Names of removed delete files.
        branch: The branch to change; None stages the snapshot.
        of: The step whose snapshot the operation refers to.
        text: The name, WAP id, filter or property that the operation needs.
    """

    kind: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    branch: str | None = "main"
    of: int = 0
    text: str = ""


@dataclass(frozen=True)
class Script:
    """A table and the steps that change it."""

    name: str
    steps: tuple[Step, ...]
    properties: dict[str, str]
    partitioned: bool = True
    version: int = 2


def append(*files: str, **more: Any) -> Step:
    return Step("append", files, **more)


def appends(count: int, first: int = 0) -> tuple[Step, ...]:
    """Appends of one file each to partitions a and b in turn."""
    return tuple(append(f"f{number}:{'ab'[number % 2]}") for number in range(first, first + count))


MERGE_EARLY = {"commit.manifest.min-count-to-merge": "3"}
NO_MERGE = {"commit.manifest-merge.enabled": "false"}
CHANGES = (
    append("a1:a", "b1:b"),
    Step("fast_append", ("a2:a",)),
    append("a3:a", "b3:b"),
    Step("overwrite", ("a4:a",), ("a1",)),
    Step("delete", remove=("b1",)),
    Step("row_delta", ("b5:b",), deletes=("d5:a",)),
    Step("row_delta", deletes=("d6:b",)),
    append("c7:c"),
    Step("rewrite", ("a8:a",), ("a2", "a3")),
    Step("rewrite_manifests"),
    Step("replace_partitions", ("c9:c",)),
    Step("delete_filter", text="c"),
    Step("replace_partitions", ("b9:b",)),
    append("a10:a"),
    Step("overwrite", ("a11:a",)),
    Step("overwrite", remove=("a11",)),
    append("b12:b"),
)
OF_VERSION_1 = tuple(step for step in CHANGES if not step.deletes)
REFS = (
    append("a1:a"),
    append("b2:b"),
    Step("create_branch", text="side", of=0),
    append("a3:a", branch="side"),
    Step("delete", remove=("a1",), branch="side"),
    append("c4:c", branch=None, text="w4"),
    append("b5:b"),
    Step("cherry_pick", of=5),
    Step("create_tag", text="kept", of=6),
    Step("rollback", of=1),
    append("b10:b"),
    append("c11:c", branch=None, text="w11"),
    Step("cherry_pick", of=11),
    Step("create_branch", text="next", of=11),
    append("a14:a", branch="next"),
    Step("fast_forward", text="next"),
    Step("set_current", of=1),
    append("a17:a", branch="fresh"),
)
STAGED_REPLACEMENT = (
    append("a1:a", "b1:b"),
    Step("replace_partitions", ("a2:a",), branch=None, text="w"),
    append("b3:b"),
    Step("cherry_pick", of=1),
)
SPECS = (
    *appends(2),
    Step("remove_field", text="part"),
    append("u2"),
    append("u3"),
    Step("add_field", text="part"),
    *appends(3, 4),
    Step("delete", remove=("f0", "f4")),
    append("f8:a"),
)
EMPTIED = (
    append("a1:a"),
    Step("delete", remove=("a1",)),
    Step("row_delta", deletes=("d2:a",)),
    append("a3:a"),
    Step("delete", remove=("a3",)),
    Step("fast_append", ("a5:a",)),
)
ROW_DELTAS = (
    append("a1:a", "a2:a", "b3:b"),
    Step("row_delta", deletes=("p1:a>a1",)),
    Step("row_delta", deletes=("p2:a>a1",), unused=("p1",)),
    Step("row_delta", ("a4:a",), deletes=("p3:a>a1", "p4:a>a2"), unused=("p2",)),
    Step("row_delta", keys=("e5:a",)),
    Step("row_delta", ("b6:b",), keys=("e6:b",)),
    Step("row_delta", unused=("e6",)),
    Step("row_delta", ("b8:b",), remove=("b3",)),
    Step("row_delta", deletes=("p9:b>b8",), remove=("b6",)),
)
DELETED_PARTITIONS = (
    append("a1:a", "b1:b", "c1:c"),
    Step("row_delta", deletes=("d2:a", "d3:b", "d4:b>b1")),
    Step("row_delta", keys=("e2:a", "e3:b", "e4:c")),
    append("a3:a", "b3:b"),
    Step("row_delta", keys=("e5:a",)),
    Step("delete_filter", text="a"),
    append("a6:a"),
    Step("row_delta", deletes=("d7:a",)),
    Step("delete_filter", text="b"),
    Step("replace_partitions", ("c8:c", "a8:a")),
)
OUTLIVED_DELETES = (
    append("a1:a", "b1:b"),
    Step("row_delta", deletes=("d2:a",), keys=("e2:a",)),
    Step("row_delta", deletes=("d3:b",), keys=("e3:b",)),
    append("a4:a", "b4:b"),
    Step("rewrite", ("a5:a", "b5:b"), ("a1", "b1")),
    Step("row_delta", keys=("e6:a", "e7:b")),
    Step("overwrite", ("a7:a",), ("a4",)),
    Step("row_delta", deletes=("d8:c",)),
    append("c9:c"),
    Step("replace_partitions", ("b10:b",)),
    Step("delete", remove=("a5", "a7", "c9")),
    Step("delete", remove=("b10",)),
    append("a14:a"),
    append("a15:a"),
    Step("row_delta", ("b16:b",)),
    Step("overwrite", ("b17:b",)),
    Step("rewrite_manifests"),
    Step("delete", remove=("a14", "a15", "b16", "b17")),
    Step("row_delta", keys=("e19:a",)),
    append("a20:a"),
    append("a21:a"),
    Step("row_delta", ("b22:b",)),
    Step("overwrite", ("b23:b",)),
    Step("delete", remove=("a20",)),
)
"""Deletes that are older than every data file, in steps that leave older data files in no partition or in the partition of the deletes.

Where a partition with deletes loses its last older data file and another partition keeps one, Java drops the deletes by a later commit.
"""

REMOVED_DELETES = (
    Step("row_delta", deletes=("d0:a",)),
    Step("row_delta", keys=("e1:b", "f1:b")),
    Step("row_delta", keys=("e2:a", "e2:c")),
    append("a3:a", "b3:b", "c3:c"),
    Step("row_delta", keys=("f4:b",)),
    Step("row_delta", keys=("f5:c",)),
    Step("row_delta", unused=("f4",)),
    Step("row_delta", ("b7:b",), keys=("e7:a",), remove=("c3",), unused=("f5",)),
    Step("row_delta", keys=("f8:a",), unused=("e7",)),
    Step("delete", remove=("b3",)),
)
"""Delete files that are removed by name, beside older ones of the same and of other partitions and manifests."""
REMOVED_DELETES_OF_SPECS = (
    Step("row_delta", keys=("e0:a",)),
    Step("remove_field", text="part"),
    Step("row_delta", keys=("e2",)),
    append("u3"),
    Step("row_delta", keys=("f4",)),
    Step("row_delta", unused=("f4",)),
)

SCRIPTS = [
    Script("merged_early", (*appends(9), Step("delete", remove=("f1", "f3")), *appends(4, 9)), MERGE_EARLY),
    Script("not_merged", (*appends(4), Step("delete", remove=("f1",)), *appends(2, 4)), NO_MERGE),
    # Two manifests of about 6 KiB fit into 16 KiB, three do not.
    Script(
        "bins",
        (*appends(8), Step("delete", remove=("f2",)), *appends(3, 8)),
        {**MERGE_EARLY, "commit.manifest.target-size-bytes": "16384"},
    ),
    Script("changes", CHANGES, {}),
    Script("changes_merged", CHANGES, {"commit.manifest.min-count-to-merge": "2"}),
    Script("changes_unmerged", CHANGES, NO_MERGE),
    Script("changes_with_partitions", CHANGES, {"write.summary.partition-limit": "10"}),
    Script("changes_of_version_1", OF_VERSION_1, {}, version=1),
    Script("changes_of_version_1_merged", OF_VERSION_1, {"commit.manifest.min-count-to-merge": "2"}, version=1),
    Script(
        "upgraded",
        (*OF_VERSION_1[:4], Step("upgrade"), *appends(2), Step("row_delta", deletes=("d5:a",)), append("b6:b")),
        {"commit.manifest.min-count-to-merge": "2"},
        version=1,
    ),
    Script("row_deltas", ROW_DELTAS, {}),
    Script("row_deltas_unmerged", ROW_DELTAS, NO_MERGE),
    Script("deleted_partitions", DELETED_PARTITIONS, {}),
    Script("deleted_partitions_unmerged", DELETED_PARTITIONS, NO_MERGE),
    Script("refs", REFS, {}),
    Script("refs_of_version_1", REFS, {}, version=1),
    Script("staged_replacement", STAGED_REPLACEMENT, {}),
    Script("outlived_deletes", OUTLIVED_DELETES, {}),
    Script("outlived_deletes_merged", OUTLIVED_DELETES, {"commit.manifest.min-count-to-merge": "2"}),
    Script("outlived_deletes_unmerged", OUTLIVED_DELETES, NO_MERGE),
    Script("removed_deletes", REMOVED_DELETES, {}),
    Script("removed_deletes_merged", REMOVED_DELETES, {"commit.manifest.min-count-to-merge": "2"}),
    Script("removed_deletes_unmerged", REMOVED_DELETES, NO_MERGE),
    Script("removed_deletes_of_specs", REMOVED_DELETES_OF_SPECS, {}),
    Script("emptied", EMPTIED, {}),
    Script("emptied_unmerged", EMPTIED, NO_MERGE),
    Script("specs", SPECS, MERGE_EARLY),
    Script("specs_of_version_1", SPECS, MERGE_EARLY, version=1),
]


def split(name: str) -> tuple[str, str | None]:
    """Return the name and the partition value of a file; None without a partition."""
    stem, _, value = name.partition(">")[0].partition(":")
    return stem, value if value != "" else None


def referenced(name: str) -> str | None:
    """Return the name of the data file that a delete file refers to; None if it is not stated."""
    return name.partition(">")[2] or None
