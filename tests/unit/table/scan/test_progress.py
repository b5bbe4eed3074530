import io
import sys
from contextlib import redirect_stderr

import pyarrow as pa
import pytest
from icefloe.table.scan import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, and reads that exceed the quiet time."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


def batches(count=3):
    for _ in range(count):
        yield pa.record_batch({"x": [1, 2]})


def rows(show, stderr):
    with redirect_stderr(stderr):
        return sum(batch.num_rows for batch in progress.with_progress_bar(batches(), 6, show=show))


def test_progress_draws_a_bar_with_progress_true(terminal):
    assert rows(True, terminal) == 6
    assert "reading" in terminal.getvalue()
    assert "6/6" in terminal.getvalue()


@pytest.mark.parametrize("show", [False, None])
def test_progress_draws_no_bar_for_programs(terminal, monkeypatch, show):
    monkeypatch.delattr(sys, "ps1", raising=False)
    assert rows(show, terminal) == 6
    assert terminal.getvalue() == ""


def test_progress_draws_a_bar_in_interactive_sessions(terminal, monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert rows(None, terminal) == 6
    assert "reading" in terminal.getvalue()


def test_progress_draws_no_bar_without_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    file = io.StringIO()
    assert rows(True, file) == 6
    assert file.getvalue() == ""


def test_progress_draws_no_bar_for_a_short_read(terminal, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 1000.0)
    assert rows(True, terminal) == 6
    assert terminal.getvalue() == ""


def test_scans_accept_progress(terminal, new_table):
    scan = new_table().scan()
    with redirect_stderr(terminal):
        assert scan.to_arrow(progress=True).num_rows == 6
        assert len(scan.to_pandas(progress=True)) == 6
    assert "rows" in terminal.getvalue()
