"""The verbs that look at tables and change nothing."""

import click

from icefloe.cli.look.description import describe
from icefloe.cli.look.difference import diff
from icefloe.cli.look.health import doctor, report
from icefloe.cli.look.listing import list_names
from icefloe.cli.look.metadata_tables import files, inspect, manifests, partitions
from icefloe.cli.look.rows import explain, scan
from icefloe.cli.look.schemas import schema, spec
from icefloe.cli.look.versions import history, refs, snapshots

VERBS: tuple[click.Command, ...] = (
    list_names,
    describe,
    schema,
    spec,
    snapshots,
    refs,
    history,
    files,
    manifests,
    partitions,
    inspect,
    scan,
    explain,
    diff,
    doctor,
    report,
)
"""The verbs, in the order of the help."""
