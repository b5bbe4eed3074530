"""Apache Iceberg tables for PySpark and Python without a JVM jar."""
