"""The sources that `tests/golden/` keeps, and work that a process may have done before it writes them.

Run as a program it prints the sources as JSON; with `--noise` it first derives, simulates and generates other things.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import torseur as ts
from torseur.computation.codegen.sources.generate_files import TARGETS
from torseur.computation.functions.generate_sources import generate, module_of
from torseur.computation.simulation.fmu import write_fmu
from torseur.description import library

MECHANISMS = {
    "double_pendulum": "inverse_dynamics,forward_dynamics,mass_matrix/q",
    "puma560": "inverse_dynamics",
}
"""A small mechanism and one of medium size, with the functions that are written."""
FIXED = ("double_pendulum_lanes.h", "fmi2.c", "fmi2.h")
"""Files that are copied as they are."""


def golden_sources() -> dict[str, str]:
    """Every generated file by its path below `tests/golden/`."""
    files: dict[str, str] = {}
    for name, functions in MECHANISMS.items():
        equations = ts.derive(library.load(name), formalism="recursive")
        for target in TARGETS:
            batch = target == "c" and name == "double_pendulum"
            sources = generate(equations, functions, target, batch=batch)
            files |= {f"{target}/{path}": text for path, text in sources.items() if path not in FIXED}
    return files | _fmu()


def _fmu() -> dict[str, str]:
    """The description and the sources of an FMU; its binary is the compiler's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "double_pendulum.fmu")
        write_fmu(ts.derive(library.load("double_pendulum")), path, [], {}, {})
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith((".xml", ".c", ".h"))]
            return {
                f"fmu/{Path(name).name}": archive.read(name).decode() for name in names if Path(name).name not in FIXED
            }


def make_noise() -> list[object]:
    """What is kept of other work: nodes of the same and of other mechanisms, made in another order, some with other
    names for the same links."""
    arm = library.load("puma560")
    renamed = ts.parse(re.sub(r"link(?=\d)", "part", ts.to_text(arm)))
    pendulum = library.load("double_pendulum")
    kept: list[object] = [
        ts.derive(mechanism, "kane").residual for mechanism in (pendulum, library.load("cart_pendulum"))
    ]
    kept.append(ts.simulate(pendulum, 0.1))
    equations = ts.derive(arm, formalism="recursive")
    kept.append(module_of(ts.derive(renamed, formalism="recursive"), "inverse_dynamics"))
    kept.append(module_of(equations, "mass_matrix,energies,forward_dynamics/v"))
    # Sums and products of the same operands, the last ones first.
    symbols = [*equations.layout.parameters, *equations.layout.coordinates, *equations.layout.speeds][::-1]
    kept.append([a * b + b for a in symbols for b in symbols])
    return kept


if __name__ == "__main__":
    kept = make_noise() if "--noise" in sys.argv else None
    print(json.dumps(golden_sources()))
