"""Rows as pandas and Polars data frames and as DuckDB tables, uuid columns in the form that each library takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    import pandas as pd


def pandas_frame(table: pa.Table, **kwargs: Any) -> pd.DataFrame:
    """Return a table as a pandas data frame with uuids as ``uuid.UUID`` objects at any depth.

    Args:
        table: The rows.
        **kwargs: Keywords of `pyarrow.Table.to_pandas`.
    """
    stored = storage_schema(table.schema)
    nested = [
        position
        for position, field in enumerate(table.schema)
        if pa.types.is_nested(field.type) and field.type != stored.types[position]
    ]
    # pyarrow converts uuid columns to objects, and refuses uuids inside lists, maps and structs.
    objects = {position: table.column(position).to_pylist() for position in nested}
    for position in nested:
        table = table.set_column(position, table.schema.names[position], pa.nulls(table.num_rows))
    frame = table.to_pandas(**kwargs)
    for position, values in objects.items():
        name = table.schema.names[position]
        frame[name] = type(frame[name])(values, index=frame.index, dtype=object)
    return frame
