"""Every procedure with the arguments of one call, which the Java reference and icefloe both carry out on tables of the same content."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MERGE_ON_READ = "'write.delete.mode' = 'merge-on-read'"
FAR = "2100-01-01T00:00:00Z"


@dataclass(frozen=True)
class Call:
    """One call of a procedure.

    Attributes:
        procedure: Its name.
        arguments: Arguments by name but the table; `{n}` is the id of the n-th snapshot, `{staged}` that of the last one, `{location}`
            in a text is the table's location, `{folder}` a directory of Parquet files.
        steps: SQL that prepares the table `{t}`, after four appends; STAGE stages an append, ORPHAN writes an orphan file.
        properties: Properties of the table.
        without: Columns whose values differ from run to run.
        named: The case, by default the procedure.
    """

    procedure: str
    arguments: dict[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    properties: str = MERGE_ON_READ
    without: tuple[str, ...] = ()
    named: str = ""

    @property
    def name(self) -> str:
        return self.named or self.procedure


DELETES = tuple(f"DELETE FROM {{t}} WHERE id = {number}" for number in (0, 5, 6, 8))
BRANCHED = ("ALTER TABLE {t} CREATE BRANCH side", "INSERT INTO {t}.branch_side VALUES (9, 'a')")
OVERWRITTEN = ("INSERT OVERWRITE {t} VALUES (7, 'a')",)
CALLS = [
    # The reference does not know the number of partitions of a partitioned directory.
    Call("add_files", {"source_table": "`parquet`.`{folder}`"}, without=("changed_partition_count",)),
    Call("ancestors_of", without=("timestamp",)),
    Call("cherrypick_snapshot", {"snapshot_id": "{staged}"}, ("STAGE",)),
    Call("compute_partition_stats"),
    Call("compute_table_stats", {"columns": ["id"]}),
    Call("expire_snapshots", {"older_than": FAR, "retain_last": 1}, (*DELETES, *OVERWRITTEN)),
    Call("expire_snapshots", {"snapshot_ids": ["{1}"]}, named="expire_one_snapshot"),
    Call("expire_snapshots", {"snapshot_ids": [12345]}, named="expire_unknown_snapshot"),
    Call("fast_forward", {"branch": "main", "to": "side"}, BRANCHED),
    Call("publish_changes", {"wap_id": "w"}, ("STAGE",)),
    Call("remove_orphan_files", {"dry_run": False}, ("ORPHAN",)),
    Call("rewrite_data_files", {"options": {"min-input-files": "2"}}, without=("rewritten_bytes_count",)),
    Call(
        "rewrite_data_files",
        {
            "strategy": "sort",
            "sort_order": "id DESC NULLS LAST",
            "options": {"rewrite-all": "true"},
            "where": "part = 'a'",
        },
        without=("rewritten_bytes_count",),
        named="sort_data_files",
    ),
    Call("rewrite_manifests"),
    Call(
        "rewrite_position_delete_files",
        {"options": {"rewrite-all": "true"}},
        DELETES,
        without=("rewritten_bytes_count", "added_bytes_count"),
    ),
    Call("rewrite_table_path", {"source_prefix": "{location}", "target_prefix": "/elsewhere"}, DELETES),
    Call("rollback_to_snapshot", {"snapshot_id": "{1}"}),
    Call("rollback_to_timestamp", {"timestamp": FAR}),
    Call("set_current_snapshot", {"snapshot_id": "{0}"}),
    Call("set_current_snapshot", {"ref": "side"}, BRANCHED, named="set_current_snapshot_to_branch"),
]
_PLACE = re.compile(r"\{(\w+)\}")


def filled(value: Any, snapshots: list[int], places: dict[str, str]) -> Any:
    """Return arguments with the ids of a table's snapshots, which are ordered by time, and its places."""
    if isinstance(value, dict):
        return {key: filled(one, snapshots, places) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, snapshots, places) for one in value]
    found = _PLACE.fullmatch(value) if isinstance(value, str) else None
    if found is not None and found[1] not in places:
        return snapshots[-1] if found[1] == "staged" else snapshots[int(found[1])]
    return _PLACE.sub(lambda one: places[one[1]], value) if isinstance(value, str) else value


def as_sql(value: Any) -> str:
    """Return an argument as SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"map({', '.join(as_sql(one) for item in value.items() for one in item)})"
    if isinstance(value, list):
        return f"array({', '.join(map(as_sql, value))})"
    if value == FAR:
        return f"TIMESTAMP '{value}'"
    return "'" + value.replace("'", "\\'") + "'" if isinstance(value, str) else str(value)


def comparable(rows: list[dict[str, Any]], call: Call, snapshots: list[int]) -> list[dict[str, Any]]:
    """Return rows with the numbers of snapshots for their ids, in the order that they were made in, and names of files without ids."""
    number: dict[Any, str] = {one: f"snapshot {place}" for place, one in enumerate(snapshots)}
    return [{key: _plain(value, number) for key, value in row.items() if key not in call.without} for row in rows]


def _plain(value: Any, number: dict[Any, str]) -> Any:
    return _name(value) if isinstance(value, str) else number.get(value, value)


def _name(text: str) -> str:
    """Return the last part of a path, with `#` for each id."""
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{15,}", "#", text.rsplit("/", 1)[-1])
