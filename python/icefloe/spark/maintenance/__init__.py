"""Maintenance from Spark: the procedures of the Java runtime over the plans of `Table.maintenance`."""
