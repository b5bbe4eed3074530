"""The options of the data source, and the table and scan that they describe.

A data source gets option names in lower case. Unknown options are errors: a misspelt ``snapshot-id`` must not read other rows.
Options of the Java runtime that change only its speed are accepted: ``HINTS``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.catalog import load_catalog
from icefloe.conversions.temporal import timestamp_nanos_from_text
from icefloe.exceptions import ValidationError
from icefloe.spark.writer.commit import SNAPSHOT_PROPERTY
from icefloe.spark.writer.options import REFUSED, WRITE_OPTIONS, refused, spelled
from icefloe.table.scan.options import BATCH_SIZE_OPTION, LOOKBACK_OPTION, OPEN_FILE_COST_OPTION, SPLIT_SIZE_OPTION
from icefloe.table.static import StaticTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from icefloe.table import Table
    from icefloe.table.scan import DataScan, IncrementalAppendScan, IncrementalChangelogScan

CATALOG_PREFIX = "catalog."
VERSION_OPTIONS = ("snapshot-id", "as-of-timestamp", "branch", "tag", "versionasof", "timestampasof")
_SHOWN = {"versionasof": "versionAsOf", "timestampasof": "timestampAsOf"}
"""Names in errors of the options that users do not write in lower case."""
RANGE_OPTIONS = ("start-snapshot-id", "end-snapshot-id", "start-timestamp", "end-timestamp")
CHANGE_OPTIONS = ("changes", "compute-updates", "identifier-columns", "net-changes")
TASK_SIZE_OPTIONS = (SPLIT_SIZE_OPTION, LOOKBACK_OPTION, OPEN_FILE_COST_OPTION)
"""Options of the sizes of tasks, which replace table properties for one read."""
HINTS = ("vectorization-enabled", BATCH_SIZE_OPTION, "locality")
"""Options of the Java runtime's readers that have no effect here; the page "Spark" has the reasons."""
SPEED_OPTIONS = (*TASK_SIZE_OPTIONS, *HINTS)
"""Options that change no row of a read."""
READ_OPTIONS = (
    *VERSION_OPTIONS,
    *RANGE_OPTIONS,
    *CHANGE_OPTIONS,
    *SPEED_OPTIONS,
    "columns",
    "filter",
    "case-sensitive",
)
TABLE_OPTIONS = ("path", "table", "catalog")
_OF_READS = (*TABLE_OPTIONS, *READ_OPTIONS)
_OF_WRITES = (*TABLE_OPTIONS, *WRITE_OPTIONS, "overwrite-mode")
_NANOS_PER_MILLI = 1_000_000


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Checked options.

    Args:
        table: Identifier in a catalog, or the location of a table or of a metadata file.
        catalog: Name of the catalog; its properties come from ``catalog.*`` options, the environment and the configuration file.
        catalog_properties: Catalog properties from options, without their prefix.
        others: All other options, by lower-case name.
    """

    table: str
    catalog: str
    catalog_properties: dict[str, str] = field(repr=False)
    others: dict[str, str]

    @staticmethod
    def parse(options: Mapping[str, str], *, also: Collection[str] = ()) -> TableOptions:
        """Return options whose names are known: those of reads and of writes.

        Args:
            options: Options, by name in any case.
            also: Names of further options, which stay unchecked in ``others``.

        Raises:
            ValidationError: No table is given, or an option is unknown.
        """
        given = {spelled(key.lower()): value for key, value in options.items()}
        table = given.get("table") or given.get("path")
        if table is None:
            raise ValidationError(
                'table: expected an identifier or location, as in spark.read.format("icefloe").load("db.events"), got none: a table that '
                'spark.sql("CREATE TABLE ... USING icefloe") made is an entry of Spark\'s own catalog without an Iceberg table; drop the '
                'entry with spark.sql("DROP TABLE ..."), and create the table with icefloe.spark.sql(spark, "CREATE TABLE '
                'lake.db.events ...") in an attached catalog'
            )
        known = {*_OF_READS, *_OF_WRITES, *also}
        unknown = [key for key in given if key not in known and not key.startswith((CATALOG_PREFIX, SNAPSHOT_PROPERTY))]
        if unknown and unknown[0] in REFUSED:
            raise refused(unknown[0])
        if unknown:
            raise ValidationError(
                f"options: unknown option; expected {', '.join(map(_shown, sorted(known)))}, catalog.<key> or snapshot-property.<key>, got "
                f"{unknown[0]!r}"
            )
        properties = {
            key.removeprefix(CATALOG_PREFIX): value for key, value in given.items() if key.startswith(CATALOG_PREFIX)
        }
        return TableOptions(
            table=table,
            catalog=given.get("catalog", "default"),
            catalog_properties=properties,
            others={key: value for key, value in given.items() if not key.startswith(CATALOG_PREFIX)},
        )

    def is_location(self) -> bool:
        """Return whether the table is given by its location; identifiers have neither slashes nor colons."""
        return "/" in self.table or ":" in self.table

    def load(self) -> Table:
        """Return the table; a table given by its location is read-only."""
        if self.is_location():
            return StaticTable.from_metadata(self.table, properties=self.catalog_properties)
        return load_catalog(self.catalog, **self.catalog_properties).load_table(self.table)

    def scan(self) -> DataScan | IncrementalAppendScan | IncrementalChangelogScan:
        """Return the scan that the read options describe.

        Raises:
            ValidationError: There is more than one of ``snapshot-id``, ``as-of-timestamp``, ``branch``, ``tag``, ``versionAsOf`` and
                ``timestampAsOf``, or one of them beside a range of snapshots or ``changes``, or an option of writes.
        """
        of_writes = [key for key in self.others if key in _OF_WRITES or key.startswith(SNAPSHOT_PROPERTY)]
        check_options("a read", of_writes, _OF_READS)
        scan = self._scan_of_snapshots()
        if "columns" in self.others:
            scan = scan.select(*[name.strip() for name in self.others["columns"].split(",")])
        if "filter" in self.others:
            scan = scan.filter(self.others["filter"])
        if "case-sensitive" in self.others:
            scan = scan.with_case_sensitive(self.flag("case-sensitive"))
        return scan.update(options={**scan.options, **self.task_sizes()})

    def task_sizes(self) -> dict[str, str]:
        """Return the options of the sizes of tasks, as options of a scan."""
        return {key: self.others[key] for key in TASK_SIZE_OPTIONS if key in self.others}

    def check_write(self) -> None:
        """Check that no option is one of reads alone.

        Raises:
            ValidationError: An option does not apply to writes.
        """
        check_options("a write", [key for key in self.others if not key.startswith(SNAPSHOT_PROPERTY)], _OF_WRITES)

    def _scan_of_snapshots(self) -> DataScan | IncrementalAppendScan | IncrementalChangelogScan:
        versions = [key for key in VERSION_OPTIONS if key in self.others]
        ranges = [key for key in RANGE_OPTIONS if key in self.others]
        if len(versions) > 1 or (versions and (ranges or self.flag("changes"))):
            got = [*versions, *ranges, *(["changes"] if self.flag("changes") else [])]
            raise ValidationError(
                f"options: expected one of {', '.join(map(_shown, VERSION_OPTIONS))}, or a range of snapshots, got "
                f"{' and '.join(map(_shown, got))}"
            )
        if self.flag("changes"):
            return self._changelog()
        others = [key for key in CHANGE_OPTIONS if key in self.others and key != "changes"]
        if others:
            raise ValidationError(f"option {others[0]}: expected changes=true beside it, got a read of rows")
        if ranges:
            return self._appends(ranges)
        scan: DataScan = self.load().scan()
        for key in versions:
            scan = _at_version(scan, key, self.others[key])
        return scan

    def _appends(self, ranges: list[str]) -> IncrementalAppendScan:
        timed = [key for key in ranges if key.endswith("timestamp")]
        if timed:
            raise ValidationError(
                f"option {timed[0]}: expected changes=true beside it, got a read of appended rows: pass start-snapshot-id"
            )
        if "start-snapshot-id" not in self.others:
            raise ValidationError(
                "option end-snapshot-id: expected start-snapshot-id beside it, got none: pass both, or snapshot-id"
            )
        return self.load().incremental_append_scan(
            from_snapshot_id_exclusive=self._number("start-snapshot-id"),
            to_snapshot_id_inclusive=self._number("end-snapshot-id"),
        )

    def _changelog(self) -> IncrementalChangelogScan:
        identifiers = self.others.get("identifier-columns")
        scan = self.load().incremental_changelog_scan(
            from_snapshot_id_exclusive=self._number("start-snapshot-id"),
            to_snapshot_id_inclusive=self._number("end-snapshot-id"),
            compute_updates=self.flag("compute-updates"),
            identifier_columns=None if identifiers is None else tuple(name.strip() for name in identifiers.split(",")),
            net_changes=self.flag("net-changes"),
        )
        end, start = self._number("end-timestamp"), self._number("start-timestamp")
        scan = scan if end is None else scan.to_timestamp(end)
        return scan if start is None else scan.from_timestamp(start)

    def _number(self, key: str) -> int | None:
        text = self.others.get(key)
        return None if text is None else whole_number(key, text)

    def flag(self, key: str, default: str = "false") -> bool:
        """Return the value of an option that is true or false.

        Raises:
            ValidationError: The option has another value.
        """
        text = self.others.get(key, default).lower()
        if text not in ("true", "false"):
            raise ValidationError(f"option {key}: expected true or false, got {text!r}")
        return text == "true"


def _at_version(scan: DataScan, key: str, value: str) -> DataScan:
    if key == "as-of-timestamp":
        return scan.as_of(whole_number(key, value))
    if key == "timestampasof":
        return scan.as_of(_milliseconds(value))
    if key == "snapshot-id" or (key == "versionasof" and value.lstrip("-").isdigit()):
        return scan.update(snapshot_id=whole_number(key, value))
    return scan.use_ref(value)


def _milliseconds(time: str) -> int:
    """Return the milliseconds since the epoch of a time with its offset; Spark plans a data source without the session's time zone."""
    expected = f"option timestampAsOf: expected a time with its offset from UTC, such as 2026-01-31 12:00:00+01:00, got {time!r}"
    try:
        nanos, has_offset = timestamp_nanos_from_text(time.strip())
    except ValidationError as error:
        raise ValidationError(
            f"{expected}: write a date and time of the years 1 to 9999 of UTC in this form, or pass as-of-timestamp in milliseconds since "
            "the epoch"
        ) from error
    if not has_offset:
        raise ValidationError(f"{expected}: add the offset, or pass as-of-timestamp in milliseconds since the epoch")
    return nanos // _NANOS_PER_MILLI


def _shown(key: str) -> str:
    """Return the name of an option as users write it."""
    return _SHOWN.get(key, key)


def check_options(use: str, given: Iterable[str], known: Collection[str]) -> None:
    """Check the names of options.

    Args:
        use: The use of the options, for the message: `a read`.
        given: Names of options.
        known: The options that apply to the use.

    Raises:
        ValidationError: An option does not apply.
    """
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValidationError(
            f"options: unknown option of {use}; expected {', '.join(map(_shown, sorted(known)))}, got {_shown(unknown[0])!r}"
        )


def whole_number(key: str, value: str) -> int:
    """Return the value of an option that is a whole number.

    Raises:
        ValidationError: The text has other characters than digits behind a sign.
    """
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValidationError(f"option {_shown(key)}: expected a whole number, got {value!r}")
    return int(value)
