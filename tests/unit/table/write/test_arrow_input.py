"""Data that is no table: columns and other objects."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.write.arrow_input import to_stream, to_table

COLUMNS = {
    "pyarrow": pa.chunked_array([[1]]),
    "Polars": pl.Series("id", [1]),
    "pandas": pd.Series([1], name="id"),
}


@pytest.mark.parametrize("library", COLUMNS)
def test_single_column_is_refused(library: str) -> None:
    with pytest.raises(ValidationError, match=r"cannot read a \w+ as (rows|Arrow data)"):
        to_stream(COLUMNS[library])


@pytest.mark.parametrize(
    "column", [pa.chunked_array([pa.array([{"id": 1}])]), pl.Series("x", [{"id": 1}])], ids=["pyarrow", "Polars"]
)
def test_column_of_structs_is_rows(column: Any) -> None:
    assert to_table(column).to_pydict() == {"id": [1]}
