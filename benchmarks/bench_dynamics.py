"""Generated code beside other programs: inverse and forward dynamics, mass matrix, derivatives; one state, and batches.

Run: python benchmarks/bench_dynamics.py [--short] [--robots panda,talos] [--functions "mass matrix"] [--out FILE]

Every function is checked against an evaluation in 50 digits before it is timed, the peers' too. All are timed in this
process on one core, one after the other in rounds, on the same 128 states: each twice, of which the second counts, so
that its code and data are in the caches; the best round counts. The peers: Pinocchio in C++ (header-only, -O3
-march=native, the faster of its two conventions), MuJoCo's C library, CasADi's generated C, SymPy's lambdify. What is
not installed is skipped, and the table says so. --short times the robots that come with the tests against what needs
no long compilation.

Not proven here: other processors and compilers, batches that do not fit the caches, threads, closed loops; that peers
could not be made faster by somebody who knows them better. MuJoCo does more than the equations of motion in each call.
Called from Python, a kernel takes five microseconds whatever it computes, which is all that the last line shows.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

import mpmath
import numpy as np
from peers import robots
from peers.casadi_c import CasADi
from peers.limits import Limits, measured
from peers.mujoco_c import MuJoCo
from peers.own_c import STATES, Ours, States, joined
from peers.pinocchio_cpp import Pinocchio, library, missing
from peers.sympy_python import lambdified_pendulum

import torseur as ts
from torseur.algebra.graph import Input, Program
from torseur.computation.codegen.targets.c.c_compiler import FLAGS, find_compiler
from torseur.computation.codegen.targets.c.c_unit import programs_source
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import forces_of

HERE = Path(__file__).parent
DIGITS, EXACT_STATES = 50, 2
FUNCTIONS = {
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    "mass matrix": "mass_matrix_triangle",
    "d inverse dynamics": "inverse_dynamics/displacement,v",
    "d forward dynamics": "forward_dynamics/displacement,v,tau",
}


@dataclass
class Line:
    """One function of one robot: operations, seconds to generate and compile, errors, and nanoseconds per state.

    `limits` are those that a batch's products and its stores would take alone.
    """

    robot: str
    function: str
    operations: int
    generation: float
    compilation: float = 0.0
    errors: dict[str, float] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    limits: tuple[float, float] | None = None


def states_of(equations: ts.Equations) -> States:
    random = np.random.default_rng(1)
    layout, n = equations.layout, len(equations.layout.speeds)
    q = random.uniform(-3, 3, (STATES, len(layout.coordinates)))
    theirs = q
    if equations.tree.links[0].symbols.quaternion:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        theirs = np.ascontiguousarray(q[:, [0, 1, 2, 4, 5, 6, 3, *range(7, q.shape[1])]])
    return States(q, random.uniform(-1, 1, (STATES, n)), random.uniform(-1, 1, (STATES, n)), theirs)


def program(equations: ts.Equations, request: str) -> Program:
    """The function with the same three inputs whatever it needs."""
    (found,) = programs_of(equations, [request])
    return with_three_inputs(equations, found, request)


def with_three_inputs(equations: ts.Equations, found: Program, request: str) -> Program:
    layout = equations.layout
    third = forces_of(equations) if request.startswith("forward") else layout.accelerations
    inputs = (Input("q", layout.coordinates), Input("v", layout.speeds), Input("a", third))
    solved = found.solved
    staged = None if solved is None else replace(solved, program=with_inputs(solved.program, inputs))
    return replace(with_inputs(found, inputs), solved=staged)


def with_inputs(given: Program, inputs: tuple[Input, ...]) -> Program:
    simd = None if given.simd is None else Program("f", inputs, given.simd.outputs)
    return Program("f", inputs, given.outputs, simd=simd)


def compiled_harness(folder: Path) -> ctypes.CDLL:
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit("there is no C compiler, so there is nothing to time.")
    target = folder / "harness.so"
    subprocess.run(
        [compiler.path, "-O2", "-shared", "-fPIC", str(HERE / "peers" / "harness.c"), "-o", str(target)], check=True
    )
    dll = ctypes.CDLL(str(target))
    for name in ("time_scalar", "time_batch", "time_casadi", "time_mujoco"):
        getattr(dll, name).restype = ctypes.c_double
    return dll


def exact_values(given: Program, states: States) -> list[np.ndarray]:
    """The first states in 50 digits."""
    found = []
    with mpmath.workdps(DIGITS):
        for i in range(EXACT_STATES):
            values = {k: [mpmath.mpf(float(x)) for x in getattr(states, k)[i]] for k in "qva"}
            found.append(np.array([float(x) for x in joined(given).evaluate(values)["out"]]))
    return found


def error(found: list[np.ndarray], exact: list[np.ndarray]) -> float:
    """The largest error, relative to the largest entry."""
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, exact, strict=True))


def measure(
    robot: str, label: str, equations: ts.Equations, harness, peers: Peers, rounds: int, limits: Limits
) -> Line:
    begin = time.process_time()
    (found,) = programs_of(equations, [FUNCTIONS[label]])
    programs_source({"results": found})
    spent = time.process_time() - begin
    given = with_three_inputs(equations, found, FUNCTIONS[label])
    line = Line(robot, label, len(given.operations), spent)
    line.limits = limits.products(given), limits.stores(given)
    states = states_of(equations)
    ours = Ours(harness, given, states)
    line.compilation = ours.seconds
    exact = exact_values(given, states)
    line.errors["torseur"] = error([ours.evaluate(i) for i in range(EXACT_STATES)], exact)
    line.errors["torseur, batch"] = error([ours.evaluate_batch(i) for i in range(EXACT_STATES)], exact)
    contenders: dict[str, Callable[[], float]] = {"torseur": ours.time, "torseur, batch": ours.time_batch}
    contenders |= peers.contenders(label, states, exact, line, ours.out)
    best = {name: float("inf") for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            run()  # its code and data come into the caches, from which the one before has driven them
            best[name] = min(best[name], run())
    line.times = {name: 1e9 * seconds / STATES for name, seconds in best.items()}
    return line


class Peers:
    """The other programs that are here, for one robot."""

    def __init__(
        self, equations: ts.Equations, folder: Path, harness: ctypes.CDLL, short: bool, notes: list[str]
    ) -> None:
        self.harness, self.equations = harness, equations
        self.links = robots.link_data(equations)
        self.fixed = all(link.kind != "free" for link in self.links)
        why = "left out of the short form" if short else missing()
        self.pinocchio = None if why else Pinocchio(library(HERE / ".build"), self.links, folder)
        self._note(notes, "Pinocchio", why)
        self.mujoco = self._made(notes, "MuJoCo", lambda: MuJoCo(equations, folder)) if self.fixed else None
        self.casadi = self._made(notes, "CasADi", lambda: self._casadi(folder)) if self.fixed else None

    def _casadi(self, folder: Path) -> CasADi:
        compiler = find_compiler()
        assert compiler is not None
        flags = ["-O2", "-march=native", *(f for f in FLAGS if f.startswith("-f") and "visibility" not in f)]
        return CasADi(self.links, folder, compiler.path, flags)

    def _made(self, notes: list[str], name: str, make: Callable[[], object]):
        try:
            return make()
        except Exception as problem:  # whatever a peer dislikes, the others are timed
            self._note(notes, name, f"{self.equations.mechanism.name}: {type(problem).__name__}: {problem}"[:200])
            return None

    @staticmethod
    def _note(notes: list[str], name: str, why: str) -> None:
        if why and f"{name}: {why}" not in notes:
            notes.append(f"{name}: {why}")

    def contenders(self, label: str, states: States, exact: list[np.ndarray], line: Line, out: np.ndarray):
        found: dict[str, Callable[[], float]] = {}
        if self.pinocchio is not None:
            function = list(FUNCTIONS).index(label)
            line.errors["Pinocchio"] = error(self._pinocchio(function, states, len(exact)), exact)
            found["Pinocchio"] = lambda: self.pinocchio.time(function, states.theirs, states.v, states.a)
        request = FUNCTIONS[label]
        if self.mujoco is not None and request in ("inverse_dynamics", "forward_dynamics"):
            rows = [self.mujoco.evaluate(request, states.q[i], states.v[i], states.a[i]) for i in range(len(exact))]
            line.errors["MuJoCo"] = error(rows, exact)
            found["MuJoCo"] = lambda: self.mujoco.time(self.harness, request, states.q, states.v, states.a)
        if self.casadi is not None and request == "inverse_dynamics":
            rows = [
                np.array(self.casadi.function(states.q[i], states.v[i], states.a[i])).ravel() for i in range(len(exact))
            ]
            line.errors["CasADi"] = error(rows, exact)
            found["CasADi"] = lambda: self.casadi.time(self.harness, states.q, states.v, states.a, out)
        return found

    def _pinocchio(self, function: int, states: States, count: int) -> list[np.ndarray]:
        n = states.v.shape[1]
        rows = []
        for i in range(count):
            out = np.zeros(3 * n * n)
            self.pinocchio.evaluate(function, states.theirs[i], states.v[i], states.a[i], out)
            size = {0: n, 1: n, 2: n * n, 3: 2 * n * n, 4: 3 * n * n}[function]
            found = out[:size]
            rows.append(found.reshape(n, n)[np.tril_indices(n)] if function == 2 else found)
        return rows


def sympy_line(rounds: int) -> Line:
    """Inverse dynamics of the double pendulum from Python, by a kernel and by SymPy's lambdify."""
    size, wrong, times = lambdified_pendulum(20 * rounds)
    line = Line("double pendulum, from Python", "inverse dynamics", size, 0.0, errors={"torseur": wrong})
    line.times = {name: 1e9 * seconds for name, seconds in times.items()}
    return line


def table(lines: list[Line], notes: list[str], limits: Limits) -> str:
    compiler = find_compiler()
    version = subprocess.run([compiler.path, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    text = ["# Generated code beside other programs", "", f"- machine: {_processor()}, {platform.system()}"]
    text += [f"- compiler: {version}; {' '.join(FLAGS)} -O2 -march=native"]
    text += [f"- versions: Python {platform.python_version()}, " + ", ".join(_versions())]
    text += [f"- {note}" for note in notes]
    text += [
        "",
        "Operations of the straight-line form; seconds of CPU to derive and print it and to compile it, for one state;",
        "nanoseconds per state, best of many rounds on a shared machine; in brackets, times torseur's function for",
        "one state and times its batches of 8. Limbs that are alike are computed side by side for one state. Batches",
        "are compiled with gcc where it is there, for AVX-512 where the processor has it; entries that are the same in",
        "every state (zeros between limbs) are written once, before the clock starts, as Pinocchio does in its data.",
        "Behind a batch's time stand two limits of this processor, measured in the same run: its products alone, each",
        f"with a sum, {limits.product:.3f} ns for eight numbers; and its results alone, each {limits.store:.3f} ns.",
        "The first gives the ratio to Pinocchio that these operations could reach at most, behind the one reached.",
        "A store takes a product's place for about a cycle (seen on Zen 4), so that what writes much stays further",
        "off. Derivatives of a humanoid's forward dynamics cannot reach 30 times Pinocchio with these operations.",
        "Batches of long derivatives of forward dynamics solve their columns limb by limb, with a tenth more products",
        "than the straight-line form that is counted here.",
        "",
    ]
    peers = [n for n in ("Pinocchio", "MuJoCo", "CasADi", "SymPy lambdify") if any(n in line.times for line in lines)]
    head = [
        "robot",
        "function",
        "operations",
        "generated",
        "compiled",
        "torseur",
        "batch of 8 (products, stores)",
        *peers,
        "errors",
    ]
    text += [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    text += [f"| {' | '.join(_cells(line, peers))} |" for line in lines]
    text += ["", "Errors are relative to the largest entry, against 50 digits, in the order of the columns.", ""]
    return "\n".join([*text, "## What this does not prove", "", *_doubts(), ""])


def _cells(line: Line, peers: list[str]) -> list[str]:
    own = line.times["torseur"]
    batch = line.times.get("torseur, batch")
    cells = [line.robot, line.function, str(line.operations), f"{line.generation:.3f} s", f"{line.compilation:.2f} s"]
    cells += [f"{own:.1f}", "" if batch is None else f"{batch:.1f} ({_limits(line)})"]
    for name in peers:
        if name not in line.times:
            cells.append("")
        else:
            per_batch = "" if batch is None else f", batch {line.times[name] / batch:.1f}"
            if name == "Pinocchio" and line.limits:
                per_batch += f" of {line.times[name] / line.limits[0]:.1f}"
            cells.append(f"{line.times[name]:.1f} ({line.times[name] / own:.1f}{per_batch})")
    return [*cells, ", ".join(f"{e:.0e}" for e in line.errors.values())]


def _limits(line: Line) -> str:
    return ", ".join(f"{limit:.1f}" for limit in line.limits or ())


def _doubts() -> list[str]:
    return [paragraph.strip() for paragraph in (__doc__ or "").split("\n\n")[-1:]]


def _processor() -> str:
    for text in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if text.startswith("model name"):
            return text.split(":")[1].strip()
    return platform.processor() or platform.machine()


def _versions() -> list[str]:
    found = []
    for name in ("torseur", "numpy", "pin", "mujoco", "casadi", "sympy"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return found


def main(arguments: list[str] | None = None) -> str:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--short", action="store_true", help="a minute: robots of the tests, no long compilation")
    parser.add_argument("--out", type=Path, default=None, help="where the table goes")
    parser.add_argument("--robots", help="only these, separated by commas; the table is written to --out only")
    parser.add_argument("--functions", help="only these, separated by commas; the table is written to --out only")
    options = parser.parse_args(arguments)
    names = ["ur5", "solo12"] if options.short else ["panda", "anymal", "talos"]
    names = options.robots.split(",") if options.robots else names
    labels = options.functions.split(",") if options.functions else list(FUNCTIONS)
    rounds = 5 if options.short else 60
    lines, notes = [], []
    os.environ["TORSEUR_CACHE"] = "off"  # compile times are measured too
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        harness = compiled_harness(folder)
        limits = measured(find_compiler().path, folder)
        for robot in names:
            equations = robots.load(robot, folder)
            if equations is None:
                notes.append(f"{robot}: its file is not here (pip install example-robot-data)")
                continue
            peers = Peers(equations, folder, harness, options.short, notes)
            for label in labels:
                lines.append(measure(robot, label, equations, harness, peers, rounds, limits))
                print(" | ".join(_cells(lines[-1], list(peers_of(lines[-1])))), flush=True)
    chosen = bool(options.robots or options.functions)
    if not chosen:
        lines.append(sympy_line(1 if options.short else 10))
    text = table(lines, notes, limits)
    if chosen and options.out is None:
        return text
    out = options.out or HERE / "results" / ("dynamics_short.md" if options.short else "dynamics.md")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    print(f"written: {out}")
    return text


def peers_of(line: Line) -> list[str]:
    return [name for name in line.times if not name.startswith("torseur")]


if __name__ == "__main__":
    main(sys.argv[1:])
