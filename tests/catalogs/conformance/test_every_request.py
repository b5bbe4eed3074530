"""Faults at every request to the servers of catalogs and storage: the tables agree with the reported outcome."""

from __future__ import annotations

import contextlib
import itertools
import urllib.parse
from dataclasses import replace
from unittest.mock import patch

import psycopg
import pytest
from icefloe.catalog.rest import RestCatalog
from icefloe.table.environment import SYSTEM

from tests.catalogs.conformance.glue_entry import Glue
from tests.catalogs.conformance.hadoop_entries import S3Hadoop
from tests.catalogs.conformance.hive_entries import HiveWithLocks, HiveWithoutLocks
from tests.catalogs.conformance.rest_entries import Rest
from tests.catalogs.conformance.sql_entries import Postgres, Sqlite
from tests.catalogs.thrift_proxy import thrift_proxy
from tests.catalogs.wire_proxy import wire_proxy
from tests.faults.lines import HttpFaults, PostgresFaults, ThriftFaults
from tests.faults.sweep import Sweep
from tests.faults.table_operations import OPERATIONS, operations_of
from tests.storage.servers import proxy

NAMESPACES = itertools.count()
GROUPS = 3
APPLICATION = "faulty"
WITHOUT_WAITS = replace(SYSTEM, sleep=lambda _seconds: None)
"""An environment without waits between the attempts of a commit and before an outcome is read back."""


class SqliteOnS3(Sqlite):
    """A catalog in a SQLite file, with its tables on S3."""

    name = "sqlite-on-s3"

    @property
    def properties(self):
        server = self.request.getfixturevalue("s3")
        bucket = f"sqlite-{self.directory.name.replace('_', '-')}"[:60].rstrip("-")
        (server.root / bucket).mkdir(exist_ok=True)
        return {**super().properties, "warehouse": f"s3://{bucket}/warehouse", **server.properties()}


@contextlib.contextmanager
def s3_line(subject):
    with proxy(subject.request.getfixturevalue("s3").endpoint) as line:
        retries = {"s3.retry.num-retries": "2"}
        client = subject.client(**{"s3.endpoint": line.endpoint, **retries})
        yield client, HttpFaults(line, is_object_store=True)


@contextlib.contextmanager
def rest_line(subject):
    # The parts of a client get its environment when it is built.
    with proxy(subject.properties["uri"]) as line, patch.object(RestCatalog, "environment", WITHOUT_WAITS):
        yield subject.client(uri=line.endpoint), HttpFaults(line)


@contextlib.contextmanager
def glue_line(subject):
    with proxy(subject.properties["glue.endpoint"]) as line:
        yield subject.client(**{"glue.endpoint": line.endpoint, "glue.max-retries": "1"}), HttpFaults(line)


@contextlib.contextmanager
def hive_line(subject):
    server = subject.request.getfixturevalue(subject.fixture)
    with thrift_proxy(server.port) as line:
        yield subject.client(uri=server.uri(line.port)), ThriftFaults(line)


@contextlib.contextmanager
def postgres_line(subject):
    server = subject.request.getfixturevalue("postgres")
    database = urllib.parse.urlsplit(subject.properties["uri"]).path.removeprefix("/")
    with wire_proxy(server.port) as line, psycopg.connect(server.address(), autocommit=True) as monitor:
        options = f"application_name={APPLICATION}"
        client = subject.client(uri=server.url("psycopg", database=database, port=line.port, options=options))
        yield client, PostgresFaults(line, monitor, client.engine.dispose, APPLICATION)


LINES = {
    S3Hadoop: s3_line,
    SqliteOnS3: s3_line,
    Rest: rest_line,
    Glue: glue_line,
    HiveWithLocks: hive_line,
    HiveWithoutLocks: hive_line,
    Postgres: postgres_line,
}
CASES = [
    pytest.param(entry, group, marks=pytest.mark.xdist_group(entry.name), id=f"{entry.name}-{group}")
    for entry in LINES
    for group in range(GROUPS)
]


def warehouse_of(subject) -> str:
    if isinstance(subject, Rest):
        return subject.request.getfixturevalue("rest").warehouse
    return subject.properties["warehouse"]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("subject", "group"), CASES, indirect=["subject"])
def test_operations_with_a_failing_request_report_what_happened(subject, group, selection, record_sweep):
    violations = []
    names = selection.of(operations_of(subject.name))[group::GROUPS]
    with LINES[type(subject)](subject) as (client, faults):
        client.environment = WITHOUT_WAITS
        for name in names:
            sweep = Sweep(
                OPERATIONS[name],
                client,
                subject.client(),
                faults,
                warehouse=warehouse_of(subject),
                selection=selection,
                name=f"f{next(NAMESPACES)}x",
            )
            sweep.run()
            record_sweep("requests", subject.name, name, sweep)
            violations += [f"{name}: {text}" for text in sweep.violations]
    assert violations == []
