"""Processes under strace, which records system calls, makes them fail or kills the process at them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.forks import forked

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace, which is for Linux alone")

# System calls that change files or directories. A question mark makes strace ignore calls that the architecture lacks.
CHANGES = "?mkdir,mkdirat,?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,?rmdir,fsync"


@dataclass(frozen=True)
class Call:
    """A recorded system call: its name, its paths, and whether it succeeded."""

    name: str
    paths: tuple[str, ...]
    succeeded: bool


def run(code: str, *strace_options: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run Python code in a separate process under strace. The return code of a killed process is the negative signal number."""
    with forked(code, arguments) as (process, output, errors, status):
        command = ["strace", "-f", "-qq", "-o", "/dev/null", *strace_options, "-p", process]
        subprocess.run(command, check=False, timeout=300)
        return subprocess.CompletedProcess(command, int(status.readline()), output.read_text(), errors.read_text())


def calls(code: str, names: str, trace: Path, arguments: tuple[str, ...] = ()) -> list[Call]:
    """Run Python code, and return the named system calls of all threads in the order of their completion."""
    done = run(code, "-y", "-s", "4096", "-e", f"trace={names}", "-o", str(trace), arguments=arguments)
    assert done.returncode == 0, done.stderr
    found, begun = [], {}
    for line in trace.read_text().splitlines():
        thread, text = line.split(maxsplit=1)
        if text.endswith("<unfinished ...>"):
            begun[thread] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<..."):
            text = begun.pop(thread) + text.split("resumed>", 1)[1]
        match = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", text)
        if match is not None:
            name, given, answer = match.groups()
            paths = tuple(re.findall(r'"([^"]*)"|<([^<>]*)>', given))
            found.append(Call(name, tuple(quoted or opened for quoted, opened in paths), int(answer) >= 0))
    return found
