"""Rounds, interleaved: every contender works once per round, so that a slow phase of the machine hits all alike."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peers.case import Case


@dataclass(frozen=True)
class Options:
    """Where a case finds its data and leaves its log, and how often it runs; `None` warm-ups are the case's own."""

    data: Path
    log: Path
    rounds: int
    warm_ups: int | None = None


@dataclass
class Result:
    """What one contender needed for one case."""

    contender: str
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    warm_up_seconds: list[float] = field(default_factory=list)
    rows: int = 0
    peak_rss_mb: int = 0
    peak_above_baseline_mb: int = 0
    failed: str | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the range over the median: how far a run strayed."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median


class Contender:
    """A worker process and the conversation with it."""

    def __init__(self, case: Case, name: str, options: Options) -> None:
        self.result = Result(name)
        self._log = options.log.open("a", encoding="utf-8")
        warm_ups = case.warm_ups_of(name) if options.warm_ups is None else options.warm_ups
        self._process = subprocess.Popen(
            [sys.executable, "-m", "peers.worker", case.name, name, str(options.data), str(warm_ups)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        first = self._read()
        self.result.failed = first.get("failed")
        self.result.warm_up_seconds = first.get("warm_up_seconds", [])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def work(self) -> None:
        if self.result.failed is not None:
            return
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        facts = self._read()
        if "failed" in facts:
            self.result.failed = facts["failed"]
            return
        self.result.seconds.append(facts["seconds"])
        self.result.cpu_seconds.append(facts["cpu_seconds"])
        self.result.rows = facts["rows"]

    def finish(self) -> Result:
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self.result.failed is None:
            facts = self._read()
            self.result.peak_rss_mb = facts.get("peak_rss_mb", 0)
            self.result.peak_above_baseline_mb = facts.get("peak_above_baseline_mb", 0)
        self._process.wait(timeout=60)
        self._log.close()
        return self.result


def measure(case: Case, options: Options, say: Callable[[str], None]) -> list[Result]:
    """Run every contender of a case in turn, as many rounds as it takes and was asked for."""
    contenders = []
    for name in case.contenders:
        say(f"{case.name}: warming up {name}")
        contenders.append(Contender(case, name, options))
    try:
        for turn in range(min(options.rounds, case.rounds)):
            for contender in contenders:
                say(f"{case.name}: round {turn + 1}, {contender.result.contender}")
                contender.work()
    finally:
        results = [contender.finish() for contender in contenders]
    return results
