"""The combinations of modes, isolation levels and faults whose interleavings are explored."""

import itertools

import pytest

MODES = ("merge-on-read", "copy-on-write")
ISOLATIONS = ("serializable", "snapshot")


@pytest.fixture
def interleaving_scopes(request):
    """Return the modes, isolation levels and faults to combine: all of them with `--all-interleavings`."""
    if request.config.getoption("--all-interleavings"):
        return lambda faults: itertools.product(MODES, ISOLATIONS, faults)
    return lambda faults: [(MODES[0], ISOLATIONS[0], faults[0])]
