"""Changes with a lost reply succeed or raise `CommitStateUnknownException`, and delete no file."""

import contextlib

import pytest
from icefloe.exceptions import CommitStateUnknownException

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, SCHEMA, ids

pytestmark = pytest.mark.needs(Capability.LOST_REPLIES)


@pytest.fixture
def losing(subject, namespace_name):
    """A client with a namespace, and a function that makes the next change lose its reply."""
    with subject.losing_replies() as (client, lose):
        client.create_namespace(namespace_name)
        yield client, lose


def run(change):
    """Run a change that takes effect and loses its reply."""
    with contextlib.suppress(CommitStateUnknownException):
        change()


def test_append_is_there_once(losing, namespace_name):
    client, lose = losing
    table = client.create_table((*namespace_name, "t"), SCHEMA)
    for _ in range(3):
        lose()
        run(lambda: table.append(MORE))
        table.refresh()
    loaded = client.load_table((*namespace_name, "t"))
    assert ids(loaded) == [4, 4, 4]
    loaded.append(MORE)
    assert ids(client.load_table((*namespace_name, "t"))) == [4, 4, 4, 4]


def test_created_table_is_there(losing, namespace_name):
    client, lose = losing
    lose()
    run(lambda: client.create_table((*namespace_name, "t"), SCHEMA))
    table = client.load_table((*namespace_name, "t"))
    table.append(MORE)
    assert ids(client.load_table((*namespace_name, "t"))) == [4]


@pytest.mark.needs(Capability.RENAME)
def test_renamed_table_has_its_new_name(losing, namespace_name):
    client, lose = losing
    client.create_table((*namespace_name, "t"), SCHEMA).append(MORE)
    lose()
    run(lambda: client.rename_table((*namespace_name, "t"), (*namespace_name, "u")))
    assert client.list_tables(namespace_name) == [(*namespace_name, "u")]
    assert ids(client.load_table((*namespace_name, "u"))) == [4]


def test_dropped_table_is_gone(losing, namespace_name):
    client, lose = losing
    client.create_table((*namespace_name, "t"), SCHEMA).append(MORE)
    lose()
    run(lambda: client.drop_table((*namespace_name, "t")))
    assert client.list_tables(namespace_name) == []
    client.create_table((*namespace_name, "t"), SCHEMA).append(MORE)
    assert ids(client.load_table((*namespace_name, "t"))) == [4]
