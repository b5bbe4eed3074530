"""Cuts of the connection to a database during a change of a catalog: the reported outcome agrees with the database."""

from __future__ import annotations

import random
import shutil
import time
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace

from icefloe.catalog.sql import SqlCatalog
from icefloe.catalog.sql.layout import namespace_properties, tables
from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.environment import SYSTEM
from sqlalchemy import delete

from tests.catalogs.operations import OPERATIONS, files_of, state_of, write_next
from tests.catalogs.wire_proxy import TIMEOUT_SECONDS, Cut, Fault

HASTE = 50
COMMIT_NEIGHBOURS = 1
SAMPLED_MESSAGES = 1
UNREADABLE = ("purge",)
"""Changes whose effect cannot be read back: an absent name does not prove that this client removed the table."""


class CatalogWithoutSleep(SqlCatalog):
    """A catalog with shorter waits between status checks."""

    environment = replace(SYSTEM, sleep=lambda seconds: time.sleep(seconds / HASTE))


class Stage(ABC):
    """One catalog with two clients: a direct client reads it, a client behind the proxy changes it.

    Args:
        line: The proxy in front of the database.
        directory: An empty directory for the tables.
        direct: URL of the database.
        through: URL of the database through the proxy.
    """

    knows_outcomes = True
    """Whether the database has a record of its transactions, so that the catalog always learns of one that was rolled back."""

    def __init__(self, line, directory, direct, through):
        self.line, self.tally = line, Counter()
        self.warehouse = directory / "warehouse"
        places = {"warehouse": str(self.warehouse)}
        self.direct = SqlCatalog("cat", uri=direct, **places)
        self.client = CatalogWithoutSleep("cat", uri=through, **places)
        self.connect()

    def connect(self):
        """Make the client's first call, which reads the layout of the tables, so that its messages are not counted."""
        self.client.table_exists("db.t")

    @abstractmethod
    def busy_sessions(self):
        """Return how many sessions of the client run a statement or are inside of a transaction."""

    def close(self):
        self.client.close()
        self.direct.close()

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
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.busy_sessions() > 0:
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


def check_cuts(stage, name, *, every):
    """Cut the connection at the messages around COMMIT, or at every message, and check what each change reports."""
    operation = OPERATIONS[name]
    before, after, reported, messages = stage.run(operation, None)
    assert (reported, before != after) == ("success", True)
    stage.tally.clear()
    near, far = all_cuts(messages)
    if not every:
        far = random.Random(0).sample(far, SAMPLED_MESSAGES)
    for cut in (*near, *far):
        before, found, reported, _ = stage.run(operation, cut)
        assert found in (before, after), f"{cut}: neither the old state nor the new one"
        if reported == "success":
            assert found == after, f"{cut}: reported as done, and not there"
        # If the server is reachable, the outcome is known, except for messages that arrive after the client has given
        # up.
        is_readable = found == after and name not in UNREADABLE
        if cut.fault not in (Fault.DOWN, Fault.LATE) and (stage.knows_outcomes or is_readable):
            assert reported != "unknown", f"{cut}: the server was reachable"
    if every:
        print(f"{name}: {stage.tally.total()} cuts, {dict(stage.tally)}")
