"""Faults at every request to the servers of catalogs and storage: the tables agree with the reported outcome."""

from __future__ import annotations

import contextlib
import itertools
import urllib.parse
from types import SimpleNamespace
from unittest.mock import patch

import botocore.endpoint
import psycopg
import pytest
from icefloe.catalog.rest import RestCatalog

from tests.catalogs.conformance.glue_entry import Glue
from tests.catalogs.conformance.hadoop_entries import AzureHadoop, GcsHadoop, S3Hadoop
from tests.catalogs.conformance.hive_entries import HiveWithLocks, HiveWithoutLocks
from tests.catalogs.conformance.rest_entries import Rest
from tests.catalogs.conformance.sql_entries import MariaDb, Postgres, Sqlite
from tests.catalogs.thrift_proxy import thrift_proxy
from tests.catalogs.wire_proxy import MySqlProtocol, wire_proxy
from tests.faults.lines import (
    MARIADB_POLL_SECONDS,
    MARIADB_WAITS,
    MARIADB_WORK,
    POSTGRES_POLL_SECONDS,
    POSTGRES_WAITS,
    POSTGRES_WORK,
    HttpFaults,
    ThriftFaults,
    WireFaults,
)
from tests.faults.operations import OPERATIONS, operations_of
from tests.faults.sweep import WITHOUT_WAITS, Sweep
from tests.storage.azure_server import connection
from tests.storage.servers import proxy

NAMESPACES = itertools.count()
GROUPS = 3
APPLICATION = "faulty"


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
        retries = {"s3.retry.num-retries": "2", "s3.retry.min-wait-ms": "5", "s3.retry.max-wait-ms": "20"}
        client = subject.client(**{"s3.endpoint": line.endpoint, **retries})
        yield client, HttpFaults(line, is_object_store=True)


@contextlib.contextmanager
def azure_line(subject):
    server = urllib.parse.urlsplit(subject.request.getfixturevalue("azure"))
    with proxy(f"http://{server.netloc}") as line:
        retries = {"adls.retry.num-retries": "2", "adls.retry.min-wait-ms": "5", "adls.retry.max-wait-ms": "20"}
        client = subject.client(**connection(f"{line.endpoint}{server.path}"), **retries)
        yield client, HttpFaults(line, is_object_store=True)


@contextlib.contextmanager
def gcs_line(subject):
    with proxy(subject.properties["gcs.service.host"]) as line:
        retries = {"gcs.retry.num-retries": "2", "gcs.retry.min-wait-ms": "5", "gcs.retry.max-wait-ms": "20"}
        client = subject.client(**{"gcs.service.host": line.endpoint, **retries})
        yield client, HttpFaults(line, is_object_store=True)


@contextlib.contextmanager
def rest_line(subject):
    # The parts of a client get its environment when it is built.
    with proxy(subject.properties["uri"]) as line, patch.object(RestCatalog, "environment", WITHOUT_WAITS):
        yield subject.client(uri=line.endpoint), HttpFaults(line)


@contextlib.contextmanager
def glue_line(subject):
    without_waits = SimpleNamespace(sleep=WITHOUT_WAITS.sleep)
    with proxy(subject.properties["glue.endpoint"]) as line, patch.object(botocore.endpoint, "time", without_waits):
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
    work = POSTGRES_WORK.format(application=APPLICATION)
    with wire_proxy(server.port) as line, psycopg.connect(server.address(), autocommit=True) as monitor:
        options = f"application_name={APPLICATION}"
        client = subject.client(uri=server.url("psycopg", database=database, port=line.port, options=options))

        def count(query):
            return monitor.execute(query).fetchone()[0]

        yield (
            client,
            WireFaults(line, client.engine, lambda: count(work), lambda: count(POSTGRES_WAITS), POSTGRES_POLL_SECONDS),
        )


@contextlib.contextmanager
def mariadb_line(subject):
    server = subject.request.getfixturevalue("mariadb")
    database = urllib.parse.urlsplit(subject.properties["uri"]).path.removeprefix("/")
    with wire_proxy(server.port, MySqlProtocol()) as line, server.connect() as monitor, monitor.cursor() as cursor:

        def count(query):
            cursor.execute(query)
            return cursor.fetchone()[0]

        client = subject.client(uri=server.url(database, port=line.port))
        yield (
            client,
            WireFaults(
                line, client.engine, lambda: count(MARIADB_WORK), lambda: count(MARIADB_WAITS), MARIADB_POLL_SECONDS
            ),
        )


LINES = {
    S3Hadoop: s3_line,
    SqliteOnS3: s3_line,
    Rest: rest_line,
    Glue: glue_line,
    HiveWithLocks: hive_line,
    HiveWithoutLocks: hive_line,
    Postgres: postgres_line,
    MariaDb: mariadb_line,
    AzureHadoop: azure_line,
    GcsHadoop: gcs_line,
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
        reading = subject.client()
        for name in names:
            sweep = Sweep(
                OPERATIONS[name],
                client,
                reading,
                faults,
                warehouse=warehouse_of(subject),
                selection=selection,
                name=f"f{next(NAMESPACES)}x",
            )
            sweep.run()
            record_sweep("requests", subject.name, name, sweep)
            violations += [f"{name}: {text}" for text in sweep.violations]
    assert violations == []
