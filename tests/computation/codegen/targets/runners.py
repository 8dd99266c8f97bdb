"""Generated sources compiled or run as a user would, without this package; results come back as arrays.

A runner takes a module of programs and points (values by input name) and returns, for each point and program, the
list of its outputs.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Function, Module
from torseur.computation.codegen.targets.c.c_compiler import find_compiler

POINTER = ctypes.POINTER(ctypes.c_double)
WITHOUT_VECTORS = ["-include", str(Path(__file__).with_name("no_vectors.h"))]
"""Flags for any compiler to take generated C as one that has no vectors would."""


def write(files, folder):
    """Writes the files and returns their paths."""
    paths = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
        paths.append(path)
    return paths


def tool(*names):
    """The first of some programs that is installed; the test skips without."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"{' or '.join(names)} is not installed")
    return found


def run(*command, cwd):
    """What a program prints; a failure shows what it said."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000] + done.stdout[:2000]
    return done.stdout


def listed_functions(module, split, vectors=False, **options):
    """The functions under the names that the printer gives them, in order."""
    from torseur.computation.codegen.sources.identifiers import Names

    names = Names(**options)
    return module.functions(names, split, vectors)


def run_c(module: Module, folder, points):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler is installed")
    header, source = write(generate_files(module, "c"), folder)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-function", "-Wno-unused-parameter"]
    run(compiler.path, *strict, "-O1", "-fPIC", "-shared", source.name, "-o", "c.so", "-lm", cwd=folder)
    own = source.stem
    library = ctypes.CDLL(str(folder / "c.so"))
    names = [line.split("(")[0].split()[-1] for line in header.read_text().splitlines() if line.startswith("void ")]
    assert all(name.startswith(f"{own}_") for name in names)
    return called(module, names, library, points, "C", vectors=True)


def run_cpp(module: Module, folder, points):
    compiler = tool("g++", "clang++")
    (header,) = write(generate_files(module, "cpp"), folder)
    text = header.read_text()
    own = header.stem
    names = [line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("inline void ")]
    wrappers = "".join(_wrapper(own, k, name, count) for k, (name, count) in enumerate(_signatures(text, names)))
    (folder / "wrap.cpp").write_text(f'#include "{header.name}"\n#include "{header.name}"\n{wrappers}')
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-parameter"]
    run(compiler, *strict, "-O1", "-fPIC", "-shared", "wrap.cpp", "-o", "cpp.so", cwd=folder)
    library = ctypes.CDLL(str(folder / "cpp.so"))
    return called(module, [f"wrapped_{k}" for k in range(len(names))], library, points, "C")


def _signatures(text, names):
    for name in names:
        line = next(line for line in text.splitlines() if line.startswith(f"inline void {name}("))
        yield name, line.count("TORSEUR_RESTRICT")


def _wrapper(own, k, name, count):
    parameters = ", ".join(f"double *a{i}" for i in range(count))
    arguments = ", ".join(f"a{i}" for i in range(count))
    return f'extern "C" void wrapped_{k}({parameters}) {{ {own}::{name}<double>({arguments}); }}\n'


def run_cuda(module: Module, folder, points):
    """The device functions compiled as plain C++, the same text that runs on the GPU, for one state."""
    compiler = tool("g++", "clang++")
    header, _ = write(generate_files(module, "cuda"), folder)
    lines = [line for line in header.read_text().splitlines() if line.startswith("TORSEUR_DEVICE void ")]
    wrappers, own = [], header.stem
    for line in lines:
        name = line.split("(")[0].split()[-1]
        if name != "sine_cosine" and not name.endswith("_"):
            wrappers.append(_cuda_wrapper(own, len(wrappers), name, line))
    (folder / "wrap.cpp").write_text(f'#include "{header.name}"\n#include "{header.name}"\n{"".join(wrappers)}')
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-parameter", "-Wno-unused-function"]
    run(compiler, *strict, "-O1", "-fPIC", "-shared", "wrap.cpp", "-o", "cuda.so", cwd=folder)
    library = ctypes.CDLL(str(folder / "cuda.so"))
    return called(module, [f"wrapped_{k}" for k in range(len(wrappers))], library, points, "C")


def _cuda_wrapper(own, k, name, line):
    scratch = line.endswith("TORSEUR_RESTRICT scratch) {")
    count = line.count("TORSEUR_RESTRICT") - scratch
    parameters = ", ".join(f"double *a{i}" for i in range(count))
    arguments = [f"a{i}" for i in range(count)] + ["1"] + ["scratch"] * scratch
    room = f"double scratch[{own}::{name}_scratch_size]; " if scratch else ""
    call = f"{room}{own}::{name}<double>({', '.join(arguments)});"
    return f'extern "C" void wrapped_{k}({parameters}) {{ {call} }}\n'


def run_fortran(module: Module, folder, points):
    compiler = tool("gfortran")
    (source,) = write(generate_files(module, "fortran"), folder)
    strict = ["-std=f2008", "-Wall", "-Wextra", "-Werror", "-Wno-unused-dummy-argument", "-Wno-unused-variable"]
    # gfortran warns of results that a piece of a long function leaves to the other pieces, and of comparisons.
    run(compiler, *strict, "-Wno-compare-reals", "-O1", "-fPIC", "-shared", source.name, "-o", "f.so", cwd=folder)
    library = ctypes.CDLL(str(folder / "f.so"))
    lines = [line.strip() for line in source.read_text().splitlines()]
    names = [line.split("::")[1].strip() for line in lines if line.startswith("public ::")]
    symbols = [f"__{source.stem.lower()}_MOD_{name.lower()}" for name in names]
    symbols = [symbol for symbol in symbols if hasattr(library, symbol) and not symbol.endswith("_MOD_parameters")]
    return called(module, symbols, library, points, "F")


def module_functions(module, vectors=False) -> list[Function]:
    return listed_functions(module, True, vectors)


def called(module, symbols, library, points, order, vectors=False):
    """Calls through ctypes: for each function its preparation, where there is one, then the function."""
    functions = module_functions(module, vectors)
    results = []
    for values in points:
        remaining = iter(symbols)
        results.append([_call(function, remaining, library, values, order) for function in functions])
    return results


def _call(function, symbols, library, values, order):
    given = {name: np.array(value, dtype=float) for name, value in values.items()}
    for part in [function.prepare, function.evaluate]:
        if part is None:
            continue
        outputs = [np.full(o.shape or (1,), np.nan, order=order) for o in part.outputs]
        arrays = [given[group.name] for group in part.inputs] + outputs
        symbol = getattr(library, next(symbols))
        symbol.restype = None
        symbol(*[array.ctypes.data_as(POINTER) for array in arrays])
        if part is function.prepare:
            given["prepared"] = outputs[0]
    return [np.array(output).reshape(o.shape) for output, o in zip(outputs, function.program.outputs, strict=True)]


def run_python(module: Module, folder, points):
    (path,) = write(generate_files(module, "python"), folder)
    return _imported(module, path, points)


def run_jax(module: Module, folder, points):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    (path,) = write(generate_files(module, "jax"), folder)
    return _imported(module, path, points, jax.jit)


def _imported(module, path, points, wrap=lambda function: function):
    spec = importlib.util.spec_from_file_location("generated", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    names = [line[4:].split("(")[0] for line in path.read_text().splitlines() if line.startswith("def ")]
    names = names[len(names) - len(module.programs) :]  # what they call stands before them
    sizes = [len(program.operations) for program in module.programs]
    # JAX takes long to compile long functions; they are run as they are.
    given = [getattr(loaded, name) for name in names]
    functions = [wrap(f) if size < 1000 else f for f, size in zip(given, sizes, strict=True)]
    with np.errstate(all="ignore"):
        return [[_outputs(p, f, values) for p, f in zip(module.programs, functions, strict=True)] for values in points]


def _outputs(program, function, values):
    found = function(*[np.array(values[group.name], dtype=float) for group in program.inputs])
    found = found if isinstance(found, tuple) else (found,)
    return [np.asarray(array, dtype=float) for array in found]


def run_matlab(module: Module, folder, points):
    octave = tool("octave-cli", "octave")
    paths = write(generate_files(module, "matlab"), folder)
    package = paths[0].parent.name.removeprefix("+")
    names = [path.stem for path in paths if path.stem != "parameters"]
    lines = []
    for values in points:
        for program, name in zip(module.programs, names, strict=True):
            given = ", ".join(_column(values[group.name]) for group in program.inputs)
            results = ", ".join(f"r{k}" for k in range(len(program.outputs)))
            lines.append(f"[{results}] = {package}.{name}({given});")
            # The dimensions are turned round, because the numbers are printed in the order of columns.
            lines += [
                f"printf('%.17g ', permute(r{k}, {list(range(max(2, len(o.shape)), 0, -1))})); printf('\\n');"
                for k, o in enumerate(program.outputs)
            ]
    (folder / "main.m").write_text("\n".join(lines) + "\n")
    printed = iter(run(octave, "--no-init-file", "main.m", cwd=folder).splitlines())
    return [[[_read(next(printed), o.shape) for o in program.outputs] for program in module.programs] for _ in points]


def _column(numbers):
    return f"[{'; '.join(repr(float(x)) for x in numbers)}]" if len(numbers) else "zeros(0, 1)"


def _read(line, shape):
    return np.array([float(word) for word in line.split()]).reshape(shape)


RUNNERS = {
    "c": run_c,
    "cpp": run_cpp,
    "cuda": run_cuda,
    "fortran": run_fortran,
    "python": run_python,
    "jax": run_jax,
    "matlab": run_matlab,
}


def expected(module, values):
    """The same by walking the graph: the reference for every target."""
    results = []
    for program in module.programs:
        found = program.evaluate({group.name: values[group.name] for group in program.inputs})
        results.append([np.array(found[o.name], dtype=float).reshape(o.shape) for o in program.outputs])
    return results


def agree(module, target, folder, points, tolerance=1e-12):
    """Checks a target against the graph at some points."""
    found = RUNNERS[target](module, folder, points)
    for values, results in zip(points, found, strict=True):
        for program, ours, theirs in zip(module.programs, expected(module, values), results, strict=True):
            for output, a, b in zip(program.outputs, ours, theirs, strict=True):
                assert a.shape == b.shape, (target, program.name, output.name)
                scale = max(1.0, np.abs(a).max(initial=0.0))
                wrong = np.abs(a - b).max(initial=0.0) / scale
                assert wrong < tolerance, (target, program.name, output.name, wrong, json.dumps(a.tolist())[:200])
