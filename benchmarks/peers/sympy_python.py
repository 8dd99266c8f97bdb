"""SymPy's lambdify, as many people get from equations to numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import sympy

import torseur as ts
from torseur.computation.functions.function_requests import programs_of
from torseur.description import library


def lambdified_pendulum(rounds: int) -> tuple[int, float, dict[str, float]]:
    """Operations, relative difference, and seconds per call for inverse dynamics of the double pendulum."""
    (given,) = programs_of(ts.derive(library.load("double_pendulum")), ["inverse_dynamics"])
    symbols = {g.name: sympy.symbols(" ".join(f"{g.name}{k}" for k in range(len(g))), seq=True) for g in given.inputs}
    entries = [sympy.sympify(entry) for entry in given.evaluate(symbols)["tau"]]
    lambdified = sympy.lambdify([x for g in given.inputs for x in symbols[g.name]], entries, "math", cse=True)
    kernel = ts.compile_program(given, "c")
    values = {g.name: np.linspace(0.3, 0.9, len(g)) for g in given.inputs}
    numbers = [float(x) for g in given.inputs for x in values[g.name]]
    theirs = np.array(lambdified(*numbers))
    wrong = float(np.abs(kernel(**values)["tau"] - theirs).max() / np.abs(theirs).max())
    ways = {"torseur": lambda: kernel(**values), "SymPy lambdify": lambda: lambdified(*numbers)}
    return len(given.operations), wrong, {name: min(_timed(f) for _ in range(rounds)) for name, f in ways.items()}


def _timed(call: Callable[[], object], times: int = 50) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times
