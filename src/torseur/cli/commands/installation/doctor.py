"""`torseur doctor`: what is installed here, what it can do, and whether it works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from torseur.cli.shared.exits import end_with
from torseur.cli.shared.options import JsonOption

# A pendulum of length g/(4 π²) let go at 90° swings once in 1.18034059901609622604... s: K(1/2) 2/π, by the arithmetic-
# geometric mean (Gauss); after a whole swing it is back at rest where it began.
PENDULUM = """
param g = 9.81 m/s^2 ;
let l = g*(1 s/(2*pi))^2 ;
gravity = [0, -g, 0] ;
let bob = body mass = 1 kg, centre = [0, -l, 0], inertia = 0 end ;
join earth and bob.frame as pivot with revolute(q) about [0,0,1] end ;
init q = 90 deg ;
"""
SWING = 1.18034059901609622604
CLOSE = 1e-7
SAME = 1e-12


@dataclass(frozen=True)
class Trial:
    """One question of the self-test: how far the answer is off, what that may be, and how long it took."""

    asked: str
    error: float
    limit: float
    seconds: float
    fault: str = ""

    @property
    def is_passed(self) -> bool:
        return not self.fault and self.error <= self.limit


def doctor(json: JsonOption = False) -> None:
    """Show what is installed, which backends there are and where compiled code is cached, and run a short self-test.

    Ends with 1 when the self-test fails. Paste its output into bug reports.

    Example: torseur doctor
    """
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.extras import extras, install_command

    machine, backends, kept, trials = _machine(), _backends(), _cache(), _self_test()
    if json:
        optional = [
            {"name": e.name, "for": e.purpose, "packages": e.packages, "install": install_command(e.name)}
            for e in extras()
        ]
        tests = [{**vars(trial), "passed": trial.is_passed} for trial in trials]
        print_json({**machine, "backends": backends, "extras": optional, "cache": kept, "self_test": tests})
    else:
        say("\n".join(f"{name:<8} {text}" for name, text in machine.items()) + "\n")
        show_table("Backends", ("", "", "for"), [(b["name"], b["state"], b["for"]) for b in backends])
        show_table("Optional packages", ("set", "", "for"), [
            (e.name, _versions(e.packages), e.purpose if e.is_there else f"{e.purpose}: {install_command(e.name)}")
            for e in extras()
        ])  # fmt: skip
        say(f"Cache    {kept['folder']}: {kept['state']}\n")
        show_table("Self-test", ("", "", "error", "seconds"), [
            (t.asked, "ok" if t.is_passed else t.fault or "FAILED", f"{t.error:.1e}", f"{t.seconds:.2f}")
            for t in trials
        ], numeric=(2, 3))  # fmt: skip
    end_with([trial.asked for trial in trials if not trial.is_passed])


def _machine() -> dict[str, str]:
    import platform
    import sys

    import torseur
    from torseur.cli.shared.output_files import version

    return {
        "torseur": f"{version()} in {Path(torseur.__file__).parent}",
        "Python": f"{platform.python_version()} in {sys.prefix}",
        "machine": f"{platform.system()} {platform.release()}, {platform.machine()}",
    }


def _versions(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {found or 'missing'}" for name, found in packages.items())


def _backends() -> list[dict[str, str]]:
    """Ways to run generated code, and what each needs."""
    import shutil
    from importlib.util import find_spec

    from torseur.computation.codegen.targets.c.c_compiler import find_compiler

    compiler = find_compiler()
    has_driver = shutil.which("nvidia-smi") is not None
    gpu = "CuPy is missing" if find_spec("cupy") is None else "ready" if has_driver else "no NVIDIA driver was found"
    fortran = shutil.which("gfortran")
    return [
        {"name": "llvm", "state": _package("llvmlite"), "for": "motions and functions; no compiler is needed"},
        {"name": "c", "state": compiler.path if compiler else "no C compiler on PATH", "for": "functions, FMUs"},
        {"name": "fortran", "state": fortran or "no gfortran on PATH", "for": "sources that are checked here"},
        {"name": "cuda", "state": gpu, "for": "rollouts and sweeps on a GPU"},
    ]


def _package(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} is missing: pip install {name}"


def _cache() -> dict[str, object]:
    """Where compiled code is kept, and how much there is."""
    from torseur.cache import cache_folder

    folder = cache_folder()
    if folder is None:
        return {"folder": "none", "state": "switched off by TORSEUR_CACHE", "bytes": 0, "files": 0}
    files = [file for file in folder.glob("*") if file.is_file()] if folder.is_dir() else []
    size = sum(file.stat().st_size for file in files)
    return {
        "folder": str(folder), "state": f"{len(files)} files, {size / 1e6:.1f} MB", "bytes": size, "files": len(files)
    }  # fmt: skip


def _self_test() -> list[Trial]:
    import torseur as ts
    from torseur.computation.codegen.targets.c.c_compiler import find_compiler

    backends = ["python", "llvm", *(["c"] if find_compiler() else [])]
    asked: list[tuple[str, float, Callable[[], float]]] = [
        ("formalisms agree on a double pendulum", SAME, lambda: ts.certify(ts.library.load("double_pendulum")).worst),
        ("a pendulum is back after one swing", CLOSE, _swing),
    ]
    asked += [(f"forward dynamics by {name}", SAME, lambda name=name: _acceleration(name)) for name in backends]  # type: ignore[misc]
    return [_trial(*one) for one in asked]


def _trial(asked: str, limit: float, ask: Callable[[], float]) -> Trial:
    from torseur.errors import TorseurError

    started = perf_counter()
    try:
        error, fault = ask(), ""
    except (TorseurError, ImportError, OSError, RuntimeError) as problem:
        error, fault = float("nan"), str(problem)
    return Trial(asked, error, limit, perf_counter() - started, fault)


def _swing() -> float:
    import torseur as ts

    motion = ts.simulate(ts.parse(PENDULUM), until=SWING, samples=2, rtol=1e-11)
    return abs(motion["q"][-1] / motion["q"][0] - 1.0) + abs(motion["q'"][-1])


def _acceleration(backend: str) -> float:
    """How far the acceleration of the pendulum is from -(g/l) sin q."""
    from math import pi, sin

    import torseur as ts
    from torseur.computation.functions import compile_equations

    kernel = compile_equations(ts.derive(ts.parse(PENDULUM)), ["forward_dynamics"], backend=backend)
    given = {"q": [0.7], "v": [0.3], "tau": [0.0], "p": [9.81], "t": [0.0]}
    answer = kernel(**{group.name: given[group.name] for group in kernel.program.inputs})
    exact = -4 * pi**2 * sin(0.7)
    return abs(float(next(iter(answer.values()))[0]) / exact - 1.0)
