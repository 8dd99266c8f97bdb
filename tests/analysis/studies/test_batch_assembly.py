"""The compiled assembly of sweeps takes the steps of the one assembly of loops."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.analysis.studies.batch import batch_assembly
from torseur.computation.codegen.kernels.compiled_routine import compile_routine
from torseur.computation.simulation.constrained.solver.constrained_setup import mechanism_size
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import Positions
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.derivation.loops.assembly.levenberg_marquardt import descend


def closings(name):
    """The numbers of a mechanism, and its compiled assembly after a number of steps."""
    system = as_system(ts.derive(library.load(name)))
    programs = system.constrained.programs
    numbers = StateNumbers(programs, np.array(system.values), {}, mechanism_size(programs, np.array(system.values)))
    return system, numbers


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "andrews_squeezer"])
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 100])
def test_every_iterate_is_the_same(name, steps, monkeypatch):
    """Far from closed and near it; the independent side is NumPy's singular values, the other Cholesky's factors."""
    system, numbers = closings(name)
    monkeypatch.setattr(batch_assembly, "STEPS", steps)
    programs = numbers.programs
    externals = {"velocities": programs.velocities, "displaced": programs.displaced}
    compiled = compile_routine(
        batch_assembly.close_loops, statics=system.constrained.statics, externals=externals, backend="llvm"
    )
    scales = np.concatenate([numbers.scales, numbers.row_scales])
    free, random = np.ones(len(numbers.scales), dtype=np.int64), np.random.default_rng(4)
    for width in (1e-3, 0.3, 2.0):
        y = np.array(system.initial) + width * random.uniform(-1, 1, len(system.initial))
        expected = descend(
            lambda s: tuple(level[None] for level in numbers.closure(0.0, s.y[0])),
            lambda s, move: Positions(numbers.moved(0.0, s.y[0], move[0])[None]),
            Positions(y[None]), steps=steps,
        )  # fmt: skip
        states, left = y.copy(), np.zeros(1)
        compiled(0, 1, 0.0, states, np.array(system.values), free, scales, left)
        assert states == pytest.approx(expected.state.y[0], abs=1e-7)
        if steps == 100 and width < 1.0:
            assert left[0] < 1e-10 and expected.gap[0] < 1e-10
