"""Which outputs of a redundantly constrained mechanism its equations determine.

Multipliers are determined up to the combinations of constraints that vanish. A formula has a value when none of these
changes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.graph import Expr, Input, Program, jacobian, matrix
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.constrained.start.diagnosis import dependence
from torseur.computation.simulation.model.system import Vector

INSENSITIVE = 1e-9  # part of its partial derivatives below which a formula does not change


def undetermined_outputs(
    constrained: Constrained, formulas: Mapping[str, Expr], times: Vector, states: Vector
) -> dict[str, str]:
    """Names of formulas that the constraints leave open, each with the reason, judged at some states of a motion."""
    numbers, usual = constrained.numbers, constrained.usual
    assert numbers is not None and usual is not None
    if np.all(usual > 0.0) or not formulas:
        return {}
    program = _gradients(constrained, list(formulas.values()))
    found: dict[str, str] = {}
    for k in sorted({0, len(times) // 2, len(times) - 1}):
        still = {"a": np.zeros(len(numbers.scales)), "l": np.zeros(len(constrained.programs.constraints))}
        gradients = numbers.of(program, float(times[k]), states[k], **still)["gradients"]
        # Contacts and friction have multipliers too, but they take no part in what the lasting constraints share.
        lasting = dependence(numbers, float(times[k]), states[k], usual)
        combinations = np.array([constrained.with_contacts(row) for row in lasting])
        changes = np.abs(gradients @ combinations.T) > INSENSITIVE * np.abs(gradients).max(axis=1, initial=0.0)[:, None]
        for name, changed in zip(formulas, changes, strict=True):
            if changed.any():
                found[name] = _reason(constrained, combinations[int(np.argmax(changed))])
    return found


def _gradients(constrained: Constrained, formulas: Sequence[Expr]) -> Program:
    programs = constrained.programs
    entries = jacobian(formulas, programs.multipliers)
    rows = [[entries.get((i, j), 0) for j in range(len(programs.multipliers))] for i in range(len(formulas))]
    inputs: tuple[Input, ...] = (*programs.inputs, *programs.solution)
    return Program("gradients", inputs, (matrix("gradients", rows),))


def _reason(constrained: Constrained, combination: Vector) -> str:
    names = [constrained.programs.constraints[k].name for k in np.flatnonzero(combination)]
    if len(names) == 1:
        return f"{names[0]} holds whatever moves"
    return f"nothing that moves tells how {' and '.join(names)} share it"
