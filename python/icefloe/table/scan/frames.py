"""Arrow tables as pandas data frames, with uuids as Python objects."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from icefloe.exceptions import NotInstalledError
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd


def frame_library(name: str) -> ModuleType:
    """Return pandas, Polars or DuckDB, each of which is an extra of its name.

    Raises:
        NotInstalledError: The library is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise NotInstalledError(f"{name} is not installed: pip install 'icefloe[{name}]'") from error


def pandas_frame(table: pa.Table, **kwargs: Any) -> pd.DataFrame:
    """Return a table as a pandas data frame with uuids as ``uuid.UUID`` objects at any depth.

    Args:
        table: The rows.
        **kwargs: Keywords of `pyarrow.Table.to_pandas`.
    """
    stored = storage_schema(table.schema)
    # pyarrow refuses uuids inside lists, maps and structs; old versions convert a column of uuids to bytes.
    converted = [
        position
        for position, field in enumerate(table.schema)
        if field.type != stored.types[position] and (pa.types.is_nested(field.type) or not _pyarrow_converts_uuids())
    ]
    objects = {position: table.column(position).to_pylist() for position in converted}
    for position in converted:
        table = table.set_column(position, table.schema.names[position], pa.nulls(table.num_rows))
    frame = table.to_pandas(**kwargs)
    for position, values in objects.items():
        name = table.schema.names[position]
        frame[name] = type(frame[name])(values, index=frame.index, dtype=object)
    return frame


@cache
def _pyarrow_converts_uuids() -> bool:
    """Return whether `pyarrow.Table.to_pandas` converts columns of uuids to `uuid.UUID`."""
    column = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)], pa.binary(16)))
    return isinstance(pa.table({"uuid": column}).to_pandas()["uuid"][0], UUID)
