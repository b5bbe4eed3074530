"""Which rows and columns of a table are wanted: what all scans share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And
from icefloe.expressions.filter import Filter, to_expression
from icefloe.schema import Schema
from icefloe.table.properties import TableProperties
from icefloe.table.read_context import context_json, schema_json
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS, check_names, metadata_field
from icefloe.table.scan.plan import Packing
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Properties

SPLIT_SIZE_OPTION = "split-size"
LOOKBACK_OPTION = "lookback"
OPEN_FILE_COST_OPTION = "file-open-cost"
BATCH_SIZE_OPTION = "batch-size"
OPTIONS = (SPLIT_SIZE_OPTION, LOOKBACK_OPTION, OPEN_FILE_COST_OPTION, BATCH_SIZE_OPTION)
ALL_COLUMNS = ("*",)


@dataclass(frozen=True)
class Selection:
    """Rows and columns of a table. Every method that changes something returns a new scan.

    Attributes:
        table_metadata: The table.
        io: Storage.
        row_filter: Which rows, as text or as an expression.
        selected_fields: Which columns, `("*",)` for all. Nested fields by dotted names. `_file`, `_pos`, `_deleted`, `_spec_id`
            and `_partition` too; with `_deleted` deleted rows are returned as well.
        case_sensitive: Whether names must match exactly.
        snapshot_id: Which snapshot; None for the current one.
        options: `split-size` (bytes of a task), `lookback` (groups that are filled at once), `file-open-cost` (bytes), each
            in place of the table's property `read.split.*`; `batch-size` (rows of a batch).
        limit: Most rows to return, None for all.
        table_name: For messages and explanations.
    """

    table_metadata: TableMetadata
    io: FileIO = field(repr=False)
    row_filter: str | BooleanExpression = field(default_factory=AlwaysTrue)
    selected_fields: tuple[str, ...] = ALL_COLUMNS
    case_sensitive: bool = True
    snapshot_id: int | None = None
    options: Properties = field(default_factory=lambda: EMPTY_DICT)
    limit: int | None = None
    table_name: str = "table"

    def __post_init__(self) -> None:
        if self.limit is not None and (not isinstance(self.limit, int) or isinstance(self.limit, bool)):
            raise ValidationError(f"limit {self.limit!r} must be a whole number, or None for all rows")
        if self.limit is not None and self.limit < 0:
            raise ValidationError(f"limit {self.limit} must not be negative")
        unknown = sorted(set(self.options) - set(OPTIONS))
        if unknown:
            raise ValidationError(f"unknown scan options {', '.join(unknown)}; there are {', '.join(OPTIONS)}")
        for option, text in self.options.items():
            _positive(option, text)

    def update(self, **overrides: Any) -> Self:
        """Return a scan with some attributes replaced."""
        return replace(self, **overrides)

    def filter(self, expr: str | BooleanExpression) -> Self:
        """Return a scan that also keeps to a filter.

        Example:
            >>> scan.filter("id > 1").filter("id < 3").count()
            1
        """
        added = to_expression(expr, allow_empty=False)
        own = to_expression(self.row_filter, allow_empty=False)
        return self.update(row_filter=added if isinstance(own, AlwaysTrue) else And(own, added))

    def select(self, *field_names: str) -> Self:
        """Return a scan of these columns, of those that were selected before.

        Raises:
            ValidationError: None of the columns was selected before.
        """
        if "*" in self.selected_fields:
            return self.update(selected_fields=field_names)
        both = tuple(name for name in field_names if name in self.selected_fields)
        if not both:
            raise ValidationError(f"{', '.join(field_names)}: not among the selected {', '.join(self.selected_fields)}")
        return self.update(selected_fields=both)

    def with_case_sensitive(self, case_sensitive: bool = True) -> Self:
        """Return a scan that matches names exactly, or regardless of case."""
        return self.update(case_sensitive=case_sensitive)

    def schema(self) -> Schema:
        """Return the schema that names are resolved in: the current one."""
        return self.table_metadata.schema()

    def projection(self) -> Schema:
        """Return the schema of the rows, metadata columns not included.

        Raises:
            ResolveError: A selected column does not exist.
        """
        schema = self.schema()
        names = [name for name in self.selected_fields if name not in METADATA_COLUMNS]
        return schema if "*" in names else schema.select(*names, case_sensitive=self.case_sensitive)

    def projection_json(self) -> str:
        """Return the schema of the rows as JSON, with the metadata columns at its end."""
        check_names(self.selected_fields, self.schema())
        names = [name for name in dict.fromkeys(self.selected_fields) if name in METADATA_COLUMNS]
        return with_metadata_columns(schema_json(self.projection()), names, self.table_metadata)

    def _context_json(self) -> str:
        return context_json(self.table_metadata, self.schema(), case_sensitive=self.case_sensitive)

    def resolved_filter(self) -> Filter:
        """Return the row filter together with the schema and the case rule of the scan.

        Raises:
            ValidationError: The filter is text that does not parse.
        """
        return Filter.of(self.row_filter, self.schema(), case_sensitive=self.case_sensitive)

    def _read_filter(self) -> Filter:
        """Return the filter that rows are planned and read by."""
        return self.resolved_filter()

    def packing(self) -> Packing:
        """Return how tasks are packed into groups, by options and the table's properties."""
        properties = TableProperties
        cost = properties.READ_SPLIT_OPEN_FILE_COST, properties.READ_SPLIT_OPEN_FILE_COST_DEFAULT
        lookback = properties.READ_SPLIT_LOOKBACK, properties.READ_SPLIT_LOOKBACK_DEFAULT
        return Packing(
            target_size_bytes=self._split_size(),
            lookback=self._setting(LOOKBACK_OPTION, *lookback),
            open_file_cost_bytes=self._setting(OPEN_FILE_COST_OPTION, *cost),
        )

    def _split_size(self) -> int:
        size, default = TableProperties.READ_SPLIT_TARGET_SIZE, TableProperties.READ_SPLIT_TARGET_SIZE_DEFAULT
        return self._setting(SPLIT_SIZE_OPTION, size, default)

    def _setting(self, option: str, name: str, default: int) -> int:
        text = self.options.get(option)
        return _positive(option, self.table_metadata.properties.get(name, str(default)) if text is None else text)

    def _batch_size(self) -> int:
        return _positive(BATCH_SIZE_OPTION, self.options.get(BATCH_SIZE_OPTION, "65536"))


def with_metadata_columns(schema: str, names: Sequence[str], metadata: TableMetadata | None = None) -> str:
    """Return a schema's JSON with metadata columns added at its end."""
    rows = json.loads(schema)
    fields = Schema(*[metadata_field(name, metadata) for name in names])
    rows["fields"] += json.loads(schema_json(fields))["fields"]
    return json.dumps(rows)


def _positive(name: str, text: object) -> int:
    digits = str(text)
    if not (digits.isascii() and digits.isdigit() and int(digits) > 0):
        raise ValidationError(f"{name}={digits!r} must be a whole number above zero")
    return int(digits)


def as_names(selected_fields: Iterable[str]) -> tuple[str, ...]:
    """Return names of columns as a scan has them; a single text would be taken for its letters."""
    if isinstance(selected_fields, str) or not isinstance(selected_fields, Iterable):
        raise ValidationError(f"selected_fields must be several names, as ('id',), got {selected_fields!r}")
    return tuple(selected_fields)
