"""The scopes whose interleavings are explored: a small part by default, all of them with `--all-interleavings`."""

from tests.simulator.test_interleavings import ALL, PAIRS


def pytest_generate_tests(metafunc):
    chosen = metafunc.config.getoption("--all-interleavings")
    for name, scopes in (("scope_kinds", PAIRS), ("faulty_scope_kinds", ALL if chosen else [])):
        if name in metafunc.fixturenames:
            ids = ["+".join(first) + " and " + "+".join(second) for first, second in scopes]
            metafunc.parametrize(name, scopes, ids=ids)
