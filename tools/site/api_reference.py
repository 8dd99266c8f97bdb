"""The Python reference: every public name with its signature, its docstring, and a statement of a page that is run."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torseur

PROJECT = Path(__file__).resolve().parents[2]
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
    """A statement that uses a name, and the page or program it stands in."""

    code: str
    page: Path


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
    value = getattr(module, name)
    return (
        next((n for n in torseur.__all__ if unwrapped(getattr(torseur, n)) is value), None) if callable(value) else None
    )


def unwrapped(value: Any) -> Any:
    """Public functions explain their arguments, in a wrapper around the function that folders have."""
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
    use = uses().get(f"{folder}.{name}".removeprefix("."))
    if use is None:
        return ""
    return f"Example, from {link(use.page)}:\n\n```python\n{use.code}\n```"


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
        text = page.read_text(encoding="utf-8")
        for code in FENCE.findall(text) if page.suffix == ".md" else [text]:
            for statement in ast.parse(code).body:
                segment = ast.get_source_segment(code, statement) or ""
                for name in public_uses(statement):
                    if len(segment.splitlines()) <= 12 and (name not in found or len(segment) < len(found[name].code)):
                        found[name] = Use(segment, page)
    return found


def public_uses(statement: ast.stmt) -> set[str]:
    """`ts.NAME` and `ts.FOLDER.NAME` in a statement."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            owner = re.match(r"(?:ts|torseur)\.((?:\w+\.)?\w+)", dotted)
            if owner:
                names |= {owner[1], owner[1].partition(".")[0]}
            folder = re.match(r"(\w+)\.\w+$", dotted)
            if folder and folder[1] in public_folders():
                names.add(dotted)
    return names
