"""Rewriting of data files: compaction, sorting and clustering."""
