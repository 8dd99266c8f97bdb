"""The Python reference: every public name with its signature, its docstring, and a statement of a page that is run."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torseur

PROJECT = Path(__file__).resolve().parents[2]
# Indented lines are shown and not run: what they need is not in the environment of the tests.
SHOWN = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INTRODUCTION = """# Python reference

`import torseur as ts` gives every name below. Names that most programs need are `ts.NAME`; those of one subject
stand in a folder, `ts.FOLDER.NAME`. Anything else is internal and may change without notice
([what is public, and for how long](../docs/public_surface.md)).

"""
# Title of a page and the rooms whose names it holds.
PAGES = {
    "api_expressions": ("Expressions", ("torseur.algebra",)),
    "api_description": ("Describing mechanisms", ("torseur.description",)),
    "api_equations": ("Equations, formalisms and loops", ("torseur.derivation",)),
    "api_motion": ("Code, motions and small motions", ("torseur.computation",)),
    "api_analysis": ("Sensitivity, identification, robots and studies", ("torseur.analysis",)),
    "api_presentation": ("Equations on paper, pictures and reports", ("torseur.presentation",)),
    "api_errors": ("Errors", ("torseur.errors",)),
}


@dataclass(frozen=True)
class Use:
    """A statement that uses a name, the page or program it stands in, and whether the tests run it."""

    code: str
    page: Path
    is_run: bool = True


def public_folders() -> dict[str, ModuleType]:
    names = (name for name in torseur.__all__ if isinstance(getattr(torseur, name), ModuleType))
    return {name: getattr(torseur, name) for name in names}


def api_pages() -> dict[str, str]:
    origins = torseur._NAMES  # the stub, read: public name -> (module, name there)
    pages = {}
    for page, (title, rooms) in PAGES.items():
        names = sorted((n for n, (module, _) in origins.items() if module.startswith(rooms)), key=str.lower)
        names = [n for n in names if n not in public_folders()]
        pages[page] = f"# {title}\n\n" + "".join(entry("torseur", name, getattr(torseur, name)) for name in names)
    for folder, module in public_folders().items():
        summary = first_line(inspect.getdoc(module))
        own = [n for n in sorted(module.__all__, key=str.lower) if twin(module, n) is None]
        twins = [twin(module, n) for n in sorted(module.__all__, key=str.lower) if n not in own]
        entries = "".join(entry(f"torseur.{folder}", n, getattr(module, n)) for n in own)
        also = f"Also names of `torseur` itself: {', '.join(map(reference, filter(None, twins)))}.\n\n" if twins else ""
        pages[f"api_{folder}"] = f"# torseur.{folder}\n\n{escaped(summary)}\n\n{also}{entries}"
    toctree = "\n".join([*PAGES, *(f"api_{folder}" for folder in public_folders())])
    pages["api"] = f"{INTRODUCTION}```{{toctree}}\n:maxdepth: 1\n\n{toctree}\n```\n\n{overview()}"
    return pages


def twin(module: ModuleType, name: str) -> str | None:
    """The name of `torseur` itself under which the same thing is public."""
    value = unwrapped(getattr(module, name))
    return (
        next((n for n in torseur.__all__ if unwrapped(getattr(torseur, n)) is value), None) if callable(value) else None
    )


def unwrapped(value: Any) -> Any:
    """The function itself: public ones explain their arguments in a wrapper around it."""
    return inspect.unwrap(value) if callable(value) else value


def reference(name: str) -> str:
    return f"{{py:obj}}`ts.{name} <torseur.{name}>`"


def overview() -> str:
    """All names of `torseur` itself, with their first lines."""
    rows = []
    for title, rooms in PAGES.values():
        rows.append(f"\n## {title}\n\n| name | what it is |\n| --- | --- |\n")
        for name, (module, _) in sorted(torseur._NAMES.items(), key=lambda item: item[0].lower()):
            if module.startswith(rooms) and name not in public_folders():
                rows.append(f"| {reference(name)} | {escaped(summary_of(getattr(torseur, name)))} |\n")
    return "".join(rows)


def summary_of(value: Any) -> str:
    return first_line(inspect.getdoc(value)) if callable(value) else f"a value: {type(value).__name__}"


def first_line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def entry(owner: str, name: str, value: Any) -> str:
    """The directive of a function, class or value."""
    if inspect.isclass(value):
        body = [document(value), example(owner, name), *(member(value, n) for n in public_members(value))]
        return directive("class", f"{name}{signature(value)}", owner, body, depth=4)
    if callable(value):
        return directive("function", f"{name}{signature(value)}", owner, [document(value), example(owner, name)])
    return directive("data", name, owner, [f"A value of type `{type(value).__name__}`.", example(owner, name)])


def directive(kind: str, head: str, owner: str, body: list[str], depth: int = 3) -> str:
    # Blocks inside are fenced with three backticks and members with four, so the outermost has one more.
    fence = "`" * (depth + 1)
    inside = "\n\n".join(part for part in body if part)
    return f"{fence}{{py:{kind}}} {head}\n:module: {owner}\n\n{inside}\n{fence}\n\n"


def public_members(cls: type) -> list[str]:
    """Methods and properties with a docstring that the class itself or a class of the package defines."""
    owners = [c for c in cls.__mro__ if c.__module__.startswith("torseur")]
    names = dict.fromkeys(n for c in owners for n, v in vars(c).items() if not n.startswith("_") and documented(v))
    return sorted(names)


def documented(value: Any) -> bool:
    inner = getattr(value, "__func__", value)
    return (inspect.isfunction(inner) or isinstance(inner, property)) and bool(inspect.getdoc(inner))


def member(cls: type, name: str) -> str:
    value = inspect.getattr_static(cls, name)
    inner = getattr(value, "__func__", value)
    kind = "property" if isinstance(inner, property) else "method"
    head = name if kind == "property" else f"{name}{signature(inner, bound=not isinstance(value, staticmethod))}"
    return f"````{{py:{kind}}} {head}\n\n{document(inner)}\n````"


def signature(value: Any, bound: bool = False) -> str:
    """The signature as written; what only the interpreter could print is an ellipsis."""
    try:
        known = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(known.parameters.values())[1 if bound else 0 :]
    parameters = [p for p in parameters if not p.name.startswith("_")]
    kept = [p.replace(annotation=readable(p.annotation), default=shown_default(p.default)) for p in parameters]
    result = known.return_annotation
    text = str(known.replace(parameters=kept, return_annotation=inspect.Signature.empty))
    returned = readable(result)
    arrow = "" if inspect.isclass(value) or returned is inspect.Signature.empty else f" -> {returned}"
    return text + arrow


def readable(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Plain(text)


class _Plain(str):
    """Printed without quotes."""

    def __repr__(self) -> str:
        return str(self)


def shown_default(value: Any) -> Any:
    if value is inspect.Parameter.empty or isinstance(value, (int, float, str, bool, type(None))):
        return value
    if isinstance(value, tuple) and all(isinstance(v, (int, float, str)) for v in value):
        return value
    return _Plain("...")


def document(value: Any) -> str:
    """A docstring as Markdown: paragraphs, columns of arguments as definitions, indented lines as code."""
    paragraphs = (inspect.getdoc(value) or "").split("\n\n")
    return "\n\n".join(paragraph(p) for p in paragraphs)


def paragraph(text: str) -> str:
    lines = text.splitlines()
    columns = [m.end() for line in lines if (m := re.match(r"\S[^\s]*(?:, \S+)* {2,}(?=\S)", line))]
    if columns and all(
        line[: column_start(columns)].strip() == "" or line[column_start(columns) - 1 : column_start(columns)] == " "
        for line in lines
    ):
        return definitions(lines, column_start(columns))
    if lines and all(line.startswith("    ") or not line for line in lines):
        return "```text\n" + inspect.cleandoc(text) + "\n```"
    return escaped(text)


def column_start(columns: list[int]) -> int:
    return max(set(columns), key=columns.count)


def definitions(lines: list[str], column: int) -> str:
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        if line[:column].strip() or not items:
            items.append((line[:column].strip(), []))
        items[-1][1].append(line[column:])
    return "\n\n".join(f"`{name}`\n: {escaped(' '.join(text))}" for name, text in items)


def escaped(text: str) -> str:
    """Nothing is taken for markup except what stands in backticks."""
    parts = re.split(r"(``?[^`]+``?)", text)
    return "".join(p if i % 2 else re.sub(r"([\\*_<>\[\]|$~#])", r"\\\1", p) for i, p in enumerate(parts))


def example(owner: str, name: str) -> str:
    folder = owner.removeprefix("torseur").removeprefix(".")
    dotted = f"{folder}.{name}".removeprefix(".")
    found = example_of(dotted)
    if found is None:
        return ""
    source, use = found
    words = "Example" if source == dotted else f"`ts.{source}` gives one. Example"
    run = "" if use.is_run else " (needs other software, so it is shown and not run)"
    return f"{words}, from {link(use.page)}{run}:\n\n```python\n{use.code}\n```"


def example_of(dotted: str) -> tuple[str, Use] | None:
    """A statement with a public name; of a class that none names, a statement with what returns one."""
    for source in [dotted, *makers().get(dotted, ())]:
        if source in uses():
            return source, uses()[source]
    return None


@cache
def makers() -> dict[str, list[str]]:
    """Of each public class, the public functions and methods that return one, alone or in a sequence."""
    values = dict(public_values())
    names = {}
    for dotted, value in values.items():
        if inspect.isclass(value):
            names.setdefault(value.__name__, []).append(dotted)
    found: dict[str, list[str]] = {}
    for dotted, value in values.items():
        for source, call in [(dotted, value), *((f"{dotted}.{n}", vars(value)[n]) for n in own_methods(value))]:
            for word in re.findall(r"\w+", returned_type(call)):
                known = [name for name in names.get(word, []) if room(values[name]) == room(call)]
                for name in known:
                    found.setdefault(name, []).append(source)
    return found


def room(value: Any) -> str:
    """The folder that a thing is defined in; classes of one name in several folders are told apart by it."""
    inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return ".".join(getattr(inspect.unwrap(inner), "__module__", "").split(".")[1:3])


def public_values() -> Iterator[tuple[str, Any]]:
    """Every public name, as it is written after `ts.`, and what it is."""
    for name in torseur.__all__:
        value = getattr(torseur, name)
        if name in public_folders():
            yield from ((f"{name}.{inner}", getattr(value, inner)) for inner in value.__all__)
        else:
            yield name, value


def own_methods(value: Any) -> list[str]:
    return [name for name in public_members(value) if name in vars(value)] if inspect.isclass(value) else []


def returned_type(value: Any) -> str:
    call = getattr(value, "fget", None) or getattr(value, "__func__", value)
    if inspect.isclass(call) or not callable(call):
        return ""
    text = str(getattr(inspect.unwrap(call), "__annotations__", {}).get("return", "")).removesuffix(" | None")
    return "" if "|" in text else text


def link(page: Path) -> str:
    place = page.relative_to(PROJECT)
    return f"[{place}](../{place})" if page.suffix == ".md" and page.name != "README.md" else f"`{place}`"


@cache
def uses() -> dict[str, Use]:
    """Of each public name, the shortest statement with it in a page or example, all of which the tests run."""
    found: dict[str, Use] = {}
    for page in [
        *sorted((PROJECT / "docs").rglob("*.md")),
        PROJECT / "README.md",
        *sorted((PROJECT / "examples").glob("*.py")),
    ]:
        aliases: dict[str, str] = {}
        for code, is_run in programs(page):
            tree = ast.parse(code)
            aliases |= imported_names(tree)
            for statement in [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]:
                use = Use(textwrap.dedent(ast.get_source_segment(code, statement, padded=True) or ""), page, is_run)
                for name in public_uses(statement, aliases):
                    if is_better(use, found.get(name)):
                        found[name] = use
    return found


def is_better(use: Use, other: Use | None) -> bool:
    """Statements that are run come first, then short ones; long ones say too much else."""
    if len(use.code.splitlines()) > 12:
        return False
    return other is None or (not use.is_run, len(use.code)) < (not other.is_run, len(other.code))


def programs(page: Path) -> list[tuple[str, bool]]:
    """The programs of a page, and whether they are run."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        return [(text, True)]
    run = [(code, True) for code in FENCE.findall(text)]
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    shown = [textwrap.dedent(code) for code in SHOWN.findall(plain) if "ts." in code]
    return [*run, *((code, False) for code in shown if is_python(code))]


def is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Names that a program imports from the package, as they are written after `ts.`."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and re.fullmatch(r"torseur(\.\w+)?", node.module or ""):
            folder = (node.module or "").removeprefix("torseur").removeprefix(".")
            found |= {a.asname or a.name: f"{folder}.{a.name}".removeprefix(".") for a in node.names}
    return found


def public_uses(statement: ast.stmt, aliases: dict[str, str]) -> set[str]:
    """`ts.NAME`, `ts.FOLDER.NAME`, `ts.CLASS.METHOD` and imported names in a statement."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id in aliases:
            names.add(aliases[node.id])
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            owner = re.match(r"(?:ts|torseur)\.((?:\w+\.)?\w+)", dotted)
            if owner:
                names |= {owner[1], owner[1].partition(".")[0]}
            first, _, rest = dotted.partition(".")
            if re.fullmatch(r"\w+\.\w+", dotted) and (first in aliases or first in public_folders()):
                names.add(f"{aliases.get(first, first)}.{rest}")
    return names
