"""The columns that locate the rows of a scan."""

FILE = "__icefloe_file"
"""The key of a row's file, or its path."""

POSITION = "__icefloe_pos"
"""The position of the row in its file, an int64 from 0."""
