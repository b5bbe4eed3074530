"""A long run of random histories in pieces: python -m tests.simulator.campaign --help.

Each piece of `PIECE` histories appends a line with its figures to a log. A run with the same log skips the pieces that the log has, and ends
with the figures of the whole log, so that a long run may be stopped and continued.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulator.checks import violation_in
from tests.simulator.cores import stay_on_one_core
from tests.simulator.generator import random_history
from tests.simulator.interpreter import run
from tests.simulator.maintained_histories import maintained_history
from tests.simulator.shrink import report
from tests.simulator.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing import SimpleQueue

    from tests.simulator.operations import History

    Piece = tuple[str, int, int]

PIECE = 100
KINDS: dict[str, Callable[[int], History]] = {"writers": random_history, "maintained": maintained_history}
"""The kinds of histories, each with the function that makes a history of a seed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run histories and return the exit code: 1 if a history of the log violates a rule."""
    options = _parser().parse_args(arguments)
    log = Path(options.log)
    pieces = pieces_of(options.kind, options.first, options.histories)
    found = read_log(log)
    open_pieces = [piece for piece in pieces if piece not in {piece_of(line) for line in found}]
    started, done = time.monotonic(), 0
    with log.open("a") as stream:
        for line in _figures(open_pieces, options.workers):
            print(json.dumps(line), file=stream, flush=True)
            found.append(line)
            done += line["histories"]
            rate = done / (time.monotonic() - started)
            print(
                f"{done:,} of {sum(piece[2] for piece in open_pieces):,} histories, {rate:.1f} per second", flush=True
            )
    for violation in (violation for line in found for violation in line["violations"]):
        print(violation)
    print("\n".join(summary(found)))
    return 1 if any(line["violations"] for line in found) else 0


def pieces_of(kind: str, first: int, histories: int) -> list[Piece]:
    """Return the pieces of a run: the kind, the seed of the first history and the number of histories of each."""
    return [(kind, start, min(PIECE, first + histories - start)) for start in range(first, first + histories, PIECE)]


def piece_of(line: dict) -> Piece:
    """Return the piece whose figures a line of a log has."""
    return line["kind"], line["first"], line["histories"]


def read_log(log: Path) -> list[dict]:
    """Return the lines of a log, and remove the last one from the log if a killed run left it incomplete."""
    if not log.exists():
        return []
    complete, _, rest = log.read_bytes().rpartition(b"\n")
    if rest:
        os.truncate(log, len(complete) + 1 if complete else 0)
    return [json.loads(line) for line in complete.splitlines()]


def run_piece(piece: Piece) -> dict:
    """Run a piece and return its figures and the reports of its violations."""
    kind, first, histories = piece
    tally, violations = Tally(first), []
    started = time.process_time()
    for seed in range(first, first + histories):
        history = KINDS[kind](seed)
        try:
            outcome = run(history)
        except Exception:  # noqa: BLE001 - any error of another kind is a violation
            tally.histories += 1
            violations.append(report(history))
            continue
        tally.add(history, outcome)
        if violation_in(history, outcome) is not None:
            violations.append(report(history))
    seconds = round(time.process_time() - started, 1)
    return {"kind": kind, **asdict(tally), "cpu_seconds": seconds, "violations": violations}


def summary(lines: Iterable[dict]) -> list[str]:
    """Return one sentence about the histories of each kind in a log."""
    totals: dict[str, dict[str, float]] = {}
    for line in lines:
        total = totals.setdefault(line["kind"], {})
        for name, value in {**line, "violations": len(line["violations"])}.items():
            if name not in ("kind", "first"):
                total[name] = total.get(name, 0) + value
    return [
        f"{kind}: {total['histories']:,} histories, {total['transactions']:,} transactions, {total['committed']:,} committed, "
        f"{total['unknown']:,} with an unknown outcome, {total['faults']:,} faults, {total['violations']:,} violations, "
        f"{1000 * total['cpu_seconds'] / total['histories']:.1f} CPU ms for each history"
        for kind, total in sorted(totals.items())
    ]


def _figures(pieces: Sequence[Piece], workers: int) -> Iterator[dict]:
    """Run pieces and yield the figures of each as soon as it ends."""
    if workers == 1:
        yield from map(run_piece, pieces)
        return
    context = multiprocessing.get_context("spawn")
    numbers = context.SimpleQueue()
    for number in range(workers):
        numbers.put(number)
    with context.Pool(workers, _take_a_core, (numbers,)) as pool:
        yield from pool.imap_unordered(run_piece, pieces)


def _take_a_core(numbers: SimpleQueue[int]) -> None:
    stay_on_one_core(numbers.get())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator.campaign", description=__doc__)
    parser.add_argument("--kind", choices=list(KINDS), default="writers", help="kind of the histories")
    parser.add_argument("--first", type=int, required=True, help="seed of the first history")
    parser.add_argument("--histories", type=int, required=True, help="number of histories")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count(), help="number of processes")
    parser.add_argument("--log", required=True, help="file for the figures of the pieces")
    return parser


if __name__ == "__main__":
    sys.exit(main())
