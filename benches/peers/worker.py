"""A contender in a process of its own: does what each line of standard input says, and answers each with a line of JSON.

`begin CASE WARM_UPS` sets a case up and warms it up: `{"warm_up_seconds"}`. `work` works once: `{"seconds", "user_seconds",
"system_seconds", "rows", "process_user_seconds"}`. `end` ends the case: `{"peak_rss_mb", "peak_above_baseline_mb", "checksum"}`. A
failure is `{"failed"}`. Children (a JVM, Python workers) are included. The baseline is the resident memory after the set-up and
before the first work. The checksum is of the work's outcome, or else of one more run, neither timed nor measured.
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

from peers.case import Case
from peers.cases import CASES
from peers.outcome import checksum, row_count

SAMPLE_SECONDS = 0.01
# Listing children reads all of /proc; they are few and live long.
SAMPLES_PER_LISTING = 25


class PeakMemory:
    """The largest resident size of this process and its children while it works: the system's own mark, and samples.

    A process that waits for others to work takes no samples, which would slow them down.
    """

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._marked = marked_peak()
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
            if samples % SAMPLES_PER_LISTING == 0:
                family = self._family()
            self.bytes = max(self.bytes, self._resident(family))

    def figures(self) -> dict[str, int]:
        """Return the peak, and the peak above the baseline, in MB."""
        # Samples miss short peaks; the system's mark does not, but leaves out children.
        peak = max(self.bytes, marked) if (marked := marked_peak()) > self._marked else self.bytes
        return {"peak_rss_mb": round(peak / 1e6), "peak_above_baseline_mb": round((peak - self.baseline) / 1e6)}


def marked_peak() -> int:
    """Return the largest resident size of this process alone in all its life, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def cpu_seconds() -> tuple[float, float]:
    """Return the user and the system CPU seconds of this process and its children so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    user, system = own.ru_utime, own.ru_stime
    for each in psutil.Process().children(recursive=True):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        user, system = user + times.user, system + times.system
    return user, system


class Run:
    """The work of one case, from its set-up to its last figures."""

    def __init__(self, case: Case, contender: str, data: Path) -> None:
        self._case = case
        self._work = case.contenders[contender](data)
        self._reset = getattr(self._work, "reset", lambda: None)
        self._memory = PeakMemory()

    def warm_up(self, count: int) -> dict[str, object]:
        seconds = []
        for _ in range(count):
            with self._memory:
                start = time.perf_counter()
                self._work()
                seconds.append(time.perf_counter() - start)
            self._reset()
        return {"warm_up_seconds": seconds}

    def work(self) -> dict[str, object]:
        with self._memory:
            (user, system), start = cpu_seconds(), time.perf_counter()
            # The rows are freed in the timed part.
            rows = row_count(self._work())
            seconds = time.perf_counter() - start
            all_user, all_system = cpu_seconds()
        self._reset()
        used = {"user_seconds": all_user - user, "system_seconds": all_system - system}
        return {"seconds": seconds, "rows": rows, "process_user_seconds": all_user, **used}

    def end(self) -> dict[str, object]:
        figures = self._memory.figures()
        if not self._case.same_rows:
            return figures
        outcome = getattr(self._work, "outcome", self._work)
        return {**figures, "checksum": checksum(outcome())}


def main() -> int:
    contender, data = sys.argv[1], Path(sys.argv[2])
    # Spark starts its Python workers with this interpreter, not with the first one of the path.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Libraries that print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**facts: object) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    run = None
    for line in sys.stdin:
        word, *rest = line.split()
        try:
            if word == "begin":
                run = None
                run = Run(CASES[rest[0]], contender, data)
                answer(**run.warm_up(int(rest[1])))
            else:
                answer(**(run.work() if word == "work" else run.end()))
        except Exception as error:  # noqa: BLE001  any failure of a peer belongs into the report
            traceback.print_exc()
            answer(failed=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Sessions of peers may hang while they are torn down.
    os._exit(code)
