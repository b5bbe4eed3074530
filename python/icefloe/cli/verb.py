"""The decorators of verbs: options that may stand before and behind the verb, and the rules of changes."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from icefloe.cli.output import FORMATS, ROW_FORMATS
from icefloe.cli.session import Session, has_terminal, pass_session

if TYPE_CHECKING:
    from collections.abc import Callable


def verb(
    name: str, *, returns: Literal["rows", "document", "file"], changes: bool = False
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a verb of a function, whose first argument is the session.

    Args:
        name: The name of the verb.
        returns: What it writes to standard output: rows in any format, one document as text or JSON, or a file of its own.
        changes: Whether it changes something. Such a verb has the options --dry-run and --yes, and is refused before any work if it
            would have to ask a person and there is no terminal.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        @wraps(function)
        def run(session: Session, **arguments: Any) -> Any:
            _check_has_rows(session, has_rows=returns == "rows")
            if changes:
                check_can_ask(dry_run=arguments["dry_run"], yes=arguments["yes"])
            return function(session, **arguments)

        with_options = settings(pass_session(run), has_output=returns != "file")
        return click.command(name)(changing(with_options) if changes else with_options)

    return decorate


def settings(function: Callable[..., Any], *, has_output: bool = True) -> Callable[..., Any]:
    """Add the options that every verb and the command itself accept."""
    output = (
        click.option(
            "-o",
            "--output",
            type=click.Choice(FORMATS),
            expose_value=False,
            callback=_set("format"),
            help="Format of standard output.  [default: text]",
        ),
        click.option(
            "--jsonl", is_flag=True, expose_value=False, callback=_set_jsonl, help="One JSON object for each row."
        ),
    )
    decorators = (
        click.option("-c", "--catalog", expose_value=False, callback=_set("catalog_name"), help="The catalog."),
        *(output if has_output else ()),
        click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set("quiet"), help="No notes."),
        click.option(
            "-v", "--verbose", is_flag=True, expose_value=False, callback=_set("verbose"), help="Tracebacks of errors."
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def catalog_settings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe the catalog."""
    decorators = (
        click.option(
            "--config",
            type=click.Path(path_type=Path, dir_okay=False),
            expose_value=False,
            callback=_set("config"),
            help="A configuration file that takes precedence over the environment, .icefloe.yaml and .pyiceberg.yaml.",
        ),
        click.option(
            "-p",
            "--property",
            multiple=True,
            metavar="KEY=VALUE",
            expose_value=False,
            callback=_set_properties,
            help="A catalog property, such as type=sql.",
        ),
        *(
            click.option(
                f"--{name}", expose_value=False, callback=_set_property(name), help=f"The catalog property {name}."
            )
            for name in ("uri", "warehouse", "credential")
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def changing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a verb that changes something; without a terminal and --yes it is refused before any work."""
    options = (
        click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing."),
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def check_can_ask(*, dry_run: bool, yes: bool, option: str = "--yes", preview: str = "--dry-run") -> None:
    """Raise UsageError if a change needs a confirmation and there is no terminal."""
    if not (dry_run or yes or has_terminal()):
        raise click.UsageError(
            f"there is no terminal to ask on; pass {option} to make the change, or {preview} to see it. Nothing was done"
        )


def _check_has_rows(session: Session, *, has_rows: bool) -> None:
    """Raise UsageError if the format is one of rows and the verb returns a document."""
    if not has_rows and session.format in ROW_FORMATS:
        raise click.UsageError(
            f"this verb returns no rows; expected the output format text or json, got {session.format}"
        )


def key_values(texts: tuple[str, ...], what: str) -> dict[str, str]:
    """Return pairs of the form `key=value` as a dictionary.

    Raises:
        UsageError: A text has no `=`.
    """
    pairs = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if separator == "" or key.strip() == "":
            raise click.UsageError(f"{what}: expected KEY=VALUE, got {text!r}")
        pairs[key.strip()] = value
    return pairs


def _session(context: click.Context) -> Session:
    session = context.ensure_object(Session)
    assert isinstance(session, Session)
    return session


def _set(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:
            setattr(_session(context), name, value)

    return callback


def _set_jsonl(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        _session(context).format = "jsonl"


def _set_property(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None:
            _session(context).properties[name] = value

    return callback


def _set_properties(context: click.Context, _: click.Parameter, value: tuple[str, ...]) -> None:
    _session(context).properties.update(key_values(value, "--property"))
