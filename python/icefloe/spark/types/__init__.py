"""Types and columns of Spark, Iceberg and Arrow, and the conversions between them."""
