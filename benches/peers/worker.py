"""One contender in a process of its own: sets up, then works once for each line on standard input.

Speaks JSON lines. `{"ready": true}` after the set-up, then per line one of `{"seconds", "cpu_seconds", "rows"}`;
at the end of input `{"peak_rss_mb"}`, children (a JVM, Python workers) included.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path

import psutil

from peers.cases import CASES

SAMPLE_SECONDS = 0.02


class PeakMemory:
    """The largest resident size of this process and its children, sampled in the background."""

    def __init__(self) -> None:
        self.bytes = 0
        self._process = psutil.Process()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            total = 0
            for process in [self._process, *self._process.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.bytes = max(self.bytes, total)

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.bytes


def cpu_seconds() -> float:
    total = 0.0
    process = psutil.Process()
    for each in [process, *process.children(recursive=True)]:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def main() -> int:
    case, contender, data = CASES[sys.argv[1]], sys.argv[2], Path(sys.argv[3])
    # Spark starts its Python workers with this interpreter, not with whatever the path has.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # What a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**facts: object) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    try:
        work = case.contenders[contender](data)
        reset = getattr(work, "reset", lambda: 0)
        work()
        reset()
    except Exception as error:  # noqa: BLE001  whatever a peer raises belongs into the report
        traceback.print_exc()
        answer(failed=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        return 1
    answer(ready=True)
    memory = PeakMemory()
    for _ in sys.stdin:
        cpu, start = cpu_seconds(), time.perf_counter()
        rows = work()
        answer(seconds=time.perf_counter() - start, cpu_seconds=cpu_seconds() - cpu, rows=rows)
        reset()
    answer(peak_rss_mb=round(memory.stop() / 1e6))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Sessions of peers may hang while they are torn down; everything has been said.
    os._exit(code)
