"""Connections to PostgreSQL that are cut during a change: the reported outcome agrees with the database.

The tests cut connections of every driver and every change at the messages around COMMIT, and at all messages with `--all-cuts`.
"""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from dataclasses import replace

import psycopg
import pytest
from icefloe.catalog.sql import SqlCatalog
from icefloe.catalog.sql.database import namespace_properties, tables
from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.environment import SYSTEM
from sqlalchemy import delete, event

from tests.catalogs.operations import OPERATIONS, files_of, state_of, write_next
from tests.catalogs.wire_proxy import TIMEOUT_SECONDS, Cut, Fault

HASTE = 50
COMMIT_NEIGHBOURS = 1
SAMPLED_MESSAGES = 1
APPLICATION = "doubtful"


class CatalogWithoutSleep(SqlCatalog):
    """A catalog with shorter waits between status checks."""

    environment = replace(SYSTEM, sleep=lambda seconds: time.sleep(seconds / HASTE))


class Stage:
    """One catalog with two clients: a direct client reads it, a client behind the proxy changes it."""

    def __init__(self, postgres, database, line, directory, driver):
        self.line, self.driver, self.tally = line, driver, Counter()
        self.warehouse = directory / "warehouse"
        self.monitor = psycopg.connect(postgres.address(), autocommit=True)
        places = {"warehouse": str(self.warehouse)}
        self.direct = SqlCatalog("cat", uri=postgres.url("psycopg", database=database), **places)
        uri = postgres.url(driver, database=database, port=line.port, options=f"application_name={APPLICATION}")
        self.client = CatalogWithoutSleep("cat", uri=uri, **places)
        # pg8000 prepares encryption for every connection, which is slow and not supported by the proxy.
        if driver == "pg8000":
            event.listen(self.client.engine, "do_connect", lambda *given: given[3].update(ssl_context=False))
        # The first call reads the layout of the tables; a call before the runs keeps its messages out of the counts.
        self.client.table_exists("db.t")

    def close(self):
        self.client.close()
        self.direct.close()
        self.monitor.close()

    def run(self, operation, cut):
        """Run a change with a fault and check its reported outcome.

        Return the states before and after the change, the reported outcome and the messages.
        """
        self.line.heal()
        self.clear()
        operation.start(self.direct)
        before, files = state_of(self.direct), files_of(self.direct)
        # Drivers prepare statements after several executions, which changes the messages, so each run has a new
        # connection.
        self.client.engine.dispose()
        self.client.list_namespaces()
        subject = operation.prepare(self.client)
        self.line.arm(cut)
        reported = outcome(operation, subject)
        messages = list(self.line.messages)
        assert cut is None or self.line.has_cut, f"{cut}: there was no such message"
        self.line.heal()
        self.line.deliver()
        self.wait_until_idle()
        found, left = state_of(self.direct), files_of(self.direct)
        if reported == "failure":
            assert found == before, f"{cut}: reported as failed, and took effect"
            assert left == files, f"{cut}: files of a failed change are left"
        self.tally[reported] += 1
        write_next(self.direct)
        return before, found, reported, messages

    def clear(self):
        """Empty the catalog and its warehouse."""
        with self.direct.engine.begin() as connection:
            connection.execute(delete(tables))
            connection.execute(delete(namespace_properties))
        shutil.rmtree(self.warehouse, ignore_errors=True)

    def wait_until_idle(self):
        """Wait until all sessions of the client are idle and outside of transactions."""
        query = f"select count(*) from pg_stat_activity where application_name = '{APPLICATION}' and state <> 'idle'"
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.monitor.execute(query).fetchone()[0] > 0:
            assert time.monotonic() < deadline, "the server keeps a transaction of the client"
            time.sleep(0.002)


def outcome(operation, subject):
    try:
        operation.act(subject)
    except CommitStateUnknownException:
        return "unknown"
    except IcebergError:
        return "failure"
    return "success"


def all_cuts(messages):
    """Return all cuts of a change with these messages, first the cuts around COMMIT, then the others."""
    counts = Counter()
    numbered = []
    for message in messages:
        numbered.append((message.direction, counts[message.direction]))
        counts[message.direction] += 1
    commit = max(position for position, message in enumerate(messages) if message.is_commit)
    near, far = [], []
    for position, (direction, number) in enumerate(numbered):
        is_near = position >= commit - COMMIT_NEIGHBOURS
        (near if is_near else far).append(Cut(direction, number, Fault.BEFORE))
        # A cut after a message has nearly the same effect as a cut before the next message.
        is_vital = is_near and (messages[position].starts_work or number == counts[direction] - 1)
        (near if is_vital else far).append(Cut(direction, number, Fault.AFTER))
        if position >= commit and messages[position].starts_work:
            near.extend(Cut(direction, number, fault) for fault in (Fault.DOWN, Fault.LATE))
        if position > commit and messages[position - 1].starts_work:
            near.extend(Cut(direction, number, fault) for fault in (Fault.RESET, Fault.DOWN))
    return near, far


@pytest.fixture
def stage(postgres, database, line, tmp_path, driver):
    made = Stage(postgres, database, line, tmp_path, driver)
    yield made
    made.close()


@pytest.mark.parametrize("name", OPERATIONS)
def test_reported_outcome_agrees_with_the_database(stage, name, request, capsys):
    operation = OPERATIONS[name]
    before, after, reported, messages = stage.run(operation, None)
    assert (reported, before != after) == ("success", True)
    stage.tally.clear()
    near, far = all_cuts(messages)
    if not request.config.getoption("--all-cuts"):
        far = random.Random(0).sample(far, SAMPLED_MESSAGES)
    for cut in (*near, *far):
        before, found, reported, _ = stage.run(operation, cut)
        assert found in (before, after), f"{cut}: neither the old state nor the new one"
        if reported == "success":
            assert found == after, f"{cut}: reported as done, and not there"
        # If the server is reachable, the outcome is known, except for messages that arrive after the client has given
        # up.
        if cut.fault not in (Fault.DOWN, Fault.LATE):
            assert reported != "unknown", f"{cut}: the server was reachable"
    if request.config.getoption("--all-cuts"):
        with capsys.disabled():
            print(f"\n{stage.driver} {name}: {stage.tally.total()} cuts, {dict(stage.tally)}")
