"""Arrow tables as pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    import pandas as pd


def pandas_frame(table: pa.Table, **kwargs: Any) -> pd.DataFrame:
    """Return a table as a pandas data frame, UUIDs at any depth as ``uuid.UUID``.

    Args:
        table: The rows.
        **kwargs: Keywords of `pyarrow.Table.to_pandas`.
    """
    stored = storage_schema(table.schema)
    nested = [
        place
        for place, field in enumerate(table.schema)
        if pa.types.is_nested(field.type) and field.type != stored.types[place]
    ]
    # pyarrow makes UUIDs of columns, and refuses UUIDs inside lists, maps and structs.
    objects = {place: table.column(place).to_pylist() for place in nested}
    for place in nested:
        table = table.set_column(place, table.schema.names[place], pa.nulls(table.num_rows))
    frame = table.to_pandas(**kwargs)
    for place, values in objects.items():
        name = table.schema.names[place]
        frame[name] = type(frame[name])(values, index=frame.index, dtype=object)
    return frame
