"""Public signatures change only with a line of the changelog.

`public_signatures.txt` holds what callers of every public name depend on. A name that goes, or whose parameters or defaults
change, is named in the newest part of CHANGELOG.md; then `pytest tests/golden --update-golden` keeps the new signature,
and fails without that line. New names need no line; they are kept with the next update.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import torseur

PROJECT = Path(__file__).resolve().parents[2]
SNAPSHOT = Path(__file__).with_name("public_signatures.txt")
FOLDERS = [name for name in torseur.__all__ if isinstance(getattr(torseur, name), ModuleType)]


def described(value: object) -> str:
    """What a caller depends on: parameters with their defaults."""
    if not callable(value):
        return type(value).__name__
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        parameters = ()
    # Annotations are left out: they say the same in other words from one version of Python to the next.
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    words = [re.sub(r" at 0x[0-9a-f]+", "", str(p)) for p in plain]
    marked = [f"{w}*" if p.kind is p.KEYWORD_ONLY else w for p, w in zip(plain, words, strict=True)]
    return f"({', '.join(marked)})"


def signatures() -> dict[str, str]:
    """Of every public name `NAME` and `FOLDER.NAME`, what its callers depend on. A star marks what goes by keyword only."""
    names = {name: getattr(torseur, name) for name in torseur.__all__ if name not in (*FOLDERS, "__version__")}
    for folder in FOLDERS:
        names |= {
            f"{folder}.{name}": getattr(getattr(torseur, folder), name) for name in getattr(torseur, folder).__all__
        }
    known = {name: described(value) for name, value in names.items() if not isinstance(value, ModuleType)}
    classes = {name: value for name, value in names.items() if inspect.isclass(value)}
    return dict(
        sorted((known | {f"{name}.{m}": text for name, c in classes.items() for m, text in members(c)}).items())
    )


def members(cls: type) -> list[tuple[str, str]]:
    """Public members of a class and what their callers depend on; a property is a value."""
    shown = [(name, inspect.getattr_static(cls, name)) for name in dir(cls) if not name.startswith("_")]
    ours = [(name, getattr(value, "__func__", value)) for name, value in shown]
    return [(n, described(v) if inspect.isfunction(v) else "value") for n, v in ours if belongs(cls, n)]


def belongs(cls: type, name: str) -> bool:
    """Whether a class of this package, rather than one of Python's, defines the member."""
    return any(name in vars(c) and c.__module__.startswith("torseur") for c in cls.__mro__)


def unannounced(before: dict[str, str], now: dict[str, str], changelog: str) -> list[str]:
    """Names that were removed or changed without being named in the newest part of the changelog."""
    newest = "".join(re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[:2])
    quoted = " ".join(re.findall(r"`([^`]+)`", newest)).lower()
    changed = [name for name in before if before[name] != now.get(name)]
    # `ts.simulate(...)` for a function, `equations.sympy` or `Equations.sympy` for a method.
    return [name for name in changed if not re.search(rf"\b{re.escape(name.lower())}\b", quoted)]


def kept() -> dict[str, str]:
    lines = SNAPSHOT.read_text(encoding="utf-8").splitlines() if SNAPSHOT.exists() else []
    return dict(line.split(" ", 1) for line in lines)


def test_public_signatures_change_with_a_line_of_the_changelog(pytestconfig):
    before, now = kept(), signatures()
    missing = unannounced(before, now, (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert missing == [], "name these in the newest part of CHANGELOG.md, in backticks"
    if pytestconfig.getoption("--update-golden"):
        SNAPSHOT.write_text("".join(f"{name} {text}\n" for name, text in now.items()), encoding="utf-8")
        before = now
    assert len(before) > 300
    changed = [name for name, text in before.items() if now.get(name) != text]
    assert changed == [], "where this is meant and the changelog says so: pytest tests/golden --update-golden"


def test_a_change_without_a_line_is_told():
    before = {"simulate": "(model, until)", "loops": "(model)", "Robot.gone": "()"}
    now = {"simulate": "(model, end)", "loops": "(model)", "new": "()"}
    assert unannounced(before, now, "# Changelog\n\n## [0.2.0]\n\n- Nothing.\n\n## [0.1.0]\n\n- `simulate`\n") == [
        "simulate",
        "Robot.gone",
    ]
    assert (
        unannounced(before, now, "# Changelog\n\n## Unreleased\n\n- `ts.simulate(model, end)` and no `Robot.gone`.\n")
        == []
    )
