"""Options of the whole suite."""

from __future__ import annotations


def pytest_addoption(parser):
    parser.addoption("--random-tables", type=int, default=24, help="how many random tables are checked against a model")


def pytest_generate_tests(metafunc):
    if "table_seed" in metafunc.fixturenames:
        metafunc.parametrize("table_seed", range(metafunc.config.getoption("--random-tables")))
