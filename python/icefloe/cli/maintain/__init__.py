"""The verbs that maintain tables."""

import click

from icefloe.cli.maintain.analysis import analyze
from icefloe.cli.maintain.copying import rewrite_path
from icefloe.cli.maintain.deleting import expire, orphans
from icefloe.cli.maintain.importing import migrate, snapshot
from icefloe.cli.maintain.policy import maintain
from icefloe.cli.maintain.rewriting import compact, rewrite_deletes, rewrite_manifests

VERBS: tuple[click.Command, ...] = (
    compact,
    rewrite_deletes,
    rewrite_manifests,
    expire,
    orphans,
    analyze,
    rewrite_path,
    snapshot,
    migrate,
    maintain,
)
"""The verbs, in the order of the help."""
