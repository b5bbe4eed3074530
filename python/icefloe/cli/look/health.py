"""The verbs `doctor` and `report`: findings about a table, and a page of its state."""

from __future__ import annotations

from pathlib import Path
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
    """Find the problems of a table, with the commands that fix them.

    The exit code is 10 if there is a warning or an error, else 0.
    """
    diagnosis = session.table(table).doctor(files, statistics)
    session.output.document(diagnosis.as_dict(), diagnosis)
    return ExitCode.DONE if diagnosis.is_healthy else ExitCode.PROBLEMS


@verb("report", returns="file")
@table_argument
@click.option(
    "-o",
    "--output",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page to write.  [default: standard output]",
)
@files_option
@statistics_option
@click.option("--orphans", is_flag=True, help="List the table's directories for files that nothing refers to.")
def report(
    session: Session, table: str, page: Path | None, files: FileCheck | None, statistics: bool, orphans: bool
) -> None:
    """Write a page about the state of a table: one HTML file, which needs no network."""
    from icefloe.report import report_page

    text = report_page(session.table(table), files=files, statistics=statistics, orphans=orphans)
    if page is None:
        click.echo(text, nl=False)
        return
    page.write_text(text, encoding="utf-8")
    session.note(f"wrote {page}, {len(text.encode()):,} bytes")
