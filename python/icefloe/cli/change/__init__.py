"""The verbs that change tables and catalogs."""

import click

from icefloe.cli.change.creation import create
from icefloe.cli.change.files import add_files, append
from icefloe.cli.change.namespaces import create_namespace, drop_namespace
from icefloe.cli.change.properties import properties
from icefloe.cli.change.refs import branch, tag
from icefloe.cli.change.tables import drop, register, rename
from icefloe.cli.change.versions import rollback, upgrade

VERBS: tuple[click.Command, ...] = (
    create,
    drop,
    rename,
    register,
    create_namespace,
    drop_namespace,
    properties,
    branch,
    tag,
    rollback,
    upgrade,
    append,
    add_files,
)
"""The verbs, in the order of the help."""
