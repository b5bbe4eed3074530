"""One contender in a process of its own: sets up, then works once for each line on standard input.

Speaks JSON lines. `{"warm_up_seconds"}` after the set-up and the warm-ups, then per line one of
`{"seconds", "cpu_seconds", "rows"}`; at the end of input `{"peak_rss_mb", "peak_above_baseline_mb"}`, children (a JVM,
Python workers) included. The baseline is what is resident once a contender is set up and has not worked yet.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
import traceback
from pathlib import Path

import psutil

from peers.cases import CASES

SAMPLE_SECONDS = 0.01
# Looking for children reads all of /proc; they are few and live long.
SAMPLES_PER_LOOK = 25


class PeakMemory:
    """The largest resident size of this process and its children while it works: what the system noted, and samples.

    Who waits for others to work takes no samples, for that would slow them down.
    """

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._noted = noted_peak()
        self.baseline = self.bytes = self._resident(self._family())

    def __enter__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, args=(self._family(),), daemon=True)
        self._thread.start()

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _family(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def _resident(self, processes: list[psutil.Process]) -> int:
        total = 0
        for process in processes:
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total

    def _sample(self, family: list[psutil.Process]) -> None:
        samples = 0
        while not self._stop.wait(SAMPLE_SECONDS):
            samples += 1
            if samples % SAMPLES_PER_LOOK == 0:
                family = self._family()
            self.bytes = max(self.bytes, self._resident(family))

    def figures(self) -> dict[str, int]:
        """The peak, and what it is above the start, in MB."""
        # Samples miss short peaks; the system's own mark, where it rose, does not, but knows nothing of children.
        peak = max(self.bytes, noted) if (noted := noted_peak()) > self._noted else self.bytes
        return {"peak_rss_mb": round(peak / 1e6), "peak_above_baseline_mb": round((peak - self.baseline) / 1e6)}


def noted_peak() -> int:
    """The largest resident size of this process alone in all its life."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


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
    case, contender, data, warm_ups = CASES[sys.argv[1]], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
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
        memory = PeakMemory()
        warm_up_seconds = []
        for _ in range(warm_ups):
            with memory:
                start = time.perf_counter()
                work()
                warm_up_seconds.append(time.perf_counter() - start)
            reset()
    except Exception as error:  # noqa: BLE001  whatever a peer raises belongs into the report
        traceback.print_exc()
        answer(failed=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        return 1
    answer(warm_up_seconds=warm_up_seconds)
    for _ in sys.stdin:
        with memory:
            cpu, start = cpu_seconds(), time.perf_counter()
            rows = work()
            seconds = time.perf_counter() - start
            cpu = cpu_seconds() - cpu
        answer(seconds=seconds, cpu_seconds=cpu, rows=rows)
        reset()
    answer(**memory.figures())
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Sessions of peers may hang while they are torn down; everything has been said.
    os._exit(code)
