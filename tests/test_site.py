"""The documentation site: its references cover what there is. That pages are in its navigation, test_docs_names.py says.

The site itself is built by `make docs`, where a warning is an error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
TOOLS = PROJECT / "tools" / "site"


@pytest.fixture
def site_tools(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    yield
    for name in ("api_reference", "command_reference", "grammar_diagrams"):
        sys.modules.pop(name, None)


def test_commands_are_all_in_their_reference(site_tools):
    from command_reference import command_page

    from torseur.cli.app import COMMANDS

    page = command_page()
    assert [c.__name__ for c in COMMANDS if f"\n## {c.__name__}\n" not in page] == []
    assert "`--until T`" in page and "`--rtol`" in page


@pytest.mark.slow
def test_public_names_are_all_in_their_reference(site_tools):
    """Oracle: the stub file, which type checkers read."""
    from api_reference import api_pages

    import torseur

    text = "".join(api_pages().values())
    stub = (PROJECT / "src" / "torseur" / "__init__.pyi").read_text(encoding="utf-8")
    names = set(re.findall(r" as (\w+)", stub)) - {
        n for n in torseur.__all__ if hasattr(getattr(torseur, n), "__path__")
    }
    assert [n for n in sorted(names) if not re.search(rf"\{{py:\w+\}} {n}\b", text)] == []


def test_every_public_name_has_an_example_in_its_reference(site_tools):
    """In a page whose programs the tests run; what needs a GPU or another framework is shown only."""
    from api_reference import example_of, public_folders, public_values, twin

    names = [name for name, _ in public_values()]
    folders = public_folders()
    twins = [n for n in names if "." in n and twin(folders[n.partition(".")[0]], n.partition(".")[2])]
    found = {name: example_of(name) for name in names if name not in twins}
    assert [name for name, use in found.items() if use is None] == []
    shown = {name for name, use in found.items() if not use[1].is_run}
    assert shown == {"OptimalMotion", "Rollouts", "rollout", "casadi_function", "jax_function", "torch_function"}


def test_grammar_rules_are_all_drawn(site_tools):
    pytest.importorskip("railroad", reason="railroad-diagrams comes with the extra docs")
    from grammar_diagrams import GRAMMAR, grammar_page

    page = grammar_page()
    rules = re.findall(r"^[!?]*([a-z_]+):", GRAMMAR.read_text(encoding="utf-8"), re.MULTILINE)
    assert [rule for rule in rules if f"### {rule}\n" not in page] == []
