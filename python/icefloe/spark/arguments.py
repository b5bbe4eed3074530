"""Checks of the tables, DataFrames and options that public calls take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from icefloe.table import Table


def checked_table(call: str, value: Any) -> Table:
    """Return an argument that is a table.

    Args:
        call: The call, for the message.
        value: The argument.

    Raises:
        ValidationError: The value is no table.
    """
    from icefloe.table import Table

    if not isinstance(value, Table):
        raise ValidationError(f"{call}, table: expected a Table, such as catalog.load_table() returns, got {value!r}")
    return value


def checked_frame(call: str, value: Any) -> DataFrame:
    """Return an argument that is a DataFrame of Spark, classic or over Spark Connect.

    Raises:
        ValidationError: The value is no DataFrame.
    """
    if not (hasattr(value, "sparkSession") and hasattr(value, "mapInArrow")):
        raise ValidationError(f"{call}: expected a DataFrame of Spark, got a {type(value).__name__}")
    frame: DataFrame = value
    return frame


def checked_summary(properties: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return an argument with additional keys of a snapshot's summary; empty for None.

    Raises:
        ValidationError: The value is no mapping with texts as keys.
    """
    return {} if properties is None else checked_mapping("snapshot_properties", properties, "names to values")
