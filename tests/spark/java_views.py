"""Create views with the Java runtime through Spark on a REST catalog, and record their rows, in a separate process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.catalogs.rest.java_job import rest_session

VIEWS = {
    "plain": "SELECT id, name FROM t",
    "renamed (key COMMENT 'the id', `a b`)": "SELECT id, upper(name) FROM t WHERE id <> 2",
    "summed": "SELECT count(*) AS n, sum(id) AS total FROM prod.{space}.t",
    "common": "WITH w AS (SELECT id * 2 AS twice FROM t) SELECT w.twice, t.name FROM w JOIN t ON t.id = w.twice",
    "nested": "SELECT key, `a b` FROM renamed WHERE key IN (SELECT total FROM summed UNION SELECT 1)",
    "wide": "SELECT array(id, 1) AS list, named_struct('x', id, 'y', name) AS s FROM t WHERE id = 1",
}


def main(jar: str, folder: str, uri: str, space: str) -> None:
    spark = rest_session(jar, folder, "prod", uri)
    spark.sql(f"USE prod.{space}")
    found = {}
    for name, query in VIEWS.items():
        spark.sql(f"CREATE VIEW {name} AS {query.format(space=space)}")
        view = name.split()[0]
        found[view] = [list(row) for row in spark.sql(f"SELECT * FROM {view} ORDER BY 1, 2").collect()]
    (Path(folder) / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
