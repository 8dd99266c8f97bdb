"""Functions of robots with every mass, mass centre and inertia live, beside the same with their numbers in the code.

Run: python benchmarks/bench_live_parameters.py [--short] [--out FILE]

What depends on parameters only is computed by a function of its own, once per set of parameters. Both forms are checked
against an evaluation in 50 digits, then timed in this process on one core, one after the other in rounds, on the same
128 states; the best round counts. From round to round code, stack, results and prepared numbers move in memory: the
same code takes up to a fifth longer where addresses happen to get into each other's way.

Not proven here: other processors and compilers, parameters that change with every state (then the time of the
preparation counts too), live rotations.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import mpmath
import numpy as np
from bench_dynamics import DIGITS, EXACT_STATES, FUNCTIONS, STATES, States, compiled_harness, error, states_of
from peers import robots
from peers.own_c import pointers

import torseur as ts
from torseur.algebra.graph import Input, Program, as_expr, symbol
from torseur.computation.codegen.kernels.machine_code import Shape
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.codegen.targets.c.c_unit import programs_source
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import forces_of
from torseur.description.mechanism import Body, Mechanism
from torseur.description.mechanism.bodies import INERTIA_COMPONENTS, InertiaMatrix
from torseur.description.mechanism.frames import Placement

HERE = Path(__file__).parent
SPREAD = 512
"""Numbers in a page of memory: places that differ by less are tried."""

PASSES = 6
"""Rounds at one place."""

COPIES = 6
"""Places where the code is loaded."""


@dataclass(frozen=True)
class Live:
    """A mechanism whose inertias are parameters, and their values."""

    mechanism: Mechanism
    values: dict[str, float]


def with_live_inertias(mechanism: Mechanism) -> Live:
    """Every mass, mass centre and inertia of a body that has some as a parameter of its own."""
    values: dict[str, float] = {}
    bodies = [body if body.mass is None or body.mass.is_zero else _live(body, values) for body in mechanism.bodies]
    return Live(replace(mechanism, bodies=tuple(bodies)), values)


def _live(body: Body, values: dict[str, float]) -> Body:
    def named(what: str, value: object) -> object:
        values[f"{body.name}.{what}"] = float(as_expr(value))
        return symbol(f"{body.name}.{what}")

    place = body.iframe or Placement()
    centre = tuple(named(f"centre.{axis}", x) for axis, x in zip("xyz", place.position, strict=True))
    assert body.inertia is not None and not body.solids
    components = zip(INERTIA_COMPONENTS, body.inertia.components, strict=True)
    matrix = InertiaMatrix(tuple(named(f"I{name}", x) for name, x in components), body.inertia.about)
    return replace(body, mass=named("mass", body.mass), iframe=replace(place, position=centre), inertia=matrix)


class Compiled:
    """A function of a mechanism compiled for single states, its parameters prepared."""

    def __init__(self, equations: ts.Equations, request: str, values: dict[str, float]) -> None:
        (found,) = programs_of(equations, [request])
        self.program = _with_all_inputs(equations, found, request)
        self.parameters = np.array([values[name] for name in equations.layout.parameter_names])
        self.size = sum(len(output) for output in self.program.outputs)
        compiler = find_compiler()
        assert compiler is not None
        parts = {"results": self.program}
        if len(self.parameters):
            prepare, per_state = self.program.split(["p"])
            parts = {"results_prepare": prepare, "results": per_state}
        self.prepared_size = len(parts["results_prepare"].outputs[0]) if len(self.parameters) else 0
        source = programs_source(parts) + self._wrapper()
        self._libraries = [compiler.build(source, Shape.STRAIGHT) for _ in range(COPIES)]
        self._rooms = [np.zeros(n + SPREAD) for n in (self.size, self.prepared_size)]
        self.move(0)

    def move(self, place: int) -> None:
        """Code, stack, results and prepared numbers at another place in memory."""
        self.depth = 8 * (place % SPREAD)
        self.library = self._libraries[place % COPIES]
        self.out, self.prepared = (room[place % SPREAD :] for room in self._rooms)
        if len(self.parameters):
            self.library.function("f_prepare", None)(*pointers(self.parameters, self.prepared))

    def _wrapper(self) -> str:
        places, start = [], 0
        for output in self.program.outputs:
            places.append(f"out + {start}")
            start += len(output)
        head = "TORSEUR_EXPORT void f(const double *q, const double *v, const double *a, double *out) "
        head += "{ results(q, v, a, "
        if not len(self.parameters):
            return f"{head}{', '.join(places)}); }}\n"
        kept = "static const double *prepared;\nTORSEUR_EXPORT void f_prepare(const double *p, double *room) "
        kept += "{ results_prepare(p, room); prepared = room; }\n"
        return f"{kept}{head}prepared, {', '.join(places)}); }}\n"

    def time(self, harness, states: States, count: int = STATES) -> float:
        sizes = count, states.q.shape[1], states.v.shape[1]
        function, arrays = self.library.function("f", None), (states.q, states.v, states.a, self.out)
        harness.time_deeper.restype = ctypes.c_double
        return float(harness.time_deeper(self.depth, function, *sizes, *pointers(*arrays)))

    def time_preparation(self, harness) -> float:
        """Seconds of one preparation: the harness calls it with the parameters and their room in the places of q, v."""
        function = self.library.function("f_prepare", None)
        given = pointers(self.parameters, self.prepared, self.parameters, self.out)
        return float(harness.time_scalar(function, STATES, 0, 0, *given)) / STATES

    def errors(self, harness, states: States) -> float:
        """The largest error of a few states, against 50 digits."""
        found, exact = [], []
        for i in range(EXACT_STATES):
            one = States(*(np.ascontiguousarray(x[i : i + 1]) for x in (states.q, states.v, states.a, states.theirs)))
            self.time(harness, one, 1)
            found.append(self.out[: self.size].copy())
            exact.append(self._exact(one))
        return error(found, exact)

    def _exact(self, one: States) -> np.ndarray:
        given = {"q": one.q[0], "v": one.v[0], "a": one.a[0], "p": self.parameters}
        with mpmath.workdps(DIGITS):
            values = {g.name: [mpmath.mpf(float(x)) for x in given[g.name]] for g in self.program.inputs}
            return np.array([float(x) for entries in self.program.evaluate(values).values() for x in entries])


def _with_all_inputs(equations: ts.Equations, found: Program, request: str) -> Program:
    layout = equations.layout
    third = forces_of(equations) if request.startswith("forward") else layout.accelerations
    inputs = [Input("q", layout.coordinates), Input("v", layout.speeds), Input("a", third)]
    if layout.parameters:
        inputs.append(Input("p", layout.parameters))
    solved = found.solved
    if solved is not None:
        solved = replace(solved, program=_with_inputs(solved.program, tuple(inputs)))
    return replace(_with_inputs(found, tuple(inputs)), solved=solved)


def _with_inputs(program: Program, inputs: tuple[Input, ...]) -> Program:
    simd = None if program.simd is None else Program("f", inputs, program.simd.outputs)
    return Program("f", inputs, program.outputs, simd=simd)


@dataclass(frozen=True)
class Line:
    """One function of one robot, baked and live: operations per state, errors, nanoseconds."""

    robot: str
    function: str
    operations: tuple[int, int]
    prepared: int
    nanoseconds: tuple[float, float]
    preparation: float
    errors: tuple[float, float]

    @property
    def ratio(self) -> float:
        return self.nanoseconds[1] / self.nanoseconds[0]

    @property
    def cells(self) -> list[str]:
        times = [f"{t:.1f}" for t in self.nanoseconds]
        counts = [str(n) for n in self.operations]
        wrong = ", ".join(f"{e:.0e}" for e in self.errors)
        return [
            self.robot, self.function, *counts, *times, f"{self.ratio:.2f}", str(self.prepared),
            f"{self.preparation:.0f}", wrong,
        ]  # fmt: skip


def measure(robot: str, label: str, baked: ts.Equations, live: ts.Equations, values, harness, rounds: int) -> Line:
    both = [Compiled(baked, FUNCTIONS[label], {}), Compiled(live, FUNCTIONS[label], values)]
    states = states_of(baked)
    errors = tuple(one.errors(harness, states) for one in both)
    best = [float("inf")] * 2
    for k in range(rounds):
        if k % PASSES == 0:
            for one in both:
                one.move(37 * k // PASSES)
        best = [min(t, one.time(harness, states)) for t, one in zip(best, both, strict=True)]
    preparation = min(both[1].time_preparation(harness) for _ in range(rounds))
    times = tuple(1e9 * t / STATES for t in best)
    counts = tuple(_per_state(one.program) for one in both)
    return Line(robot, label, counts, both[1].prepared_size, times, 1e9 * preparation, errors)


def _per_state(program: Program) -> int:
    """Operations of the straight-line form at every state."""
    plain = Program(program.name, program.inputs, program.outputs)
    live = any(group.name == "p" for group in program.inputs)
    return len((plain.split(["p"])[1] if live else plain).operations)


def table(lines: list[Line]) -> str:
    head = ["robot", "function", "operations, baked", "live", "ns, baked", "live", "ratio", "prepared", "ns", "errors"]
    text = ["# Live inertias beside baked ones", "", (__doc__ or "").split("\n\n")[2], ""]
    text += [
        "Operations of the straight-line form per state; nanoseconds per state; the numbers that the preparation",
        "computes, and its nanoseconds; errors relative to the largest entry.",
        "",
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
    ]
    text += [f"| {' | '.join(line.cells)} |" for line in lines]
    return "\n".join([*text, "", (__doc__ or "").split("\n\n")[-1].strip(), ""])


def main(arguments: list[str] | None = None) -> list[Line]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--short", action="store_true", help="seconds: a robot of the tests")
    parser.add_argument("--out", type=Path, default=None, help="where the table goes")
    options = parser.parse_args(arguments)
    lines = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["TORSEUR_CACHE"] = name  # what is loaded several times is compiled once
        harness = compiled_harness(Path(name))
        for robot in ["solo12"] if options.short else ["panda", "anymal", "talos"]:
            baked = robots.load(robot, Path(name))
            if baked is None:
                print(f"{robot}: its file is not here (pip install example-robot-data)")
                continue
            given = with_live_inertias(baked.mechanism)
            live = ts.derive(given.mechanism, formalism="recursive")
            for label in FUNCTIONS:
                lines.append(measure(robot, label, baked, live, given.values, harness, 5 if options.short else 180))
                print(" | ".join(lines[-1].cells), flush=True)
    out = options.out or (None if options.short else HERE / "results" / "live_parameters.md")
    if out is not None:
        out.write_text(table(lines), encoding="utf-8")
        print(f"written: {out}")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
