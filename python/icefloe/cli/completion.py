"""The verb that prints the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

VARIABLE = "_ICEFLOE_COMPLETE"
"""The environment variable by which the shell's script runs the command for completion."""


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell: eval "$(icefloe completion bash)"."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "icefloe", VARIABLE).source())


VERBS: tuple[click.Command, ...] = (completion,)
