"""The `icefloe` command, also as `python -m icefloe.cli`; this module loads no other before it is called."""

from __future__ import annotations

import sys

NEEDS_CLICK = (
    "icefloe: the command needs the package click, which is not installed; install it with: pip install 'icefloe[cli]'"
)


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code.

    Exit codes: 0 done, or nothing to do; 1 failed; 2 wrong usage; 3 not found; 4 conflict with another writer, safe to retry; 5 outcome
    unknown; 6 partly done; 10 problems found by `doctor`; 130 interrupted.
    """
    try:
        from icefloe.cli.command import run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write(f"{NEEDS_CLICK}\n")
        sys.exit(1)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
