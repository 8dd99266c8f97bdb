"""Imports point one way: every import under src/torseur is read and compared with one table of levels."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "torseur"

# A folder imports itself and strictly lower levels. The same table stands in docs/design.md.
LEVELS = {
    "errors": 0,
    "cache": 0,
    "graph": 1,
    "spatial": 2,
    "codegen": 2,
    "mechanism": 3,
    "language": 4,
    "readers": 4,
    "tree": 4,
    "dynamics": 5,
    "loops": 6,
    "equations": 7,
    "formalisms": 8,
    "simulation": 9,
    "linearisation": 10,
    "sensitivity": 11,
    "identification": 12,
    "biomechanics": 13,
    "library": 14,
    "studies": 15,
    "report": 16,
    "studio": 17,
    "cli": 18,
}
# The package's own __init__.py and __main__.py stand above everything.
FACE = "torseur"
FACE_LEVEL = 19

# Arrows that the levels allow and the design does not.
FORBIDDEN = {
    (folder, way_in)
    for folder in ("dynamics", "loops", "equations", "formalisms", "simulation", "linearisation", "identification")
    for way_in in ("language", "readers")
} | {("sensitivity", "readers")}
# Arrows that the levels forbid and the design allows.
ALLOWED = {("cli", FACE)}

# Libraries that are slow to import, and the folders or files that may do so when they are loaded themselves.
# Everywhere else the import stands inside the function that needs it.
HEAVY: dict[str, set[str]] = {
    "sympy": {"equations/intrinsic/operators.py"},  # its classes are SymPy's; the folder is imported where it is used
    "scipy": set(),
    "xarray": set(),
    "pandas": set(),
    "matplotlib": set(),
    "pint": set(),
    "lark": set(),
    "typer": {"cli"},
    "rich": {"cli"},
    "flint": set(),
    "llvmlite": set(),
    "clarabel": set(),
    "ezc3d": set(),
}
# Libraries that belong to one folder, even inside functions.
CONFINED = {
    "llvmlite": {"codegen"},
    "typer": {"cli"},
    "lark": {"language"},
    "clarabel": {"identification"},
    "ezc3d": {"biomechanics"},
}

VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
CODE_SUFFIXES = {".py", ".lark", ".js", ".css", ".html"}
MAX_LINES = 400


@dataclass(frozen=True)
class Import:
    """One import statement: where it stands, what it names, and whether loading the file runs it."""

    path: Path
    line: int
    module: str
    runs_at_load: bool


def imports(package: Path) -> Iterator[Import]:
    """Every import under a package, also those inside functions and under TYPE_CHECKING."""
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for node, runs in statements(tree, True):
            for module in modules(node, package, path):
                yield Import(path.relative_to(package), node.lineno, module, runs)


def statements(node: ast.AST, runs: bool) -> Iterator[tuple[ast.stmt | ast.expr, bool]]:
    """All statements and calls below a node, each with whether it runs when the file is loaded."""
    deferred = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for child in ast.iter_child_nodes(node):
        skipped = deferred or (typing_only and child not in node.orelse)
        if isinstance(child, ast.Import | ast.ImportFrom | ast.Call):
            yield child, runs and not skipped
        yield from statements(child, runs and not skipped)


def modules(node: ast.AST, package: Path, path: Path) -> list[str]:
    """Full dotted names that one node imports; `from a import b` gives a.b."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        origin = node.module or ""
        if node.level:
            here = (package.name, *path.relative_to(package).parent.parts)
            above = here[: len(here) - node.level + 1]
            origin = ".".join((*above, origin) if origin else above)
        return [f"{origin}.{alias.name}" for alias in node.names]
    return dynamic_import(node)


def dynamic_import(node: ast.AST) -> list[str]:
    """The module named by import_module("...") or __import__("...")."""
    match node:
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]
        ) if name in ("import_module", "__import__"):
            return [module]
    return []


def owner(path: Path) -> str:
    """The row of the table that a file of the package belongs to."""
    top = path.parts[0] if len(path.parts) > 1 else path.stem
    return FACE if top in ("__init__", "__main__") else top


def target(module: str) -> str | None:
    """The row of the table that an imported name belongs to; None outside the package."""
    first, _, rest = module.partition(".")
    if first != FACE:
        return None
    folder = rest.partition(".")[0]
    return folder if folder in LEVELS else FACE


def allowed(importer: str, imported: str) -> bool:
    """Whether the table lets one folder import another."""
    arrow = (importer, imported)
    if importer == imported or arrow in ALLOWED:
        return True
    if arrow in FORBIDDEN or importer not in LEVELS | {FACE: FACE_LEVEL}:
        return False
    level = LEVELS.get(importer, FACE_LEVEL)
    return LEVELS.get(imported, FACE_LEVEL) < level


def wrong_arrows(package: Path) -> list[str]:
    """Imports between folders that the table of levels does not allow."""
    return [
        f"{found.path}:{found.line}: {owner(found.path)} imports {found.module}"
        for found in imports(package)
        if (row := target(found.module)) is not None and not allowed(owner(found.path), row)
    ]


def heavy_imports(package: Path) -> list[str]:
    """Slow libraries imported when a file is loaded, and confined ones imported outside their folder."""
    faults = []
    for found in imports(package):
        library = found.module.partition(".")[0]
        places = {owner(found.path), found.path.as_posix()}
        if found.runs_at_load and library in HEAVY and not places & HEAVY[library]:
            faults.append(f"{found.path}:{found.line}: {library} is imported at load; move it into the function")
        if library in CONFINED and not places & CONFINED[library]:
            faults.append(f"{found.path}:{found.line}: {library} belongs to {sorted(CONFINED[library])}")
    return faults


def unknown_folders(package: Path) -> list[str]:
    """Folders and files at the top of the package that the table does not name."""
    entries = (p for p in package.iterdir() if p.suffix == ".py" or (p.is_dir() and any(p.rglob("*.py"))))
    rows = {owner(Path(p.name)) if p.is_file() else p.name for p in entries}
    return sorted(rows - LEVELS.keys() - {FACE})


def vague_names(package: Path) -> list[str]:
    """Files and folders whose name says nothing about their content."""
    return sorted(str(p.relative_to(package)) for p in package.rglob("*") if p.stem.strip("_").lower() in VAGUE_NAMES)


def long_files(package: Path) -> list[str]:
    """Files of code over the limit, with their number of lines."""
    sources = (p for p in sorted(package.rglob("*")) if p.is_file() and p.suffix in CODE_SUFFIXES)
    lengths = ((p, len(p.read_text(encoding="utf-8").splitlines())) for p in sources)
    return [f"{p.relative_to(package)}: {length} lines" for p, length in lengths if length > MAX_LINES]


RULES = [wrong_arrows, heavy_imports, unknown_folders, vague_names, long_files]


@pytest.mark.parametrize("rule", RULES)
def test_package_keeps_the_rule(rule):
    assert rule(PACKAGE) == []


def test_importing_the_package_loads_nothing_heavy():
    """Oracle: the interpreter's own list of loaded modules."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import torseur; print(*sys.modules)"
    command = [sys.executable, "-c", program, str(PACKAGE.parent)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {name.partition(".")[0] for name in loaded} & HEAVY.keys() == set()


def test_table_is_the_one_of_the_design_document():
    rows = re.findall(
        r"^\| (\d+) \| ([^|]+) \|", (PROJECT / "docs" / "design.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    documented = {name: int(level) for level, cell in rows for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)}
    assert documented == LEVELS


def write_package(root: Path, files: dict[str, str]) -> Path:
    """A package called torseur with the given files."""
    package = root / "torseur"
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return package


BAD = {
    "upward": (wrong_arrows, "graph/a.py", "import torseur.tree.layout"),
    "upward from": (wrong_arrows, "spatial/a.py", "from torseur.mechanism import Body"),
    "upward from root": (wrong_arrows, "graph/a.py", "from torseur import dynamics"),
    "relative": (wrong_arrows, "graph/deep/a.py", "from ...tree import layout"),
    "relative root": (wrong_arrows, "graph/a.py", "from .. import tree"),
    "lazy": (wrong_arrows, "graph/a.py", "def f():\n    from torseur.tree import Tree"),
    "typing only": (
        wrong_arrows,
        "graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torseur.cli",
    ),
    "dynamic": (wrong_arrows, "graph/a.py", "import importlib\nimportlib.import_module('torseur.tree')"),
    "sibling": (wrong_arrows, "language/a.py", "import torseur.readers"),
    "same level": (wrong_arrows, "codegen/a.py", "import torseur.spatial"),
    "forbidden": (wrong_arrows, "dynamics/a.py", "import torseur.language"),
    "face": (wrong_arrows, "library/a.py", "import torseur"),
    "errors": (wrong_arrows, "errors.py", "import torseur.graph"),
    "unlisted importer": (wrong_arrows, "novelty/a.py", "import torseur.errors"),
    "heavy": (heavy_imports, "graph/a.py", "import sympy"),
    "heavy part": (heavy_imports, "dynamics/a.py", "from scipy.linalg import lu"),
    "heavy in class": (heavy_imports, "graph/a.py", "class A:\n    import sympy"),
    "heavy in try": (heavy_imports, "graph/a.py", "try:\n    import flint\nexcept ImportError:\n    pass"),
    "heavy else": (
        heavy_imports,
        "graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import sympy",
    ),
    "llvmlite at load": (heavy_imports, "codegen/a.py", "import llvmlite.binding"),
    "llvmlite elsewhere": (heavy_imports, "simulation/a.py", "def f():\n    import llvmlite"),
    "unlisted folder": (unknown_folders, "novelty/a.py", ""),
    "unlisted file": (unknown_folders, "novelty.py", ""),
    "vague file": (vague_names, "graph/_utils.py", ""),
    "vague folder": (vague_names, "graph/common/a.py", ""),
    "long": (long_files, "graph/a.py", "\n" * 401),
}


@pytest.mark.parametrize("case", BAD)
def test_a_fault_is_caught(case, tmp_path):
    rule, name, text = BAD[case]
    assert len(rule(write_package(tmp_path, {name: text}))) == 1


GOOD = {
    "downward": ("tree/a.py", "from torseur.mechanism import Body\nfrom ..errors import TorseurError"),
    "itself": ("graph/deep/a.py", "from torseur.graph import expr\nfrom ..ops import table\nfrom . import b"),
    "face imports all": ("__init__.py", "from .cli import main\nfrom torseur import simulation"),
    "cli imports face": ("cli/__init__.py", "import typer\nimport torseur"),
    "lazy heavy": ("graph/a.py", "def f():\n    import sympy"),
    "typing heavy": (
        "graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sympy",
    ),
    "lazy llvmlite": ("codegen/llvm/a.py", "def f():\n    import llvmlite.ir"),
    "other libraries": ("graph/a.py", "import math\nimport numpy as np"),
    "at the limit": ("graph/a.py", "\n" * 400),
}


@pytest.mark.parametrize("case", GOOD)
def test_no_fault_is_invented(case, tmp_path):
    name, text = GOOD[case]
    package = write_package(tmp_path, {name: text})
    assert [fault for rule in RULES for fault in rule(package)] == []
