"""Writes: DataFrames to data files, committed in one snapshot."""
