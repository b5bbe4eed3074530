"""The text of values that are shown as trees of the rich library."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.tree import Tree

_WIDTH = 160


class TreeDisplay(ABC):
    """A value that prints as a tree: in colours on a terminal, and as plain text elsewhere."""

    @abstractmethod
    def tree(self) -> Tree:
        """Return the value as a tree of the rich library."""

    def __rich__(self) -> Tree:
        return self.tree()

    def __str__(self) -> str:
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=_WIDTH, color_system=None).print(self.tree())
        return out.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        return str(self)
