"""The verb `doctor`: what is wrong with a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from icefloe.cli.failure import ExitCode
from icefloe.cli.table_argument import table_argument
from icefloe.cli.verb import verb

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table.doctor.storage_checks import FileCheck

files_option = click.option(
    "--files",
    type=click.Choice(["list", "heads"]),
    help="Look for missing and truncated files, by listing directories or by one request for each file.",
)
statistics_option = click.option(
    "--statistics", is_flag=True, help="Compare manifests with the footers of the data files."
)


@verb("doctor", returns="document")
@table_argument
@files_option
@statistics_option
def doctor(session: Session, table: str, files: FileCheck | None, statistics: bool) -> int:
    """Find what is wrong with a table or slow about it, and the commands that mend it.

    The exit code is 10 if there is a warning or an error, else 0.
    """
    diagnosis = session.table(table).doctor(files, statistics)
    session.output.document(diagnosis.as_dict(), diagnosis)
    return ExitCode.DONE if diagnosis.is_healthy else ExitCode.PROBLEMS
