"""The .fmu file: a description, sources, and a binary for this platform where there is a C compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from uuid import UUID

from torseur.computation.codegen.sources.identifiers import comment
from torseur.computation.codegen.targets.c.c_compiler import FLAGS, find_compiler
from torseur.computation.codegen.targets.c.c_spelling import double
from torseur.computation.codegen.targets.fmu.fmu_description import SOURCES, model_description
from torseur.computation.codegen.targets.fmu.fmu_model import DRIFT, TOLERANCE, FmuModel
from torseur.errors import CompilationError


def model_header(model: FmuModel, guid: str) -> str:
    """model.h: the sizes and start values of one model, for the C that is the same in every FMU."""
    start = [*(p.start for p in model.parameters), *model.settings, *(u.start for u in model.inputs)]
    return f"""\
/* {comment(model.name)}: sizes and start values. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#define MODEL_GUID "{guid}"
#define MODEL_TOLERANCE {TOLERANCE!r}
#define MODEL_DRIFT {DRIFT!r}
#define MODEL_HAS_MANIFOLD {int(model.has_manifold)}
#define MODEL_HAS_TANGENT {int(model.has_tangent)}

enum {{
  STATES = {len(model.states)},
  PARAMETERS = {len(model.parameters)},
  SETTINGS = {len(model.settings)},
  INPUTS = {len(model.inputs)},
  OUTPUTS = {len(model.outputs)}
}};

static const double start_of_states[] = {_array(s.start for s in model.states)};
static const double nominal_states[] = {_array(model.nominal)};
static const double start_of_p[] = {_array(start)};

/* What a task is called with: see the enumeration in fmi2.c. */
int64_t {model.entry}(int64_t task, double t, double t_end, double *pace, double *y, double *p,
    double *atol, double *out, void **callbacks, int64_t *failed);
#define MODEL_TASK {model.entry}

#endif
"""


def _array(numbers: Iterable[float]) -> str:
    """An initialiser that is never empty."""
    return f"{{{', '.join(double(number) for number in numbers) or '0.0'}}}"


_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same contents make the same file
_SUFFIXES = {"linux": "so", "darwin": "dylib", "win": "dll"}


def write_archive(model: FmuModel, path: Path) -> str | None:
    """Writes the FMU; the platform of the binary in it, None when there is no compiler and it holds sources only."""
    # The GUID is taken from the sources with an empty GUID, then written into model.h: the same model has the same
    # GUID.
    sources = _sources(model)
    digest = hashlib.sha256("".join(f"{name}\0{text}\0" for name, text in sources.items()).encode()).digest()
    guid = f"{{{UUID(bytes=digest[:16])}}}"
    sources["model.h"] = model_header(model, guid)
    binary = _compile(sources)
    contents = {"modelDescription.xml": model_description(model, guid).encode()}
    contents |= {f"sources/{name}": text.encode("ascii") for name, text in sources.items()}
    if binary is not None:
        contents[f"binaries/{_platform()}/{model.identifier}.{_SUFFIXES[_system()]}"] = binary
    _write(path, contents)
    return _platform() if binary is not None else None


def _sources(model: FmuModel) -> dict[str, str]:
    folder = files("torseur.computation.codegen.targets.fmu")
    own = {name: folder.joinpath(name).read_text(encoding="ascii") for name in ("fmi2.c", "fmi2.h")}
    return {**own, "task.c": model.source, "model.h": model_header(model, "")}


def _write(path: Path, contents: dict[str, bytes]) -> None:
    """A whole file or none."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in contents.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _compile(sources: dict[str, str]) -> bytes | None:
    """A shared library for any processor of this kind."""
    compiler = find_compiler()
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory(prefix="torseur-") as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="ascii")
        command = [compiler.path, "-O2", *FLAGS, *SOURCES, "-o", "model", "-lm"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        if run.returncode != 0:
            raise CompilationError(f"the C compiler '{compiler.path}' failed:\n{run.stderr[:2000]}")
        return Path(folder, "model").read_bytes()


def _system() -> str:
    return "win" if sys.platform == "win32" else "darwin" if sys.platform == "darwin" else "linux"


def _platform() -> str:
    """The folder of the binary: linux64, darwin64, win64, ..."""
    return f"{_system()}{platform.architecture()[0][:2]}"
