"""Options of the data source, and the table they name.

Option names reach a data source in lower case. Unknown ones are refused: a misspelt ``snapshot-id`` must not read the wrong rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark.commit import SNAPSHOT_PROPERTY
from icefloe.table import StaticTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table import Table
    from icefloe.table.scan import TableScan

CATALOG_PREFIX = "catalog."
READ_OPTIONS = ("snapshot-id", "as-of-timestamp", "branch", "tag", "versionasof", "columns", "filter")
WRITE_OPTIONS = ("overwrite-mode", "overwrite-filter", "branch")
_TABLE_OPTIONS = ("path", "table", "catalog", "case-sensitive")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options, checked.

    Args:
        table: Identifier in a catalog, or the location of a table or of a metadata file.
        catalog: Name of the catalog; its properties come from ``catalog.*`` options, the environment and the configuration file.
        catalog_properties: Those that were given as options, without their prefix.
        others: All other options, by lower-case name.
    """

    table: str
    catalog: str
    catalog_properties: dict[str, str] = field(repr=False)
    others: dict[str, str]

    @staticmethod
    def parse(options: Mapping[str, str]) -> TableOptions:
        """Return checked options.

        Raises:
            ValidationError: No table is named, or an option is unknown.
        """
        given = {key.lower(): value for key, value in options.items()}
        known = {*READ_OPTIONS, *WRITE_OPTIONS, *_TABLE_OPTIONS}
        unknown = [key for key in given if key not in known and not key.startswith((CATALOG_PREFIX, SNAPSHOT_PROPERTY))]
        if unknown:
            raise ValidationError(
                f"Unknown option {unknown[0]!r}; there are: {', '.join(sorted(known))}, catalog.<key>, snapshot-property.<key>"
            )
        table = given.get("table") or given.get("path")
        if table is None:
            raise ValidationError('Name the table: spark.read.format("icefloe").load("db.events")')
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
        """Return whether the table is named by a location; identifiers have neither slashes nor colons."""
        return "/" in self.table or ":" in self.table

    def load(self) -> Table:
        """Return the table; one that is named by its location can only be read."""
        if self.is_location():
            return StaticTable.from_metadata(self.table, properties=self.catalog_properties)
        return load_catalog(self.catalog, **self.catalog_properties).load_table(self.table)

    def scan(self) -> TableScan:
        """Return the scan that the read options describe.

        Raises:
            ValidationError: More than one of ``snapshot-id``, ``as-of-timestamp``, ``branch``, ``tag`` and ``versionAsOf``.
        """
        versions = [
            key for key in ("snapshot-id", "as-of-timestamp", "branch", "tag", "versionasof") if key in self.others
        ]
        if len(versions) > 1:
            raise ValidationError(f"Give one of the options {', '.join(versions)}, not all of them")
        scan: TableScan = self.load().scan()
        for key in versions:
            scan = _at_version(scan, key, self.others[key])
        if "columns" in self.others:
            scan = scan.select(*[name.strip() for name in self.others["columns"].split(",")])
        if "filter" in self.others:
            scan = scan.filter(self.others["filter"])
        if "case-sensitive" in self.others:
            scan = scan.with_case_sensitive(self.others["case-sensitive"].lower() == "true")
        return scan


def _at_version(scan: TableScan, key: str, value: str) -> TableScan:
    is_number = value.lstrip("-").isdigit()
    if key in ("snapshot-id", "as-of-timestamp") and not is_number:
        raise ValidationError(f"{key} must be a whole number, not {value!r}")
    if key == "as-of-timestamp":
        return scan.as_of(int(value))
    if key == "snapshot-id" or (key == "versionasof" and is_number):
        return scan.update(snapshot_id=int(value))
    return scan.use_ref(value)
