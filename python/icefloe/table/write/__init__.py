"""Writing rows: appends, overwrites and deletes by a filter."""
