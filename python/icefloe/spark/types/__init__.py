"""Types and columns of Spark, of Iceberg and of Arrow, and what turns one into another."""
