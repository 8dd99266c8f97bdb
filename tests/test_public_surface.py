"""One public surface: what pages and programs import is public. Its signatures are in tests/golden."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

import torseur

PROJECT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")), *sorted((PROJECT / "examples").glob("*.py"))]
FOLDERS = [name for name in torseur.__all__ if isinstance(getattr(torseur, name), ModuleType)]


def programs(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return FENCE.findall(text) if page.suffix == ".md" else [text]


def imported(code: str) -> list[str]:
    """The dotted names that a program imports."""
    names = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def internal(name: str) -> bool:
    """Whether a name is of this package but neither `torseur`, `torseur.NAME` nor `torseur.FOLDER`."""
    first, *rest = name.split(".")
    return first == "torseur" and not (rest == [] or (len(rest) == 1 and rest[0] in (*torseur.__all__, "studio")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_and_examples_import_public_names_only(page):
    assert [name for code in programs(page) for name in imported(code) if internal(name)] == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from torseur.presentation.report.compose.make_report import report", 1),
        ("import torseur.derivation.loops", 1),
        ("from torseur.analysis import biomechanics", 1),
        ("import torseur as ts\nfrom torseur import library, simulate\nimport numpy as np", 0),
    ],
)
def test_an_import_of_something_internal_is_caught(code, names):
    assert len([name for name in imported(code) if internal(name)]) == names


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_public_folder_lists_its_names(folder):
    module = getattr(torseur, folder)
    assert module.__doc__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
