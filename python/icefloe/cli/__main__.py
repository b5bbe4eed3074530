"""The `icefloe` command as `python -m icefloe.cli`."""

from icefloe.cli.entry import main

main()
