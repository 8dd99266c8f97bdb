"""Imports point one way: every import under src/torseur is read and compared with one table of levels."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "torseur"

# A room imports itself and strictly lower levels; levels rise from storey to storey. The same table stands in
# docs/design.md.
LEVELS = {
    "errors": 0,
    "deprecation": 0,
    "display": 0,
    "formula_texts": 0,
    "extras": 0,
    "edges": 1,
    "cache": 2,
    "algebra.arrays": 0,
    "algebra.graph": 1,
    "algebra.intrinsic": 2,
    "algebra.spatial": 2,
    "algebra.exact": 2,
    "description.mechanism": 3,
    "description.language": 4,
    "description.elements": 4,
    "description.readers": 4,
    "description.library": 5,
    "derivation.tree": 6,
    "derivation.dynamics": 7,
    "derivation.loops": 8,
    "derivation.equations": 9,
    "derivation.formalisms": 10,
    "computation.codegen": 11,
    "computation.functions": 12,
    "computation.simulation": 13,
    "computation.linearisation": 14,
    "analysis.sensitivity": 15,
    "analysis.robotics": 15,
    "analysis.design": 15,
    "analysis.optimal_motion": 15,
    "analysis.identification": 16,
    "analysis.biomechanics": 17,
    "analysis.vehicles": 17,
    "analysis.published_studies": 18,
    "analysis.studies": 19,
    "presentation.typesetting": 20,
    "presentation.levels": 21,
    "presentation.scene": 22,
    "presentation.report": 23,
    "presentation.notebook": 24,
    "presentation.studio": 25,
    "cli": 26,
}
STOREYS = ["algebra", "description", "derivation", "computation", "analysis", "presentation", "cli"]
# The package's own __init__.py and __main__.py stand above everything.
FACE = "torseur"
FACE_LEVEL = 27
# Files that only name what users import: of the package, and of ts.algebra.
FACES = {("__init__",), ("__main__",), ("algebra", "__init__")}

# Arrows that the levels allow and the design does not: below analysis nothing reads texts or robot files, and programs
# know nothing of mechanisms.
FORBIDDEN = (
    {
        (room, way_in)
        for room, level in LEVELS.items()
        for way_in in ("description.language", "description.readers", "description.library")
        if room.startswith(("derivation", "computation"))
    }
    | {("analysis.sensitivity", "description.readers"), ("analysis.identification", "description.language")}
    | {
        ("computation.codegen", room)
        for room in LEVELS
        if room.startswith(("description", "derivation")) or room == "algebra.spatial"
    }
)
# Arrows that the levels forbid and the design allows.
# A text may use a robot as a part; robot files never hold a text.
# Robot files have muscles and tendons.
ALLOWED = {
    ("cli", FACE),
    ("description.language", "description.readers"),
    ("description.readers", "description.elements"),
}

# Libraries that are slow to import, and the folders or files that may do so when they are loaded themselves.
# Everywhere else the import stands inside the function that needs it.
HEAVY: dict[str, set[str]] = {
    "sympy": {"algebra/intrinsic/operators.py"},  # its classes are SymPy's; the folder is imported where it is used
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
    "trimesh": set(),
    "PIL": set(),
    "imageio_ffmpeg": set(),
}
# Libraries that belong to one folder, even inside functions.
CONFINED = {
    "llvmlite": {"computation.codegen"},
    "typer": {"cli"},
    "lark": {"description.language"},
    "clarabel": {"analysis.identification"},
    "ezc3d": {"analysis.biomechanics"},
    "trimesh": {"description.readers"},
    # Reading a pickle runs it: only studies travel so, from a process to the workers it started.
    "pickle": {"analysis.studies"},
}

VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
CODE_SUFFIXES = {".py", ".lark", ".js", ".css", ".html"}
# What keeps the house small: docs/decisions/0098-size-of-the-house.md.
MAX_LINES = 400
MAX_ENTRIES = 15
MAX_PARAMETERS = 8
# Functions of the public face that take options by keyword, which is what users type; each packs them into a named
# record (docs/decisions/0097). What a user gives by position has to be kept apart there, too.
PUBLIC_OPTIONS = {
    "analysis/biomechanics/tracking/inverse_kinematics.py:inverse_kinematics",
    "analysis/identification/excitation.py:design_excitation",
    "analysis/sensitivity/sensitivity_analysis.py:sensitivity",
    "analysis/sensitivity/steady/small_motion_sensitivity.py:frequency_response_sensitivity",
    "analysis/sensitivity/steady/steady_states.py:steady_sensitivity",
    "analysis/studies/simplified_models.py:simplified_models",
    "computation/simulation/rollouts/rollouts.py:Rollouts.__call__",
    "computation/simulation/simulate.py:simulate",
    "description/mechanism/joints.py:denavit_hartenberg",
    "description/mechanism/mechanism.py:Mechanism.__init__",
    "description/readers/read_robot.py:read_robot",
}
UNCOUNTED = {"__init__.py", "__main__.py", "__pycache__"}


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
    parts = path.with_suffix("").parts
    return FACE if parts in FACES else row_of(parts)


def target(module: str) -> str | None:
    """The row of the table that an imported name belongs to; None outside the package."""
    first, *rest = module.split(".")
    if first != FACE:
        return None
    return row if (row := row_of(rest)) in LEVELS else FACE


def row_of(parts: Sequence[str]) -> str:
    """`derivation.loops` of derivation/loops/rank/...; a storey without rooms is a row itself."""
    return parts[0] if parts and parts[0] in LEVELS else ".".join(parts[:2])


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
    """Rooms and files of the package that the table does not name."""
    rows = {owner(p.relative_to(package)) for p in package.rglob("*.py") if p.name != "__init__.py"}
    return sorted(rows - LEVELS.keys() - {FACE})


def repeated_names(package: Path) -> list[str]:
    """Files of one storey that bear the same name, so that a name in a message or a search says where one is."""
    files = [p.relative_to(package) for p in sorted(package.rglob("*.py")) if p.name != "__init__.py"]
    places: dict[tuple[str, str], list[str]] = {}
    for file in files:
        places.setdefault((file.parts[0], file.name), []).append(file.as_posix())
    return [", ".join(same) for same in places.values() if len(same) > 1]


def crowded_folders(package: Path) -> list[str]:
    """Folders with more modules and rooms side by side than a reader takes in."""
    crowded = []
    for folder in sorted(p for p in [package, *package.rglob("*")] if p.is_dir() and any(p.glob("*.py"))):
        entries = [p for p in folder.iterdir() if p.name not in UNCOUNTED and (p.suffix == ".py" or holds_code(p))]
        if len(entries) > MAX_ENTRIES:
            crowded.append(f"{folder.relative_to(package)}: {len(entries)} entries")
    return crowded


def silent_folders(package: Path) -> list[str]:
    """Rooms without a README: what comes in, what goes out, where to start reading."""
    folders = {path.parent for path in package.rglob("*.py") if path.name not in UNCOUNTED}
    folders -= {*(package / "cli" / "commands").glob("*")}  # one README says how commands read
    return sorted(str(folder.relative_to(package)) for folder in folders if not (folder / "README.md").is_file())


def long_signatures(package: Path) -> list[str]:
    """Functions with more parameters than a reader keeps apart; what belongs together wants a type with a name.

    Functions of the public face take any number of options by keyword.
    """
    faults = []
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        for name, node in functions(ast.parse(path.read_text(encoding="utf-8"))):
            by_position = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in ("self", "cls")]
            exempt = f"{file}:{name}" in PUBLIC_OPTIONS
            count = len(by_position) + (0 if exempt else len(node.args.kwonlyargs))
            if count > MAX_PARAMETERS:
                faults.append(f"{file}:{node.lineno}: {name} has {count} parameters")
    return faults


def functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions below a node, each with its name and the classes and functions around it."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        named = is_function or isinstance(child, ast.ClassDef)
        name = f"{within}{child.name}" if named else ""
        if is_function:
            yield name, child
        yield from functions(child, f"{name}." if named else within)


def holds_code(path: Path) -> bool:
    return path.is_dir() and any(path.rglob("*.py"))


def vague_names(package: Path) -> list[str]:
    """Files and folders whose name says nothing about their content."""
    return sorted(str(p.relative_to(package)) for p in package.rglob("*") if p.stem.strip("_").lower() in VAGUE_NAMES)


def long_files(package: Path) -> list[str]:
    """Files of code over the limit, with their number of lines."""
    sources = (p for p in sorted(package.rglob("*")) if p.is_file() and p.suffix in CODE_SUFFIXES)
    lengths = ((p, len(p.read_text(encoding="utf-8").splitlines())) for p in sources)
    return [f"{p.relative_to(package)}: {length} lines" for p, length in lengths if length > MAX_LINES]


RULES = [
    wrong_arrows,
    heavy_imports,
    unknown_folders,
    repeated_names,
    crowded_folders,
    silent_folders,
    long_signatures,
    vague_names,
    long_files,
]


@pytest.mark.parametrize("rule", RULES)
def test_package_keeps_the_rule(rule):
    assert rule(PACKAGE) == []


def test_importing_the_package_loads_nothing_heavy():
    """Oracle: the interpreter's own list of loaded modules."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import torseur; print(*sys.modules)"
    command = [sys.executable, "-c", program, str(PACKAGE.parent)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {name.partition(".")[0] for name in loaded} & HEAVY.keys() == set()


def test_storeys_stand_on_each_other():
    """Every level of a storey is above every level of the storeys below it."""
    spans = [[level for row, level in LEVELS.items() if row.split(".")[0] == storey] for storey in STOREYS]
    assert all(max(below) < min(above) for below, above in pairwise(spans))


def test_table_is_the_one_of_the_design_document():
    rows = re.findall(
        r"^\| (\d+) \| ([^|]+) \|", (PROJECT / "docs" / "design.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    documented = {
        name.replace("/", "."): int(level)
        for level, cell in rows
        for name in re.findall(r"`([\w/]+?)(?:/|\.py)`", cell)
    }
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
    "upward": (wrong_arrows, "algebra/graph/a.py", "import torseur.derivation.tree.tree"),
    "upward from": (wrong_arrows, "algebra/spatial/a.py", "from torseur.description.mechanism import Body"),
    "upward from root": (wrong_arrows, "algebra/graph/a.py", "from torseur.derivation import dynamics"),
    "relative": (wrong_arrows, "algebra/graph/deep/a.py", "from ....derivation.tree import tree"),
    "relative root": (wrong_arrows, "algebra/graph/a.py", "from ...derivation import tree"),
    "lazy": (wrong_arrows, "algebra/graph/a.py", "def f():\n    from torseur.derivation.tree import Tree"),
    "typing only": (
        wrong_arrows,
        "algebra/graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torseur.cli",
    ),
    "dynamic": (
        wrong_arrows,
        "algebra/graph/a.py",
        "import importlib\nimportlib.import_module('torseur.derivation.tree')",
    ),
    "sibling": (wrong_arrows, "description/readers/a.py", "import torseur.description.language"),
    "codegen knows no spatial algebra": (wrong_arrows, "computation/codegen/a.py", "import torseur.algebra.spatial"),
    "forbidden": (wrong_arrows, "derivation/dynamics/a.py", "import torseur.description.language"),
    "face": (wrong_arrows, "description/library/a.py", "import torseur"),
    "errors": (wrong_arrows, "errors.py", "import torseur.algebra.graph"),
    "unlisted importer": (wrong_arrows, "novelty/a.py", "import torseur.errors"),
    "heavy": (heavy_imports, "algebra/graph/a.py", "import sympy"),
    "heavy part": (heavy_imports, "derivation/dynamics/a.py", "from scipy.linalg import lu"),
    "heavy in class": (heavy_imports, "algebra/graph/a.py", "class A:\n    import sympy"),
    "heavy in try": (heavy_imports, "algebra/graph/a.py", "try:\n    import flint\nexcept ImportError:\n    pass"),
    "heavy else": (
        heavy_imports,
        "algebra/graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import sympy",
    ),
    "llvmlite at load": (heavy_imports, "computation/codegen/a.py", "import llvmlite.binding"),
    "llvmlite elsewhere": (heavy_imports, "computation/simulation/a.py", "def f():\n    import llvmlite"),
    "unlisted storey": (unknown_folders, "novelty/a.py", ""),
    "unlisted room": (unknown_folders, "derivation/novelty/a.py", ""),
    "unlisted file": (unknown_folders, "novelty.py", ""),
    "vague file": (vague_names, "algebra/graph/_utils.py", ""),
    "vague folder": (vague_names, "algebra/graph/common/a.py", ""),
    "long": (long_files, "algebra/graph/a.py", "\n" * 401),
    "silent": (silent_folders, "algebra/graph/a.py", ""),
    "nine parameters": (long_signatures, "algebra/graph/a.py", "def f(a, b, c, d, e, f, g, h, i): pass"),
    "nine within": (
        long_signatures,
        "algebra/graph/a.py",
        "class A:\n    def f(self, a, b, c, d, e, *, f, g, h, i): pass",
    ),
    "nine by position": (
        long_signatures,
        "computation/simulation/simulate.py",
        "def simulate(a, b, c, d, e, f, g, h, i, *, j): pass",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_fault_is_caught(case, tmp_path):
    rule, name, text = BAD[case]
    assert len(rule(write_package(tmp_path, {name: text}))) == 1


def test_options_by_keyword_belong_to_public_functions():
    """Every exempt function exists, and the package names it, or the class that it is a method of."""
    import torseur

    for entry in PUBLIC_OPTIONS:
        file, name = entry.split(":")
        known = dict(functions(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))))
        owner_name = name.partition(".")[0]
        assert name in known and known[name].args.kwonlyargs, entry
        assert any(hasattr(face, owner_name) for face in (torseur, torseur.biomechanics, torseur.identification)), entry


def test_names_are_unique_within_a_storey(tmp_path):
    same = {"derivation/loops/model.py": "", "derivation/tree/model.py": "", "analysis/studies/model.py": ""}
    assert repeated_names(write_package(tmp_path, same)) == ["derivation/loops/model.py, derivation/tree/model.py"]


def test_a_crowded_folder_is_seen(tmp_path):
    many = {f"derivation/loops/a{i}.py": "" for i in range(MAX_ENTRIES + 1)}
    assert crowded_folders(write_package(tmp_path, many)) == [f"derivation/loops: {MAX_ENTRIES + 1} entries"]


GOOD = {
    "downward": (
        "derivation/tree/a.py",
        "from torseur.description.mechanism import Body\nfrom ...errors import TorseurError",
    ),
    "itself": (
        "algebra/graph/deep/a.py",
        "from torseur.algebra.graph import expr\nfrom ..ops import table\nfrom . import b",
    ),
    "face imports all": ("__init__.py", "from .cli import main\nfrom torseur.computation import simulation"),
    "cli imports face": ("cli/__init__.py", "import typer\nimport torseur"),
    "lazy heavy": ("algebra/graph/a.py", "def f():\n    import sympy"),
    "typing heavy": (
        "algebra/graph/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sympy",
    ),
    "lazy llvmlite": ("computation/codegen/llvm/a.py", "def f():\n    import llvmlite.ir"),
    "other libraries": ("algebra/graph/a.py", "import math\nimport numpy as np"),
    "at the limit": ("algebra/graph/a.py", "\n" * 400),
}


@pytest.mark.parametrize("case", GOOD)
def test_no_fault_is_invented(case, tmp_path):
    name, text = GOOD[case]
    package = write_package(tmp_path, {name: text, (Path(name).parent / "README.md").as_posix(): "# a room"})
    assert [fault for rule in RULES for fault in rule(package)] == []
