"""The scopes whose interleavings are explored: a small part by default, all of them with `--all-interleavings`; and the core of a worker."""

import os

import pytest

from tests.simulator.cores import leave_core, stay_on_one_core
from tests.simulator.test_interleavings import ALL, FAULTS, ISOLATIONS, PAIRS, SMALL


@pytest.fixture(scope="package", autouse=True)
def core_of_worker():
    before = stay_on_one_core(int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")))
    yield
    leave_core(before)


def pytest_generate_tests(metafunc):
    if "scope_kinds" in metafunc.fixturenames:
        metafunc.parametrize("scope_kinds", PAIRS, ids=map(_name, PAIRS))
    if "faulty_scope" in metafunc.fixturenames:
        everything = [(kinds, ISOLATIONS, FAULTS, (0, 1)) for kinds in ALL]
        scopes = everything if metafunc.config.getoption("--all-interleavings") else [SMALL]
        metafunc.parametrize("faulty_scope", scopes, ids=[_name(scope[0]) for scope in scopes])


def _name(kinds):
    first, second = kinds
    return "+".join(first) + " and " + "+".join(second)
