"""The system's C compiler: found, run, and its result loaded."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torseur.cache import cache_key, load, store
from torseur.computation.codegen.kernels.machine_code import Library, Shape
from torseur.errors import CompilationError

# Why no -ffinite-math-only: docs/decisions/0026-no-finite-math-only.md.
FLAGS = (
    "-std=c11",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
)
"""No -ffast-math and no -ffinite-math-only: integrators test for NaN, and dynamics of 400 to 3300 operations gained
between -1 and 3 % from the latter."""

_LEVELS = {Shape.STRAIGHT: "-O2", Shape.LOOPS: "-O2", Shape.LONG_LOOPS: "-O3"}
"""Vectorised loops run four times faster once they are long, and slower when they are short."""

# Why clang before gcc for one state: docs/decisions/0009-sines-first-in-vector-lanes.md.
_CANDIDATES = ("clang", "gcc", "cc")
_FOR_LANES = ("gcc", "clang", "cc")
"""gcc keeps to the order in which values were put for few registers; clang's own order stores several times as many."""
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class CCompiler:
    """A compiler and what identifies its results."""

    path: str
    version: str

    def build(self, source: str, shape: Shape) -> Library:
        """The loaded shared library of a source, compiled or taken from the cache."""
        flags = (_LEVELS[shape], *FLAGS, *_native_flags())
        key = cache_key("c", source, self.version, " ".join(flags), _processor())
        start = time.perf_counter()
        code = load(key)
        cached = code is not None
        if code is None:
            code = self._compile(source, flags)
            store(key, code)
        handle = _load_library(code)
        return Library("c", source, time.perf_counter() - start, cached, handle, _symbol_address)

    def _compile(self, source: str, flags: tuple[str, ...]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="torseur-") as folder:
            text, binary = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            text.write_text(source, encoding="ascii")
            command = [self.path, *flags, "-o", str(binary), str(text), "-lm"]
            try:
                run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError as error:
                raise CompilationError(f"the C compiler '{self.path}' could not be run: {error}.") from error
            if run.returncode != 0:
                raise CompilationError(f"the C compiler '{self.path}' failed:\n{run.stderr[:_LONGEST_MESSAGE]}")
            return binary.read_bytes()


def build(source: str, shape: Shape) -> Library:
    """The loaded code of a source, by the compiler of this machine."""
    compiler = find_compiler()
    if compiler is None:
        raise CompilationError("there is no C compiler on PATH.")
    return compiler.build(source, shape)


def find_compiler(lanes: bool = False) -> CCompiler | None:
    """The compiler of $CC, else clang, gcc or cc on PATH; None when there is none.

    `lanes`: for operations on vectors of states gcc comes first.
    """
    chosen = os.environ.get("CC", "").strip()
    names = (chosen,) if chosen else _FOR_LANES if lanes else _CANDIDATES
    return _find(names, os.environ.get("PATH", ""))


@cache
def _find(names: tuple[str, ...], search_path: str) -> CCompiler | None:
    for name in names:
        path = shutil.which(name, path=search_path)
        if path is not None:
            status = os.stat(os.path.realpath(path))
            return CCompiler(path, f"{os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}")
    return None


def _native_flags() -> tuple[str, ...]:
    """Code for this very processor, which is then part of the cache key."""
    return ("-march=native",) if platform.machine() in ("x86_64", "AMD64") else ()


@cache
def _processor() -> str:
    """What -march=native depends on."""
    if sys.platform != "linux":
        return f"{platform.machine()} {platform.processor()} {platform.release()}"
    lines = Path("/proc/cpuinfo").read_text(errors="replace").split("\n\n")[0].splitlines()
    telling = ("model name", "cpu family", "model", "flags", "Features")
    kept = [line for line in lines if line.split(":")[0].strip() in telling]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()


def _load_library(code: bytes) -> ctypes.CDLL:
    """Loads a library from a private copy, so that the bytes that were checked are the bytes that run."""
    handle, path = tempfile.mkstemp(prefix="torseur-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(code)
        return ctypes.CDLL(path)
    except OSError as error:
        raise CompilationError(
            f"compiled code could not be loaded from '{path}': {error}. Set TMPDIR to a folder from "
            "which code may run, or use backend='llvm'."
        ) from error
    finally:
        with suppress(OSError):
            os.unlink(path)


def _symbol_address(library: ctypes.CDLL, symbol: str) -> int:
    address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    assert address is not None
    return address
