"""Which backend runs: what is there, what was asked for, and what happens when a compiler fails."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.computation.codegen import compile_program, compile_routine
from torseur.computation.codegen.kernels import backends
from torseur.computation.codegen.kernels.backends import choose_backend
from torseur.computation.codegen.routine import routine
from torseur.computation.codegen.targets.c import c_compiler as compiler
from torseur.errors import CompilationError


@routine
def twice(x: float) -> float:
    return 2.0 * x


def program():
    x = symbol("x")
    return Program("f", (Input("x", (x,)),), (vector("y", [3 * x]),))


@pytest.fixture
def no_c(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)


def script(folder, name, text):
    file = folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_without_a_c_compiler_llvm_runs(no_c):
    assert choose_backend("auto") == "llvm"
    compiled = compile_routine(twice, backend="auto")
    assert compiled.backend == "llvm" and compiled(4.0) == 8.0
    assert compile_program(program())(2.0)["y"][0] == 6.0


def test_without_a_c_compiler_c_is_refused(no_c):
    with pytest.raises(CompilationError, match=r"no C compiler.*backend='llvm'"):
        compile_routine(twice, backend="c")


def test_without_llvm_c_runs(monkeypatch):
    if compiler.find_compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(backends, "_has_llvm", lambda: False)
    assert choose_backend("auto") == "c"
    assert compile_routine(twice)(4.0) == 8.0
    with pytest.raises(CompilationError, match="llvmlite is not installed"):
        compile_routine(twice, backend="llvm")


def test_without_any_compiler_python_runs(monkeypatch, no_c):
    monkeypatch.setattr(backends, "_has_llvm", lambda: False)
    compiled = compile_routine(twice)
    assert compiled.backend == "python" and compiled(4.0) == 8.0
    kernel = compile_program(program())
    assert kernel.backend == "python" and kernel(2.0)["y"][0] == 6.0


def test_unknown_backend():
    with pytest.raises(CompilationError, match=r"unknown backend 'lvm'.*Did you mean 'llvm'"):
        compile_routine(twice, backend="lvm")


@pytest.mark.skipif(os.name != "posix", reason="shell scripts")
def test_compiler_of_the_environment(monkeypatch, tmp_path):
    real = compiler.find_compiler()
    if real is None:
        pytest.skip("no C compiler")
    mark = tmp_path / "used"
    script(tmp_path, "mycc", f'touch "{mark}"\nexec "{real.path}" "$@"\n')
    monkeypatch.setenv("CC", str(tmp_path / "mycc"))
    assert compile_routine(twice, backend="c")(1.5) == 3.0
    assert mark.exists()


@pytest.mark.skipif(os.name != "posix", reason="shell scripts")
def test_compiler_that_fails(monkeypatch, tmp_path):
    script(tmp_path, "clang", 'echo "kernel.c:1: out of patience" >&2\nexit 1\n')
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + "/usr/bin" + os.pathsep + "/bin")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(CompilationError, match="out of patience"):
        compile_routine(twice, backend="c")
    assert compile_routine(twice, backend="auto")(1.0) == 2.0


def test_llvm_that_fails_hands_over_to_c(monkeypatch):
    if compiler.find_compiler() is None:
        pytest.skip("no C compiler")
    import torseur.computation.codegen.targets.llvm.llvm_compiler as target

    def refuses(source, shape):
        raise CompilationError("LLVM refused")

    monkeypatch.setattr(target, "build", refuses)
    assert compile_routine(twice, backend="auto").backend == "c"
    with pytest.raises(CompilationError, match="LLVM refused"):
        compile_routine(twice, backend="llvm")


@pytest.mark.slow
def test_code_outlives_the_objects_that_made_it(compiled_backend):
    """The function keeps the machine code alive, whatever else is collected."""
    import gc

    kernels = [compile_program(program(), compiled_backend) for _ in range(3)]
    last = kernels.pop()
    kernels.clear()
    gc.collect()
    assert np.allclose(last(5.0)["y"], 15.0)
