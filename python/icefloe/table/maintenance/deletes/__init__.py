"""Rewriting and removal of delete files."""
