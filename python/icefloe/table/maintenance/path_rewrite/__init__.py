"""Copies of a table's metadata for another location: every path with its prefix replaced."""
