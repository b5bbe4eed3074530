"""Statistics of columns and partitions, computed and committed."""
