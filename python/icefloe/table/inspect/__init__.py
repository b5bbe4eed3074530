"""The metadata tables of a table."""

from icefloe.table.inspect.inspect_table import InspectTable

__all__ = ["InspectTable"]
