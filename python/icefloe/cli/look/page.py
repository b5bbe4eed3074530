"""The verb `report`: a page about the state of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from icefloe.cli.look.health import files_option, statistics_option
from icefloe.cli.table_argument import table_argument
from icefloe.cli.verb import verb

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table.doctor.storage_checks import FileCheck


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
def report(session: Session, table: str, page: Path | None, files: FileCheck | None, statistics: bool) -> None:
    """Write a page about the state of a table: one HTML file, which needs no network."""
    from icefloe.report import report_page

    text = report_page(session.table(table), files=files, statistics=statistics)
    if page is None:
        click.echo(text, nl=False)
        return
    page.write_text(text, encoding="utf-8")
    session.note(f"wrote {page}, {len(text.encode()):,} bytes")
