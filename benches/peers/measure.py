"""Rounds, interleaved: every contender works once per round, so that a slow phase of the machine slows all alike.

The order rotates from round to round: no contender always works after the same one.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peers.case import Case


@dataclass(frozen=True)
class Options:
    """The folders of a case's data and log, its rounds and warm-ups (the case's own for None), whether each round
    starts a new process, which is timed from its start, and the processes that all cases share, by contender."""

    data: Path
    log: Path
    rounds: int
    warm_ups: int | None = None
    fresh: bool = False
    shared: dict[str, Worker] | None = None


@dataclass
class Result:
    """The figures of one contender in one case."""

    contender: str
    seconds: list[float] = field(default_factory=list)
    user_seconds: list[float] = field(default_factory=list)
    system_seconds: list[float] = field(default_factory=list)
    warm_up_seconds: list[float] = field(default_factory=list)
    rows: int = 0
    checksum: str | None = None
    peak_rss_mb: int = 0
    peak_above_baseline_mb: int = 0
    failed: str | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def median_user(self) -> float:
        return statistics.median(self.user_seconds)

    @property
    def median_system(self) -> float:
        return statistics.median(self.system_seconds)

    @property
    def spread(self) -> float:
        """Half the range over the median."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median


class Worker:
    """A process of one contender and the conversation with it."""

    def __init__(self, contender: str, options: Options) -> None:
        self.started = time.perf_counter()
        self._log = options.log.open("a", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "peers.worker", contender, str(options.data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def begin(self, case: Case, warm_ups: int) -> dict[str, Any]:
        """Set a case up and run its warm-ups."""
        return self._send(f"begin {case.name} {warm_ups}")

    def read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def work(self) -> dict[str, Any]:
        return self._send("work")

    def end(self) -> dict[str, Any]:
        """Return the last figures of the case."""
        return self._send("end")

    def _send(self, word: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"failed": "the process ended"}
        return self.read()

    def finish(self) -> None:
        """Wait for the end of the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._log.close()


class Contender:
    """A contender in one process for all rounds, or for all cases: its steady state."""

    def __init__(self, case: Case, name: str, options: Options) -> None:
        self.result = Result(name)
        warm_ups = case.warm_ups_of(name) if options.warm_ups is None else options.warm_ups
        self._is_shared = options.shared is not None
        workers = {} if options.shared is None else options.shared
        self._worker = workers[name] if name in workers else workers.setdefault(name, Worker(name, options))
        first = self._worker.begin(case, warm_ups)
        self.result.failed = first.get("failed")
        self.result.warm_up_seconds = first.get("warm_up_seconds", [])

    def work(self) -> None:
        if self.result.failed is None:
            record(self.result, self._worker.work())

    def finish(self) -> Result:
        if self.result.failed is None:
            record_end(self.result, self._worker.end())
        if not self._is_shared:
            self._worker.finish()
        return self.result


class FreshContender:
    """A contender in a new process for each round, timed from the start of the process."""

    def __init__(self, case: Case, name: str, options: Options) -> None:
        self.result = Result(name)
        self._case, self._options = case, options

    def work(self) -> None:
        if self.result.failed is not None:
            return
        worker = Worker(self.result.contender, self._options)
        facts = worker.begin(self._case, 0)
        if "failed" not in facts:
            facts = worker.work()
            facts |= {
                "seconds": time.perf_counter() - worker.started,
                "user_seconds": facts.get("process_user_seconds"),
            }
        record(self.result, facts)
        if self.result.failed is None:
            record_end(self.result, worker.end())
        worker.finish()

    def finish(self) -> Result:
        return self.result


def record(result: Result, facts: dict[str, Any]) -> None:
    """Add the figures of one round, or its failure."""
    if "failed" in facts:
        result.failed = facts["failed"]
        return
    result.seconds.append(facts["seconds"])
    result.user_seconds.append(facts["user_seconds"])
    result.system_seconds.append(facts["system_seconds"])
    result.rows = facts["rows"]


def record_end(result: Result, facts: dict[str, Any]) -> None:
    """Add the figures of a whole process, or its failure."""
    result.failed = facts.get("failed")
    result.checksum = facts.get("checksum")
    result.peak_rss_mb = max(result.peak_rss_mb, facts.get("peak_rss_mb", 0))
    result.peak_above_baseline_mb = max(result.peak_above_baseline_mb, facts.get("peak_above_baseline_mb", 0))


def measure(case: Case, options: Options, show: Callable[[str], None]) -> list[Result]:
    """Run every contender of a case in turns; `show` gets a line before each step."""
    contenders: list[Contender | FreshContender] = []
    for name in case.contenders:
        show(f"{case.name}: warming up {name}")
        contenders.append((FreshContender if options.fresh else Contender)(case, name, options))
    try:
        for turn in range(min(options.rounds, case.rounds)):
            first = turn % len(contenders)
            for contender in contenders[first:] + contenders[:first]:
                show(f"{case.name}: round {turn + 1}, {contender.result.contender}")
                contender.work()
    finally:
        results = [contender.finish() for contender in contenders]
    return results
