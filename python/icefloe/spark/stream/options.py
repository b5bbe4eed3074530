"""The options of the streaming source and sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.stream.limits import Limits
from icefloe.spark.table_options import SPEED_OPTIONS, TABLE_OPTIONS, TableOptions, check_options, whole_number
from icefloe.spark.writer.commit import SNAPSHOT_PROPERTY, summary_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

FROM, FROM_TIMESTAMP, START_SNAPSHOT = "stream-from", "stream-from-timestamp", "start-snapshot-id"
SKIP_OVERWRITES = "streaming-skip-overwrite-snapshots"
SKIP_DELETES = "streaming-skip-delete-snapshots"
MAX_FILES = "streaming-max-files-per-micro-batch"
MAX_ROWS = "streaming-max-rows-per-micro-batch"
MAX_BYTES = "streaming-max-bytes-per-micro-batch"
STREAM_READ_OPTIONS = (FROM, FROM_TIMESTAMP, SKIP_OVERWRITES, SKIP_DELETES, MAX_FILES, MAX_ROWS, MAX_BYTES)

_CHANGES = ("changes", "compute-updates", "identifier-columns")
_READ = (
    *TABLE_OPTIONS,
    "branch",
    "columns",
    "filter",
    "case-sensitive",
    START_SNAPSHOT,
    *_CHANGES,
    *SPEED_OPTIONS,
    *STREAM_READ_OPTIONS,
)
TABLE_UUID = "table-uuid"
_CHECKPOINT = "checkpointlocation"
_SPARKS = (_CHECKPOINT, "queryname")
STREAM_WRITE_OPTIONS = ("fanout-enabled", TABLE_UUID, *_SPARKS)
_WRITE = (*TABLE_OPTIONS, "branch", *STREAM_WRITE_OPTIONS)
_STARTS = (FROM, FROM_TIMESTAMP, START_SNAPSHOT)


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """The checked options of a source.

    Args:
        table: Table and catalog.
        branch: Branch to read; None for main.
        row_filter: Filter of the rows, as text; None for all rows.
        case_sensitive: Whether names in the filter must match in case.
        start: ``earliest`` or ``latest``.
        start_timestamp: Read snapshots committed at this time or later, in milliseconds since the epoch.
        start_snapshot_id: Read the snapshots after this one.
        changes: Read changes instead of appended rows.
        compute_updates: Report a delete and an insert of the same key in one snapshot as an update.
        identifier_columns: Key columns of updates; the schema's identifier fields if None.
        skip_overwrites: Skip snapshots that replace rows; without it they are errors.
        skip_deletes: Skip snapshots that delete rows; without it they are errors.
        limits: Limits of a micro-batch.
    """

    table: TableOptions
    branch: str | None
    row_filter: str | None
    case_sensitive: bool
    start: str
    start_timestamp: int | None
    start_snapshot_id: int | None
    changes: bool
    compute_updates: bool
    identifier_columns: tuple[str, ...] | None
    skip_overwrites: bool
    skip_deletes: bool
    limits: Limits

    @staticmethod
    def parse(options: Mapping[str, str]) -> SourceOptions:
        """Return checked options.

        Raises:
            ValidationError: An option is unknown, has a wrong value or contradicts another.
        """
        return SourceOptions.of(TableOptions.parse(options, also=STREAM_READ_OPTIONS))

    @staticmethod
    def of(table: TableOptions) -> SourceOptions:
        """Return the checked options of a source whose names are known; see :meth:`parse`."""
        given = table.others
        check_options("a streaming read", given, _READ)
        starts = [key for key in _STARTS if key in given]
        if len(starts) > 1:
            raise ValidationError(f"options: expected one of {', '.join(_STARTS)}, got {' and '.join(starts)}")
        start = given.get(FROM, "earliest").lower()
        if start not in ("earliest", "latest"):
            raise ValidationError(f"option {FROM}: expected earliest or latest, got {given[FROM]!r}")
        changes = _flag(given, "changes")
        unused = (SKIP_OVERWRITES, SKIP_DELETES, "branch") if changes else _CHANGES[1:]
        misplaced = [key for key in unused if key in given]
        if misplaced:
            expected = "changes=false" if changes else "changes=true"
            raise ValidationError(
                f"option {misplaced[0]}: expected {expected} beside it, got changes={str(changes).lower()}"
            )
        identifiers = given.get("identifier-columns")
        return SourceOptions(
            table=table,
            branch=given.get("branch"),
            row_filter=given.get("filter"),
            case_sensitive=_flag(given, "case-sensitive", default="true"),
            start=start,
            start_timestamp=_number(given, FROM_TIMESTAMP),
            start_snapshot_id=_number(given, START_SNAPSHOT),
            changes=changes,
            compute_updates=_flag(given, "compute-updates"),
            identifier_columns=None if identifiers is None else tuple(name.strip() for name in identifiers.split(",")),
            skip_overwrites=_flag(given, SKIP_OVERWRITES),
            skip_deletes=_flag(given, SKIP_DELETES),
            limits=Limits(files=_limit(given, MAX_FILES), rows=_limit(given, MAX_ROWS), size=_limit(given, MAX_BYTES)),
        )


@dataclass(frozen=True, kw_only=True)
class SinkOptions:
    """The checked options of a sink.

    Args:
        table: Table and catalog.
        branch: Branch to commit to; None for the branch of the session's settings, else main.
        snapshot_properties: Additional keys of each snapshot's summary.
        table_uuid: UUID of the only table to write; None for the table of the query's first micro-batch.
        checkpoint: Location of the checkpoint; None if a session setting has it, which Spark does not pass to sources.
    """

    table: TableOptions
    branch: str | None
    snapshot_properties: dict[str, str]
    table_uuid: str | None = None
    checkpoint: str | None = None

    @staticmethod
    def parse(options: Mapping[str, str]) -> SinkOptions:
        """Return checked options.

        ``fanout-enabled`` is accepted for code of the Java runtime. Rows need no order: a task keeps one file open for each
        partition, within a memory limit.

        Raises:
            ValidationError: An option is unknown or has a wrong value, or the table is given by its location.
        """
        return SinkOptions.of(TableOptions.parse(options, also=STREAM_WRITE_OPTIONS))

    @staticmethod
    def of(table: TableOptions) -> SinkOptions:
        """Return the checked options of a sink whose names are known; see :meth:`parse`."""
        own = [key for key in table.others if not key.startswith(SNAPSHOT_PROPERTY)]
        check_options("a streaming write", own, _WRITE)
        _flag(table.others, "fanout-enabled")
        if table.is_location():
            raise ValidationError(
                f"table: a write needs a catalog to commit to; expected an identifier such as db.events, got the location "
                f"{table.table!r}"
            )
        return SinkOptions(
            table=table,
            branch=table.others.get("branch"),
            snapshot_properties=summary_properties(table.others),
            table_uuid=table.others.get(TABLE_UUID),
            checkpoint=table.others.get(_CHECKPOINT),
        )


def _flag(given: Mapping[str, str], key: str, default: str = "false") -> bool:
    text = given.get(key, default).lower()
    if text not in ("true", "false"):
        raise ValidationError(f"option {key}: expected true or false, got {given[key]!r}")
    return text == "true"


def _number(given: Mapping[str, str], key: str) -> int | None:
    text = given.get(key)
    return None if text is None else whole_number(key, text)


def _limit(given: Mapping[str, str], key: str) -> int | None:
    limit = _number(given, key)
    if limit is not None and limit < 1:
        raise ValidationError(f"option {key}: expected a whole number above zero, got {limit}")
    return limit
