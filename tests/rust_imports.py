"""Imports between the files of a Rust crate, read from its `use` declarations and paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]


def import_graph(source: Path) -> dict[Module, set[Module]]:
    """Each module of a crate that has a file, and the modules that it imports from. A name that a module re-exports
    counts as imported from the module that defines it; test modules are left out."""
    modules = {module_of(path.relative_to(source)): path for path in source.rglob("*.rs") if path.stem != "tests"}
    imported: dict[Module, list[Module]] = {}
    exported: dict[Module, dict[str, Module]] = {}
    for module, path in modules.items():
        paths = list(absolute_paths(module, code(path), set(modules)))
        imported[module] = [names for exported_name, names in paths if not exported_name]
        exported[module] = {exported_name: names for exported_name, names in paths if exported_name}

    def home(names: Module) -> Module:
        module = max((known for known in modules if names[: len(known)] == known), key=len)
        name = names[len(module)] if len(names) > len(module) else ""
        origin = exported[module].get(name, names)
        return module if origin == names else home(origin)

    return {module: {home(names) for names in paths} - {module} for module, paths in imported.items()}


def module_of(path: Path) -> Module:
    parts = path.with_suffix("").parts
    if parts == ("lib",):
        return ()
    return parts[:-1] if parts[-1] == "mod" else parts


def code(path: Path) -> str:
    """A file without comments and inline modules."""
    text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    return re.sub(r"^(?:pub(?:\([^)]*\))? )?mod \w+ \{.*?^\}", "", text, flags=re.MULTILINE | re.DOTALL)


def absolute_paths(module: Module, text: str, modules: set[Module]) -> Iterator[tuple[str, Module]]:
    """The paths of a module's code from the crate's root, each with the name it is re-exported by or an empty text."""
    declarations = re.findall(r"^(pub(?:\([^)]*\))? )?use ([^;]+);", text, re.MULTILINE)
    paths = [(bool(public), leaf) for public, tree in declarations for leaf in leaves(" ".join(tree.split()))]
    rest = re.sub(r"\buse [^;]+;", "", text)
    paths += [(False, path) for path in re.findall(r"\b(?:crate|super|self)(?:::\w+)+", rest)]
    for public, leaf in paths:
        path, _, alias = leaf.partition(" as ")
        first, *names = path.split("::")
        room = module
        while first == "super":
            room, (first, *names) = room[:-1], names
        if first == "crate":
            room = ()
        elif (*room, first) in modules or room != module:
            names = [first, *names]
        elif first != "self":
            continue
        yield (alias or names[-1]) if public else "", (*room, *names)


def leaves(tree: str) -> Iterator[str]:
    """The paths of a `use` tree, with their aliases: `a::b` and `a::c as d` of `a::{b, c as d}`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tree.strip()
        return
    depth, branch = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        if character == "," and depth == 0:
            yield from (head.strip() + path for path in leaves(branch.strip()) if branch.strip())
            branch = ""
            continue
        depth += {"{": 1, "}": -1}.get(character, 0)
        branch += character
