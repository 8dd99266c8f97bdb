"""What the pages name exists: paths, Python names with their arguments, commands with their options, links.

Only what stands in backticks is read; fenced blocks are run by test_examples.py. Oracles: the files of the project, the
import system, and the command line itself.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections import defaultdict
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "torseur"
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "CHANGELOG.md",
    *sorted((PROJECT / "docs").rglob("*.md")),
    *sorted(PACKAGE.rglob("*.md")),
]
SOURCE = "py|pyi|md|js|css|html|lark|h|ts"
PATH = re.compile(rf"(?P<folder>(?:[\w.*-]+/)+)(?P<file>[\w.*-]+\.\w+)?|[\w.-]+\.(?:{SOURCE})")
DOTTED = re.compile(r"(?:ts|torseur)(?:\.\w+)+(?:\(.*\))?")
ATTRIBUTE = re.compile(r"(?P<owner>[A-Z]\w*[a-z]\w*)\.(?P<name>\w+)(?:\(.*\))?")
OPTION = re.compile(r"--[a-z][\w-]*")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\bN{2,}|NAME|FUNCTION")
# Letters in capitals and X_BA stand for whatever the reader has; README.md, CHANGELOG.md and their like are files.
CAPITAL_FILES = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}


def text_of(page: Path) -> str:
    """The page without its fenced blocks; of the changelog, the newest version."""
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":
        text = "".join(re.split(r"^(?=## )", text, flags=re.MULTILINE)[:2])
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(page: Path) -> list[str]:
    """What stands in backticks, on one line each."""
    return [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text_of(page))]


def missing_paths(page: Path) -> list[str]:
    """Paths of the project that lead nowhere: from its root, from the package, from a storey of it or from the page."""
    bases = [PROJECT, PROJECT / "src", PACKAGE, page.parent, *(p for p in PACKAGE.iterdir() if p.is_dir())]
    faults = []
    for span in spans(page):
        place = span.removeprefix("python ")
        if not PATH.fullmatch(place) or (PLACEHOLDER.search(place) and Path(place).name not in CAPITAL_FILES):
            continue
        if not any([*base.glob(place)] if "*" in place else (base / place).exists() for base in bases):
            faults.append(span)
    return faults


def unknown_names(page: Path) -> list[str]:
    """Names of the package that cannot be imported, and arguments that their functions do not take."""
    faults = []
    for span in spans(page):
        name = span.partition("(")[0]
        if not DOTTED.fullmatch(span):
            continue
        try:
            value = resolved(name)
        except (ImportError, AttributeError):
            faults.append(span)
            continue
        if "(" in span and not accepts(value, span):
            faults.append(f"{span}: it takes {inspect.signature(value)}")
    return faults


def resolved(name: str) -> Any:
    """The module, class, function or value of a dotted name."""
    first, *rest = name.split(".")
    where, value = "torseur", import_module("torseur")
    assert first in ("ts", "torseur")
    for part in rest:
        where = f"{where}.{part}"
        if first == "torseur" and inspect.ismodule(value) and hasattr(value, "__path__") and find_spec(where):
            value = import_module(where)
        else:
            value = getattr(value, part)
    return value


def accepts(value: Any, call: str) -> bool:
    """Whether a function can be called with so many arguments and with keywords of these names."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    if any(isinstance(argument, ast.Constant) and argument.value is ... for argument in node.args):
        return True
    try:
        inspect.signature(value).bind_partial(*node.args, **{word.arg: None for word in node.keywords if word.arg})
    except TypeError:
        return False
    return True


@cache
def classes() -> dict[str, set[str]]:
    """The names that the classes of the package define, by the class; those of classes of one name together."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] |= {name for inside in ast.walk(node) for name in defined(inside)}
    return found


def defined(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name)):
            return [name]
        case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
            return [name]
    return []


def unknown_attributes(page: Path) -> list[str]:
    """`Class.name` where the package has the class, but nothing of that name in it."""
    matches = [ATTRIBUTE.fullmatch(span) for span in spans(page)]
    return [m[0] for m in matches if m and m["owner"] in classes() and m["name"] not in classes()[m["owner"]]]


@cache
def commands() -> dict[str, set[str]]:
    """The options of every command, and under "" those of the program itself."""
    import typer

    from torseur.cli.app import app

    group: Any = typer.main.get_command(app)
    known = {name: options(command) for name, command in group.commands.items()}
    return known | {"": options(group)}


def options(command: Any) -> set[str]:
    return {"--help"} | {word for parameter in command.params for word in (*parameter.opts, *parameter.secondary_opts)}


@cache
def other_options() -> set[str]:
    """Options of the suite and of the programs beside the package, as their sources spell them."""
    places = [PROJECT / "tests" / "conftest.py", *(PROJECT / "benchmarks").rglob("*.py"), *PROJECT.glob("tools/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in places]
    return {word for text in texts for word in re.findall(r'(?:addoption|add_argument)\(\s*"(--[\w-]+)"', text)}


def unknown_commands(page: Path) -> list[str]:
    """Commands that do not exist, and options that theirs, or any command, does not have."""
    everywhere = set().union(*commands().values()) | other_options()
    faults = []
    for span in spans(page):
        if span.startswith("--"):
            faults += [f"{span}: no {word}" for word in OPTION.findall(span) if word not in everywhere]
        elif span.startswith("torseur "):
            faults += command_faults(span)
        elif (target := re.fullmatch(r"make ([\w-]+)", span)) and not is_target(target[1]):
            faults.append(f"{span}: no such target")
    return faults


def command_faults(span: str) -> list[str]:
    words = shlex.split(span)[1:]
    name = "" if words[0].startswith("-") or words[0].isupper() else words[0]
    if name not in commands():
        return [f"{span}: no such command"]
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [f"{span}: no {word}" for word in given if word not in commands()[name]]


def is_target(name: str) -> bool:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE) is not None


def broken_links(page: Path) -> list[str]:
    """Links to files that do not exist, or to headings that their page does not have."""
    faults = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, heading = target.partition("#")
        there = page.parent / path if path else page
        if not there.exists() or (heading and heading not in headings(there)):
            faults.append(target)
    return faults


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


RULES = [missing_paths, unknown_names, unknown_attributes, unknown_commands, broken_links]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_page_names_what_exists(page, rule):
    assert rule(page) == []


def test_comments_point_to_decisions_that_exist():
    places = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".js", ".c", ".h")]
    named = {(p, word) for p in places for word in re.findall(r"docs/[\w/-]+\.md", p.read_text(encoding="utf-8"))}
    assert len(named) > 50
    assert [f"{p}: {word}" for p, word in named if not (PROJECT / word).exists()] == []


def test_every_decision_is_listed():
    folder = PROJECT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in folder.glob("0*.md") if f"]({p.name})" not in index] == []


def test_code_points_to_every_decision_that_holds():
    folder = PROJECT / "docs" / "decisions"
    places = [*PACKAGE.rglob("*"), *(PROJECT / "tools").rglob("*.py"), PROJECT / "tests" / "test_architecture.py"]
    sources = "".join(p.read_text(encoding="utf-8") for p in places if p.suffix in (".py", ".js"))
    valid = [p for p in sorted(folder.glob("0*.md")) if " · accepted · " in p.read_text(encoding="utf-8")]
    assert [p.name for p in valid if f"docs/decisions/{p.name}" not in sources] == []


def navigation() -> list[str]:
    text = (PROJECT / "tools" / "site" / "pages" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def test_every_page_has_one_place_in_the_navigation():
    """Pages of a folder with a README belong to it."""
    pages = [
        p for p in (PROJECT / "docs").rglob("*.md") if not (p.parent / "README.md").exists() or p.name == "README.md"
    ]
    wanted = [str(p.relative_to(PROJECT).with_suffix("")) for p in pages]
    listed = [entry for entry in navigation() if entry.startswith("docs/")]
    assert sorted(listed) == sorted(wanted), "a new page has a line in tools/site/pages/index.md"


BAD = {
    "file": (missing_paths, "`src/torseur/grap.py`"),
    "file of the package": (missing_paths, "`dynamics/no_such_algorithm.py`"),
    "folder": (missing_paths, "`no_such_room/`"),
    "file beside the page": (missing_paths, "`no_such_file.py`"),
    "pattern": (missing_paths, "`docs/no_such_page_*.md`"),
    "module": (unknown_names, "`torseur.algebra.graph.no_such_module`"),
    "public name": (unknown_names, "`ts.derivee`"),
    "keyword": (unknown_names, "`ts.simulate(equations, untill=10)`"),
    "over two lines": (unknown_names, "`ts.simulate(equations,\nuntill=10)`"),
    "attribute": (unknown_attributes, "`Equations.mass_matrice`"),
    "command": (unknown_commands, "`torseur simulat`"),
    "option of a command": (unknown_commands, "`torseur simulate --level matrix`"),
    "option": (unknown_commands, "`--smaples 10`"),
    "target": (unknown_commands, "`make coffee`"),
    "link": (broken_links, "[a page](no_such_page.md)"),
    "heading": (broken_links, "[here](#no-such-heading)"),
}
GOOD = (
    "`src/torseur/__init__.py`, `algebra/graph/expr.py`, `docs/design.md`, `NAME.h`, `docs/decisions/NNNN-title.md`, `+ - * /`, "
    "`torseur.algebra.graph.scalar`, `ts.simulate(equations, until=10)`, `ts.derive(...)`, `Equations.bias`, `q/2`, `torseur`, "
    "`torseur simulate --until 10`, `torseur COMMAND --help`, `--until`, `make test`, `arm.lsd`, `sqrt(3)`, "
    "[what](#good), [a site](https://example.org)\n\n# Good\n\n```sh\ntorseur `nothing`\n```\n"
)


@pytest.mark.parametrize("case", BAD)
def test_a_fault_is_caught(case, tmp_path):
    rule, text = BAD[case]
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert len(rule(page)) == 1


@pytest.mark.parametrize("rule", RULES)
def test_no_fault_is_invented(rule, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(GOOD, encoding="utf-8")
    assert rule(page) == []
