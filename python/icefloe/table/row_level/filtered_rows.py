"""The rows of a plan's filter with their positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.read_context import schema_json
from icefloe.table.row_level.clause_expressions import TARGET
from icefloe.table.row_level.joined_rows import gathered
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.write.rows import POS, POSITIONS, located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.schema import Schema
    from icefloe.table.scan.plan import ScanPlan


@dataclass(frozen=True)
class FilteredRows:
    """The rows of a plan's filter, read once.

    Attributes:
        plan: The plan.
        schema: The table's schema.
    """

    plan: ScanPlan
    schema: Schema

    def chunks(self, columns: frozenset[str] | None) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield parts of the rows as positions, each with its columns `target.<name>`; None stands for all columns."""
        names = [one.name for one in self.schema.fields if columns is None or TARGET + one.name in columns]
        for rows in gathered(located(self.plan, schema_json(self.schema.select(*names)))):
            read = {TARGET + name: rows.column(name) for name in names}
            yield rows.select([FILE_ROW, POS]).cast(POSITIONS), pa.table({"__row": rows.column(POS), **read})
