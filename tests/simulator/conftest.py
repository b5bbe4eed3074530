"""The scopes whose interleavings are explored: a small part by default, all of them with `--all-interleavings`."""

from tests.simulator.test_interleavings import ALL, FAULTS, ISOLATIONS, PAIRS, SMALL


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
