"""Reads: scans of tables as DataFrames."""
