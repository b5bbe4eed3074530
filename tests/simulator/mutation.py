"""A deliberate bug in one function: its source changed, and the function replaced by the change."""

from __future__ import annotations

import inspect
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tests.simulator.prepared import forget_prepared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulator.operations import History


@dataclass(frozen=True)
class Mutant:
    """A change of one function's source.

    Attributes:
        function: The module and the qualified name of the function, separated by a colon.
        old: Text in the function's source.
        new: The text that replaces it.
        found_by: The test that finds the mutant: None for random histories; a history with its schedule, or else its interleavings; or the
            catalog and the operation of a case of `tests/faults/test_every_call.py`.
        first_seed: The seed that random histories begin at: of the first one that finds the mutant, since earlier ones cost time alone.
    """

    function: str
    old: str
    new: str
    found_by: History | tuple[str, str] | None = None
    first_seed: int = 0


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Replace a function by its mutant until the block ends."""
    function = inspect.unwrap(_function(mutant.function))
    source = textwrap.dedent(inspect.getsource(function))
    assert mutant.old in source, f"{mutant.function}: the mutant's text is no longer in the source; adapt it"
    names: dict[str, Any] = {}
    changed = "from __future__ import annotations\n" + source.replace(mutant.old, mutant.new)
    exec(compile(changed, "<mutant>", "exec"), dict(function.__globals__), names)
    forget_prepared()
    real, function.__code__ = function.__code__, inspect.unwrap(names[function.__name__]).__code__
    try:
        yield
    finally:
        function.__code__ = real
        forget_prepared()


def _function(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found
