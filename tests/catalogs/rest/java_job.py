"""Read, change and write tables with the Java reference's REST client through Spark, in a separate process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.interop.java.writer import session


def rest_session(jar: str, folder: str, name: str, uri: str) -> SparkSession:
    """A session of the Java reference with a REST catalog."""
    spark = session(jar, Path(folder) / "warehouse")
    for key, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": uri,
        ".cache-enabled": "false",
    }.items():
        spark.conf.set(f"spark.sql.catalog.{name}{key}", value)
    return spark


def main(jar: str, folder: str, uri: str, namespace: str) -> None:
    spark = rest_session(jar, folder, "lake", uri)
    ours, theirs = f"lake.{namespace}.ours", f"lake.{namespace}.theirs"
    found = {"before": rows(spark, ours)}
    spark.sql(f"insert into {ours} values (10, 'java', null)")
    spark.sql(f"delete from {ours} where id = 3")
    found["after"] = rows(spark, ours)
    spark.sql(
        f"create table {theirs} (id bigint, name string) using iceberg partitioned by (bucket(4, id)) "
        "tblproperties ('write.delete.mode'='merge-on-read')"
    )
    spark.sql(f"insert into {theirs} values (1, 'a'), (2, 'b'), (3, 'c')")
    spark.sql(f"delete from {theirs} where id = 2")
    spark.sql(f"alter table {theirs} add column note string")
    found["theirs"] = rows(spark, theirs)
    (Path(folder) / "found.json").write_text(json.dumps(found))
    spark.stop()


def rows(spark: SparkSession, table: str) -> list[list[object]]:
    return [list(row) for row in spark.table(table).orderBy("id").collect()]


if __name__ == "__main__":
    main(*sys.argv[1:])
