"""MERGE, UPDATE and DELETE: rows joined by Spark, changed in one snapshot."""
