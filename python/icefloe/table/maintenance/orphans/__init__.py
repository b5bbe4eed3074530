"""Removal of files that no snapshot refers to."""
