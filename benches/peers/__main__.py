"""Run the comparison: `python -m peers [--case NAME] [--rounds N]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from icefloe import _core
from rich.console import Console

from peers import report
from peers.cases import CASES
from peers.measure import Options, Worker, measure


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        help="only this case, or the cases whose names begin with NAME_; may be repeated",
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds per case, interleaved (default 5)")
    parser.add_argument("--warm-ups", type=int, help="runs before the timed ones, instead of each case's own number")
    parser.add_argument("--fresh", action="store_true", help="a new process for every round, timed from its start")
    parser.add_argument(
        "--shared", action="store_true", help="one process for each contender over all cases, whose JVM stays warm"
    )
    parser.add_argument("--data", type=Path, default=Path(".bench/data"), help="where generated data is kept")
    parser.add_argument("--json", type=Path, default=Path(".bench/results.json"), help="where the figures go")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    return parser.parse_args()


def selected(names: list[str]) -> list[str]:
    """Return the cases of these names, or whose names begin with one of them and `_`; all cases if there are no names."""
    for name in names:
        if not any(case == name or case.startswith(f"{name}_") for case in CASES):
            sys.exit(f"--case {name}: unknown; expected one of {', '.join(sorted(CASES))}")
    return [case for case in CASES if not names or any(case == name or case.startswith(f"{name}_") for name in names)]


def main() -> int:
    options = arguments()
    console = Console(width=None if sys.stdout.isatty() else 120)
    if options.list:
        for case in CASES.values():
            console.print(f"[bold]{case.name:24}[/] {case.what}")
        return 0
    if _core.build_profile() != "release":
        console.print(
            f"[red]icefloe: built with profile {_core.build_profile()}; expected release.[/] "
            "`make bench-peers` builds and installs the release wheel."
        )
        return 2
    failures, documents = [], []
    shared: dict[str, Worker] | None = {} if options.shared else None
    for name in selected(options.case):
        case = CASES[name]
        with console.status(f"{name}: preparing data") as status:
            case.prepare(options.data.absolute())
            log = options.json.parent / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.unlink(missing_ok=True)
            how = Options(options.data.absolute(), log, options.rounds, options.warm_ups, options.fresh, shared)
            results = measure(case, how, status.update)
        report.show(console, case, results)
        documents.append(report.as_json(case, results))
        report.write(options.json, documents)
        failures += [f"{name}: {r.contender} failed: {r.failed} (see {log})" for r in results if r.failed is not None]
        if (wrong := report.disagreement(case, results)) is not None:
            failures.append(wrong)
    for worker in (shared or {}).values():
        worker.finish()
    console.print(f"figures: {options.json}")
    for failure in failures:
        console.print(f"[red]{failure}[/]")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
