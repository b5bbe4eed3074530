"""Options of the whole suite."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same examples at every run and on every machine, however long one takes; `--hypothesis-profile=explore` draws others.
settings.register_profile("repeat", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeat")


def pytest_addoption(parser):
    parser.addoption("--random-tables", type=int, default=24, help="how many random tables are checked against a model")


def pytest_generate_tests(metafunc):
    if "table_seed" in metafunc.fixturenames:
        metafunc.parametrize("table_seed", range(metafunc.config.getoption("--random-tables")))
