"""Connections to PostgreSQL that are cut during a change: the reported outcome agrees with the database.

The tests cut connections of every driver and every change at the messages around COMMIT, and at all messages with `--all-cuts`.
"""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import event

from tests.catalogs.cuts import Stage, check_cuts
from tests.catalogs.operations import OPERATIONS

APPLICATION = "doubtful"


class PostgresStage(Stage):
    """A catalog in PostgreSQL with a direct client and a client behind the proxy."""

    def __init__(self, postgres, database, line, directory, driver):
        self.driver = driver
        self.monitor = psycopg.connect(postgres.address(), autocommit=True)
        through = postgres.url(driver, database=database, port=line.port, options=f"application_name={APPLICATION}")
        super().__init__(line, directory, postgres.url("psycopg", database=database), through)

    def connect(self):
        # pg8000 prepares encryption for every connection, which is slow and not supported by the proxy.
        if self.driver == "pg8000":
            event.listen(self.client.engine, "do_connect", lambda *given: given[3].update(ssl_context=False))
        super().connect()

    def busy_sessions(self):
        query = f"select count(*) from pg_stat_activity where application_name = '{APPLICATION}' and state <> 'idle'"
        return self.monitor.execute(query).fetchone()[0]

    def close(self):
        super().close()
        self.monitor.close()


@pytest.fixture
def stage(postgres, database, line, tmp_path, driver):
    made = PostgresStage(postgres, database, line, tmp_path, driver)
    yield made
    made.close()


@pytest.mark.parametrize("name", OPERATIONS)
def test_reported_outcome_agrees_with_the_database(stage, name, request):
    check_cuts(stage, name, every=request.config.getoption("--all-cuts"))
