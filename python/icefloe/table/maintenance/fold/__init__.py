"""Folding of the small files that batches of changes leave."""
