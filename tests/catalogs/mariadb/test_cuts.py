"""Connections to MariaDB that are cut during a change: the reported outcome agrees with the database."""

from __future__ import annotations

import pytest

from tests.catalogs.cuts import Stage, check_cuts

CHANGES = ("append", "create", "rename", "drop", "purge", "change-namespace")
"""Changes with distinct statements; the other changes send the same messages as one of these."""
USER = "doubtful"
BUSY = (
    "select count(*) from information_schema.processlist left join information_schema.innodb_trx on trx_mysql_thread_id = id "
    f"where user = '{USER}' and (command <> 'Sleep' or trx_id is not null)"
)


class MariaDbStage(Stage):
    """A catalog in MariaDB with a direct client and a client behind the proxy."""

    knows_outcomes = False

    def __init__(self, mariadb, database, line, directory, execute):
        self.execute = execute
        execute(f"create user if not exists '{USER}'@'127.0.0.1'", f"grant all on {database}.* to '{USER}'@'127.0.0.1'")
        super().__init__(line, directory, mariadb.url(database), mariadb.url(database, port=line.port, user=USER))

    def busy_sessions(self):
        return self.execute(BUSY)[0][0]


@pytest.fixture
def stage(mariadb, mariadb_database, mariadb_line, tmp_path, execute):
    made = MariaDbStage(mariadb, mariadb_database, mariadb_line, tmp_path, execute)
    yield made
    made.close()


@pytest.mark.parametrize("name", CHANGES)
def test_reported_outcome_agrees_with_the_database(stage, name, request):
    check_cuts(stage, name, every=request.config.getoption("--all-cuts"))
