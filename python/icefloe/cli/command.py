"""The command: its group of verbs, and one run of it."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

import icefloe
from icefloe.cli import change, completion, look, maintain
from icefloe.cli.failure import ExitCode, report
from icefloe.cli.session import Session
from icefloe.cli.verb import catalog_settings, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS = {"Look": look.VERBS, "Change": change.VERBS, "Maintain": maintain.VERBS, "Shell": completion.VERBS}
"""The verbs, in the order of the help."""


ALIASES = {"info": "describe"}
"""Other names of verbs."""


class VerbGroup(click.Group):
    """The command, whose help lists the verbs in sections."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb by its name or another name of it."""
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb. A closed pipe is not a failure: its reader needs no more output."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes standard output once more when it exits.
            with Path(os.devnull).open("w") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            return ExitCode.DONE
        return code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs of each section with their summaries."""
        width = max(len(one.name or "") for verbs in SECTIONS.values() for one in verbs)
        for title, verbs in SECTIONS.items():
            if not verbs:
                continue
            with formatter.section(title):
                formatter.write_dl([((one.name or "").ljust(width), _summary(one)) for one in verbs])


def _summary(verb: click.Command) -> str:
    """Return the first paragraph of a verb's help in one line."""
    return " ".join((verb.help or "").split("\n\n")[0].split())


@click.group(
    "icefloe", cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(icefloe.__version__, prog_name="icefloe")
@catalog_settings
@settings
@click.pass_context
def command(context: click.Context) -> None:
    """Look at Apache Iceberg tables, change them and maintain them.

    TABLE is a name such as db.events in the catalog, or, to read only, the directory or the metadata file of a table. Catalogs are configured
    in .icefloe.yaml, .pyiceberg.yaml and by environment variables such as ICEFLOE_CATALOG__LAKE__URI.
    """
    session = context.ensure_object(Session)
    context.call_on_close(session.close)


for _verbs in SECTIONS.values():
    for _verb in _verbs:
        command.add_command(_verb)


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code. Results go to standard output, everything else to standard error.

    Args:
        arguments: The arguments behind the name of the command.
    """
    session = Session()
    if sys.stdout is None:
        # The parent process closed standard output: results have no reader.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names in a table may have characters that the encoding of the terminal or pipe lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = command.main(list(arguments), prog_name="icefloe", standalone_mode=False, obj=session)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - every error becomes an exit code
        if session.verbose and not isinstance(error, click.ClickException):
            traceback.print_exc()
        return report(error, as_json=_wants_json(session, arguments))
    return code if isinstance(code, int) else ExitCode.DONE


def _wants_json(session: Session, arguments: Sequence[str]) -> bool:
    """Return whether errors are reported as JSON, also if the arguments could not be parsed."""
    if session.format != "text":
        return session.format in ("json", "jsonl")
    text = " ".join(arguments)
    return any(option in text for option in ("-o json", "-ojson", "--output json", "--output=json", "--jsonl"))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"{click.style('warning:', fg='yellow')} {message}", err=True)
