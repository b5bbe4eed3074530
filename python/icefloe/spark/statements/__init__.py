"""Spark SQL over Iceberg catalogs: attached tables, and the statements that Spark alone cannot run on them."""
