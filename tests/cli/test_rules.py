"""The rules of every verb: exit codes, questions, the two outputs, configuration."""

import json
import os
import re
import signal
import subprocess
import sys

import pexpect
import pyarrow as pa
import pytest
from icefloe.cli.command import run
from icefloe.cli.failure import exit_code
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException
from icefloe.table.scan.progress import is_interactive

CHANGES = [
    ("create", "db.n", "--schema", "id long"),
    ("drop", "db.t"),
    ("rename", "db.t", "db.u"),
    ("create-namespace", "n"),
    ("drop-namespace", "db"),
    ("properties", "set", "db.t", "a=1"),
    ("properties", "unset", "db.t", "a"),
    ("branch", "create", "db.t", "b"),
    ("branch", "drop", "db.t", "b"),
    ("branch", "fast-forward", "db.t", "b", "main"),
    ("tag", "create", "db.t", "b"),
    ("tag", "drop", "db.t", "b"),
    ("rollback", "db.t", "7d"),
    ("upgrade", "db.t"),
    ("append", "db.t", "gone.parquet"),
    ("add-files", "db.t", "gone.parquet"),
]


@pytest.mark.parametrize("arguments", CHANGES, ids=lambda arguments: "-".join(arguments[:2]))
def test_change_without_terminal_and_yes_is_refused_before_any_work(icefloe, monkeypatch, arguments):
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__URI", "sqlite:////no/such/directory/catalog.db")
    done = icefloe(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert "there is no terminal to ask on; pass --yes" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("describe", "db.none"), 3, "NotFoundError"),
        (("files", "db.none"), 3, "NoSuchTableError"),
        (("list", "none"), 3, "NoSuchNamespaceError"),
        (("files", "db.t", "--at", "123"), 3, "NotFoundError"),
        (("scan", "db.t", "--at", "nightly"), 3, "NotFoundError"),
        (("scan", "db.t", "--where", "nope = 1"), 1, "ResolveError"),
        (("nonsense",), 2, "UsageError"),
        (("files",), 2, "UsageError"),
        (("drop", "/some/directory", "--yes"), 2, "UsageError"),
        (("--catalog", "unknown", "list"), 1, "ValidationError"),
        (("--config", "none.yaml", "list"), 1, "ValidationError"),
        (("compact", "db.t", "--branch", "none", "--yes"), 3, "NotFoundError"),
        (("rewrite-manifests", "db.t", "--branch", "none", "--yes"), 3, "NotFoundError"),
        (("rewrite-deletes", "db.t", "--equality", "--branch", "none", "--yes"), 3, "NotFoundError"),
        (("expire", "db.t", "--snapshot-id", "1", "--yes"), 3, "NotFoundError"),
        (("expire", "", "--yes"), 3, "NoSuchTableError"),
        (("maintain", "db.t", "--plan", "--run"), 2, "UsageError"),
        (("inspect", "db.t", "files", "--columns", "readable_metrics.none"), 2, "UsageError"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_errors_are_json_on_standard_error_with_an_exit_code(icefloe, table, arguments, code, kind):
    done = icefloe(*arguments, "-o", "json")
    assert (done.code, done.out) == (code, b"")
    assert done.error()["type"] == kind
    text = icefloe(*arguments)
    assert text.code == code
    assert text.err.startswith("error: ")
    assert "Traceback" not in text.err


def test_outcomes_of_commits_have_exit_codes_of_their_own():
    assert exit_code(CommitFailedException("")) == 4
    assert exit_code(ValidationException("")) == 4
    assert exit_code(CommitStateUnknownException("")) == 5
    assert exit_code(KeyboardInterrupt()) == 130
    assert exit_code(RuntimeError("")) == 1


@pytest.mark.parametrize("name", ["describe", "explain", "doctor"])
def test_verbs_of_documents_refuse_formats_of_rows(icefloe, table, name):
    done = icefloe(name, "db.t", "-o", "csv")
    assert (done.code, done.out) == (2, b"")


def test_quiet_leaves_notes_out(icefloe, table):
    first = table.snapshots()[0].snapshot_id
    assert icefloe("diff", "db.t", first).err != ""
    assert icefloe("diff", "db.t", first, "-q").err == ""


@pytest.mark.parametrize("target", ["db.t", "db.none"])
def test_a_change_leaves_reads_of_its_process_without_bars(icefloe, table, target):
    before = is_interactive()
    icefloe("compact", target, "--rewrite-all", "-y")
    assert is_interactive() == before


def test_verbose_shows_the_traceback(icefloe, table):
    assert "Traceback" in icefloe("-v", "files", "db.none").err


def test_configuration_file_replaces_environment_and_home(icefloe, lake, table, tmp_path, monkeypatch):
    for name in ("URI", "WAREHOUSE", "TYPE"):
        monkeypatch.delenv(f"ICEFLOE_CATALOG__LAKE__{name}")
    path = tmp_path / "own.yaml"
    path.write_text(f"default-catalog: other\ncatalog:\n  other:\n    type: hadoop\n    warehouse: {tmp_path}/plain\n")
    assert icefloe("--config", path, "create-namespace", "here", "-y").code == 0
    assert icefloe("--config", path, "list").text.split() == ["type", "name", "namespace", "here"]
    properties = ("-p", "type=hadoop", "--warehouse", tmp_path / "plain", "-c", "any")
    assert icefloe(*properties, "list").text.split() == ["type", "name", "namespace", "here"]


def test_declining_changes_nothing_on_a_terminal(lake, table, tmp_path):
    with terminal("drop", "db.t", cwd=tmp_path) as child:
        child.expect_exact("Drop table db.t (6 rows, 2 data files, ")
        child.expect_exact("Go ahead? [y/N]: ")
        child.sendline("n")
        child.expect_exact("Nothing was changed.")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 1
    assert lake.table_exists("db.t")


def test_agreeing_makes_the_change_on_a_terminal(lake, table, tmp_path):
    with terminal("drop", "db.t", cwd=tmp_path) as child:
        child.expect_exact("Go ahead? [y/N]: ")
        child.sendline("y")
        child.expect_exact("Dropped table db.t.")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
    assert not lake.table_exists("db.t")


def test_interrupt_at_the_question_exits_with_130(lake, table, tmp_path):
    with terminal("drop", "db.t", cwd=tmp_path) as child:
        child.expect_exact("Go ahead? [y/N]: ")
        child.sendintr()
        child.expect_exact("interrupted")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130
    assert lake.table_exists("db.t")


def test_terminal_has_colours_and_a_pipe_has_none(lake, table, tmp_path, process):
    for start in range(4):
        table.append(pa.table({"id": [start], "kind": ["a"]}))
    with terminal("doctor", "db.t", cwd=tmp_path) as child:
        child.expect(pexpect.EOF)
        assert "\x1b[" in child.before
        assert "small-files" in child.before
    with terminal("doctor", "db.t", cwd=tmp_path, NO_COLOR="1") as child:
        child.expect(pexpect.EOF)
        assert "\x1b[3" not in child.before
    done = process("doctor", "db.t")
    assert (done.code, "\x1b" in done.text) == (10, False)


def test_terminal_shows_the_first_rows_of_a_long_table(lake, tmp_path):
    made = lake.create_table("db.long", pa.schema([("id", pa.int64())]))
    made.append(pa.table({"id": range(300)}))
    with terminal("scan", "db.long", cwd=tmp_path) as child:
        child.expect_exact("at most 100 rows are shown; --limit 0 shows all")
        child.expect(pexpect.EOF)


@pytest.mark.parametrize("columns", [40, 80])
def test_narrow_terminal_shows_a_line_for_each_value(lake, table, tmp_path, columns):
    with terminal("snapshots", "db.t", cwd=tmp_path, NO_COLOR="1", COLUMNS=str(columns)) as child:
        child.expect(pexpect.EOF)
    lines = [line.split() for line in re.sub(r"\x1b\[[0-9;]*m", "", child.before).splitlines()]
    for snapshot in table.snapshots():
        assert ["snapshot", "id", str(snapshot.snapshot_id)] in lines
    assert ["total", "rows", "6"] in lines


def test_table_that_just_fits_the_terminal_has_whole_ids(lake, table, tmp_path):
    with terminal("refs", "db.t", cwd=tmp_path, NO_COLOR="1", COLUMNS="80") as child:
        child.expect(pexpect.EOF)
    lines = [line.split() for line in re.sub(r"\x1b\[[0-9;]*m", "", child.before).splitlines()]
    assert ["main", "BRANCH", str(table.current_snapshot().snapshot_id), "-", "-", "-"] in lines


def test_interrupt_of_a_run_exits_with_130(lake, table, tmp_path):
    code = (
        "import sys, time\nfrom icefloe.cli import command\nfrom icefloe.table.table import Table\n"
        "def scan(*_, **__):\n    print('scanning', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
        "Table.scan = scan\nsys.exit(command.run(['scan', 'db.t']))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stderr.readline() == b"scanning\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
    assert (child.returncode, out) == (130, b"")
    assert b"error: interrupted" in err
    assert b"Traceback" not in err


def test_reader_that_closes_the_pipe_is_no_error(lake, tmp_path):
    made = lake.create_table("db.long", pa.schema([("id", pa.int64())]))
    made.append(pa.table({"id": range(200_000)}))
    command = f"{sys.executable} -m icefloe.cli scan db.long --jsonl | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ['{"id": 0}', "0"]
    assert done.stderr == ""


def test_output_in_a_narrow_encoding_escapes_text_and_keeps_json_in_utf_8(lake, process):
    lake.create_table("db.été", pa.schema([("id", pa.int64())]))
    text = process("describe", "db.été", PYTHONIOENCODING="ascii")
    assert (text.code, r"db.\xe9t\xe9" in text.text) == (0, True)
    done = process("describe", "db.été", "-o", "json", PYTHONIOENCODING="ascii")
    assert done.json("describe")["table"] == "db.été"
    failed = process("describe", "db.hôte", "-o", "json", PYTHONIOENCODING="ascii")
    assert "db.hôte" in failed.error()["message"]


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_closed_standard_stream_is_no_error(table, monkeypatch, stream):
    monkeypatch.setattr(sys, stream, None)
    assert run(["list", "-o", "json"]) == 0
    assert run(["expire", "db.t"]) == 2
    assert run(["expire", "db.t", "--yes"]) == 0


def test_shell_completes_verbs_and_table_names(process, table):
    def complete(words, position):
        environment = {"_ICEFLOE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(position)}
        return process(**environment).text.split()

    assert "plain,snapshots" in complete("icefloe snap", 1)
    assert complete("icefloe files db", 2) == ["plain,db."]
    assert complete("icefloe files db.", 2) == ["plain,db.t"]
    assert "_icefloe_completion" in process("completion", "bash").text


def test_command_without_click_says_what_to_install(process, tmp_path):
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError(\"No module named 'click'\", name='click')")
    done = process("list", PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert (done.code, done.text) == (1, "")
    assert done.err == (
        "icefloe: the command needs the package click, which is not installed; install it with: pip install 'icefloe[cli]'\n"
    )


def test_help_lists_every_verb_in_sections(icefloe):
    text = icefloe("--help").text
    assert [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")][1:3] == [
        "Look:",
        "Change:",
    ]
    assert json.loads(icefloe("list", "-o", "json").text)["catalog"] == "lake"


class terminal:  # noqa: N801 - reads as a function
    """The command in a terminal of its own, 120 columns wide."""

    def __init__(self, *arguments, cwd, **environment):
        self._arguments, self._cwd, self._environment = arguments, cwd, environment

    def __enter__(self):
        environment = {**os.environ, "TERM": "xterm-256color", **self._environment}
        if "NO_COLOR" not in self._environment:
            environment.pop("NO_COLOR", None)
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "icefloe.cli", *self._arguments],
            cwd=str(self._cwd),
            env=environment,
            encoding="utf-8",
            timeout=300,
            dimensions=(40, 120),
        )
        return self.child

    def __exit__(self, *_):
        self.child.close(force=True)
