"""The words of the code: terms that only this project's authors would understand appear in no name, comment or message."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "icefloe"
RUST = sorted(ROOT.glob("rust/*/src/**/*.rs"))
STUBS = sorted(PACKAGE.rglob("*.pyi"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# Words for which reference documentation has a noun or a verb of the field: report, record, query, outcome, remaining.
PRIVATE = re.compile(
    r"\b(told|settled|asked|so many|those that|whoever|nobody|somebody|what is left|what became of|takes? for granted"
    r"|in the making|meanwhile)\b",
    re.IGNORECASE,
)
SPOKEN = {tokenize.COMMENT, tokenize.STRING, tokenize.NAME} | (
    {tokenize.FSTRING_MIDDLE} if hasattr(tokenize, "FSTRING_MIDDLE") else set()
)


def phrases(path: Path) -> list[str]:
    """Return the comments, texts and names of a module with underscores and line breaks as spaces."""
    with path.open("rb") as source:
        tokens = [token.string for token in tokenize.tokenize(source.readline) if token.type in SPOKEN]
    return [" ".join(text.replace("_", " ").split()) for text in tokens]


@pytest.mark.parametrize("name", sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")))
def test_module_has_no_private_words(name: str) -> None:
    found = [match.group() for text in phrases(PACKAGE / name) for match in PRIVATE.finditer(text)]
    assert found == []


@pytest.mark.parametrize("path", [*RUST, *STUBS, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_text_has_no_private_words(path: Path) -> None:
    text = re.sub(r"\n\s*(?:///|//!|//|#)?\s*", " ", path.read_text(encoding="utf-8")).replace("_", " ")
    assert [match.group() for match in PRIVATE.finditer(text)] == []
