"""Which outputs of a redundantly constrained mechanism its equations determine.

Multipliers are determined up to the combinations of constraints that vanish. A formula has a value when none of these
changes it. A joint that sticks, or a contact that is closed, where the constraints allow no motion anyway, shares what
it bears with them likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.graph import Expr, Input, Program, jacobian, matrix
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.constrained.start.diagnosis import dependence
from torseur.computation.simulation.model.system import Vector

INSENSITIVE = 1e-9  # part of its partial derivatives below which a formula does not change
STILL = 1e-9  # gap or sliding speed, in units of the mechanism, that is none
IMPLIED = 1e-9  # part of a row that the constraints may leave unexplained where they imply it


def undetermined_outputs(
    constrained: Constrained, formulas: Mapping[str, Expr], times: Vector, states: Vector
) -> dict[str, str]:
    """Names of formulas that the constraints leave open, each with the reason, judged at some states of a motion."""
    numbers, usual = constrained.numbers, constrained.usual
    assert numbers is not None and usual is not None
    if (np.all(usual > 0.0) and not constrained.switches) or not formulas:
        return {}
    program = _gradients(constrained, list(formulas.values()))
    undetermined: dict[str, str] = {}
    instants = sorted({0, len(times) // 2, len(times) - 1})
    held = [_held_already(constrained, float(times[k]), states[k]) for k in instants]
    # What is at rest for an instant, such as a drive when it starts, is not held.
    always = set.intersection(*map(set, held))
    for k, now in zip(instants, held, strict=True):
        still = {"a": np.zeros(len(numbers.scales)), "l": np.zeros(len(constrained.programs.constraints))}
        gradients = numbers.of(program, float(times[k]), states[k], **still)["gradients"]
        # Contacts and friction have multipliers too, but they take no part in what the lasting constraints share.
        lasting = dependence(numbers, float(times[k]), states[k], usual)
        shared = [constrained.with_contacts(row) for row in lasting]
        combinations = np.array(shared + [combination for row, combination in now.items() if row in always])
        if not len(combinations):
            continue
        changes = np.abs(gradients @ combinations.T) > INSENSITIVE * np.abs(gradients).max(axis=1, initial=0.0)[:, None]
        for name, changed in zip(formulas, changes, strict=True):
            if changed.any():
                undetermined[name] = _reason(constrained, combinations[int(np.argmax(changed))])
    return undetermined


def _held_already(constrained: Constrained, t: float, y: Vector) -> dict[int, Vector]:
    """Combinations by which closed contacts and friction at rest share forces with others and constraints, by row."""
    if constrained.contacts is None:
        return {}
    numbers, programs = constrained.contacts.numbers, constrained.programs
    at = numbers.of(programs.velocities, t, y)
    rows, speeds = at["rows"] * numbers.scales, at["rows"] @ y[numbers.coordinates :] + at["drift"]
    gaps = numbers.of(programs.gaps, t, y)["gaps"] / numbers.length
    lasting = np.flatnonzero(constrained.with_contacts(np.ones(len(constrained.lasting.constraints))))
    touching = [constrained.lasting.holonomic + k for k in np.flatnonzero(np.abs(gaps) < STILL)]
    rubbing = range(len(rows) - programs.statics["NT"], len(rows))
    found, basis = {}, lasting.tolist()
    for row in [k for k in (*touching, *rubbing) if abs(speeds[k]) < STILL]:
        size = np.linalg.norm(rows[row])
        shares = np.linalg.lstsq(rows[basis].T, rows[row], rcond=None)[0] if basis else np.zeros(0)
        if size > 0.0 and np.linalg.norm(rows[row] - rows[basis].T @ shares) < IMPLIED * size:
            combination = np.zeros(len(rows))
            combination[row], combination[basis] = 1.0, np.where(np.abs(shares) > INSENSITIVE, -shares, 0.0)
            found[row] = combination
        else:
            basis.append(row)
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
    return f"the motion does not determine how {' and '.join(names)} share it"
