"""Options of the whole suite."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.faults import report
from tests.faults.selection import Selection
from tests.simulator import tally

# The same examples at every run and on every machine, however long one takes; `--hypothesis-profile=explore` draws others.
settings.register_profile("repeat", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeat")

LONGEST_FIRST = ("test_documentation.py", "spark", "catalogs", "interop", "simulator", "faults", "property", "storage")
"""Directories and files that take longest: parallel workers begin with them, so that none is left alone at the end."""

HISTORIES = 100
"""Histories of one test case: enough of them that the share of commits means something."""


def pytest_configure():
    """Hear interrupts also where a shell started the run in the background, whose processes and their children ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--random-tables", type=int, default=24, help="how many random tables are checked against a model")
    parser.addoption("--row-programs", type=int, default=16, help="how many random merges are compared with DuckDB")
    parser.addoption(
        "--histories", type=int, default=250, help="how many histories of concurrent writers are simulated"
    )
    parser.addoption("--first-history", type=int, default=0, help="seed of the first history")
    parser.addoption("--new-histories", type=int, default=0, help="how many histories of the day are simulated as well")
    parser.addoption(
        "--day", type=int, default=0, help="the number that the histories of the day begin at, in 100,000s"
    )
    parser.addoption("--mutants", type=int, default=1000, help="how many mistakes in the commit code are looked for")
    parser.addoption("--all-interleavings", action="store_true", help="explore two writers with every mode and crash")
    parser.addoption("--race-processes", type=int, default=4, help="how many processes append to each catalog at once")
    parser.addoption("--race-commits", type=int, default=8, help="how many commits each of these processes makes")
    parser.addoption("--fault-share", type=int, default=16, help="cause one of this many faults of a sweep; 1 for all")
    parser.addoption("--first-fault", type=int, default=0, help="number of the first fault of a sweep")
    parser.addoption("--fault-catalog", help="cause faults in this catalog alone, named as in the table of the sweeps")
    parser.addoption("--fault-report", help="file for the table of all sweeps of faults, by catalog and operation")
    parser.addoption("--stream-kills", type=int, default=2, help="how often streaming queries are killed")
    parser.addoption("--first-stream-kill", type=int, default=0, help="seed of the moments of these kills")
    parser.addoption("--all-kills", action="store_true", help="kill the driver of every Spark operation in every phase")
    parser.addoption("--moment-kills", type=int, default=1, help="how many such drivers are killed at random moments")
    parser.addoption("--java-programs", type=int, default=2, help="how many random SQL programs are compared with Java")
    parser.addoption("--first-java-program", type=int, default=0, help="seed of the first of these programs")
    parser.addoption("--all-cuts", action="store_true", help="cut connections to PostgreSQL at every message")


def pytest_generate_tests(metafunc):
    if "table_seed" in metafunc.fixturenames:
        start = metafunc.config.getoption("--first-history")
        count = metafunc.config.getoption("--random-tables")
        metafunc.parametrize("table_seed", range(start, start + count))
    if "row_program_seed" in metafunc.fixturenames:
        start = metafunc.config.getoption("--first-history")
        count = metafunc.config.getoption("--row-programs")
        metafunc.parametrize("row_program_seed", range(start, start + count))
    if "java_program_seed" in metafunc.fixturenames:
        start = metafunc.config.getoption("--first-java-program")
        count = metafunc.config.getoption("--java-programs")
        metafunc.parametrize("java_program_seed", range(start, start + count))
    if "mutant_names" in metafunc.fixturenames:
        from tests.simulator.mutants import MUTANTS

        names = list(MUTANTS)[: metafunc.config.getoption("--mutants")]
        metafunc.parametrize("mutant_names", [names[start::4] for start in range(4) if names[start::4]])
    for name in ("history_seeds", "maintained_seeds"):
        if name in metafunc.fixturenames:
            chunks = _history_seeds(metafunc.config, whole=name == "history_seeds")
            metafunc.parametrize(name, chunks, ids=[f"{chunk.start}-{chunk.stop - 1}" for chunk in chunks])


def _history_seeds(config, *, whole):
    """Return the seeds of histories in chunks; of histories with maintenance, which take longer, half as many."""
    first, day = config.getoption("--first-history"), 100_000 * config.getoption("--day")
    share = 1 if whole else 2
    fixed = range(first, first + -(-config.getoption("--histories") // share))
    new = range(day, day + -(-config.getoption("--new-histories") // share))
    return [seeds[start : start + HISTORIES] for seeds in (fixed, new) for start in range(0, len(seeds), HISTORIES)]


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--fault-catalog")
    if wanted is not None:
        catalogs = {item: _swept_catalog(item) for item in items}
        if wanted not in catalogs.values():
            names = ", ".join(sorted({name for name in catalogs.values() if name is not None}))
            raise pytest.UsageError(f"--fault-catalog: no sweep of {wanted!r} among the tests; expected one of {names}")
        config.hook.pytest_deselected(items=[item for item in items if catalogs[item] != wanted])
        items[:] = [item for item in items if catalogs[item] == wanted]
    if hasattr(config, "workerinput"):
        tests = Path(__file__).parent
        order = {name: number for number, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: order.get(item.path.relative_to(tests).parts[0], len(order)))


def _swept_catalog(item):
    """Return the name of the catalog that a test sweeps, None for a test of one mutant and for other tests."""
    if "record_sweep" not in item.fixturenames and "sweep_disk" not in item.fixturenames:
        return None
    catalogs = [
        item.callspec.params[name] for name in ("subject", "catalog_kind", "kind") if name in item.callspec.params
    ]
    return getattr(catalogs[0], "name", catalogs[0]) if catalogs else None


@pytest.fixture
def selection(request):
    """The share of the faults of a sweep that this run causes."""
    return Selection(request.config.getoption("--fault-share"), request.config.getoption("--first-fault"))


@pytest.fixture
def record_sweep(record_property):
    """A function that records the figures of a sweep for the table at the end of the run."""
    return lambda *sweep: record_property(report.PROPERTY, report.figures(*sweep))


def pytest_terminal_summary(terminalreporter, config):
    """Write the table of the sweeps of faults and the count of the simulated histories."""
    histories = _properties(terminalreporter, tally.PROPERTY)
    if histories:
        failed = [
            one for one in terminalreporter.stats.get("failed", []) if dict(one.user_properties).get(tally.PROPERTY)
        ]
        terminalreporter.section("histories")
        terminalreporter.write_line(tally.summary(histories, len(failed)))
    sweeps = [json.loads(value) for value in _properties(terminalreporter, report.PROPERTY)]
    if not sweeps:
        return
    terminalreporter.section(f"faults, one of {config.getoption('--fault-share')}")
    terminalreporter.write_line("\n".join(report.table(sweeps)))
    if config.getoption("--fault-report") is not None:
        Path(config.getoption("--fault-report")).write_text("\n".join(report.table(sweeps, by_operation=True)) + "\n")


def _properties(terminalreporter, wanted):
    """Return the values of a property that tests recorded, of failed tests as well."""
    reports = [one for outcome in ("passed", "failed") for one in terminalreporter.stats.get(outcome, [])]
    return [value for one in reports for name, value in one.user_properties if name == wanted]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Report a skip as a failure under REQUIRE_ALL=1: continuous integration has every server that tests look for."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("REQUIRE_ALL") == "1":
        report.outcome, report.longrepr = "failed", f"skipped under REQUIRE_ALL=1: {report.longrepr[-1]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Report a skipped module as an error under REQUIRE_ALL=1."""
    report = yield
    if report.skipped and os.environ.get("REQUIRE_ALL") == "1":
        report.outcome, report.longrepr = "failed", f"skipped under REQUIRE_ALL=1: {report.longrepr[-1]}"
    return report
