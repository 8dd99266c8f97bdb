"""The compiled assembly of sweeps takes the steps of the one assembly of loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.analysis.studies.batch import batch_assembly
from torseur.analysis.studies.batch.batch_closing import assembly_rule
from torseur.computation.codegen.kernels.compiled_routine import compile_routine
from torseur.computation.simulation.constrained.solver.constrained_setup import mechanism_size
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import Positions
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.derivation.loops.assembly.levenberg_marquardt import descend


def rounded_bennett(digits):
    """Bennett's linkage with rounded twists: of its six rows three follow from the others but for the rounding."""
    text = library.source_of("bennett").replace("asin(4/5)", f"{math.asin(0.8):.{digits}f}")
    return ts.parse(text.replace("asin(b*sin(alpha)/a)", f"{math.asin(0.6):.{digits}f}"))


def closings(mechanism):
    """The system of a mechanism and the numbers of its constraints."""
    system = as_system(ts.derive(mechanism))
    programs = system.constrained.programs
    numbers = StateNumbers(programs, np.array(system.values), {}, mechanism_size(programs, np.array(system.values)))
    return system, numbers


MECHANISMS = {name: lambda name=name: library.load(name) for name in ("four_bar", "slider_crank", "andrews_squeezer")}
MECHANISMS |= {f"rounded to {digits}": lambda digits=digits: rounded_bennett(digits) for digits in (6, 9)}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("steps", [1, 3, 100])
def test_every_iterate_is_the_same(name, steps, monkeypatch):
    """Far from closed and near it; the independent side is NumPy's singular values, the other Cholesky's factors."""
    system, numbers = closings(MECHANISMS[name]())
    assert (numbers.negligible(0.0) > 0.0) == name.startswith("rounded")
    monkeypatch.setattr(batch_assembly, "STEPS", steps)
    programs = numbers.programs
    externals = {"velocities": programs.velocities, "displaced": programs.displaced}
    compiled = compile_routine(
        batch_assembly.close_loops, statics=system.constrained.statics, externals=externals, backend="llvm"
    )
    rule = assembly_rule(numbers)
    free, random = np.ones(len(numbers.scales), dtype=np.int64), np.random.default_rng(4)
    for width in (1e-3, 0.3, 2.0):
        y = np.array(system.initial) + width * random.uniform(-1, 1, len(system.initial))
        expected = descend(
            lambda s: tuple(level[None] for level in numbers.closure(0.0, s.y[0])),
            lambda s, move: Positions(numbers.moved(0.0, s.y[0], move[0])[None]),
            Positions(y[None]), steps=steps, negligible=numbers.negligible(0.0),
        )  # fmt: skip
        states, left = y.copy(), np.zeros(1)
        compiled(0, 1, 0.0, states, np.array(system.values), free, rule, left)
        assert states == pytest.approx(expected.state.y[0], abs=1e-7)
        if steps == 100 and width < 1.0:
            closed = 1e-10 + numbers.tolerances.max() * name.startswith("rounded")
            assert left[0] < closed and expected.gap[0] < closed
