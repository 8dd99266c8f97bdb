"""Starts as they are written: all values on the constraints, those of independent coordinates and speeds, or guesses."""

from __future__ import annotations

import numpy as np

from torseur.description.language import parse
from truth.draft import DATA, Unreachable
from truth.oracle import Model, assembled, with_speeds
from truth.oracle.constraints import linear_rows, residuals
from truth.oracle.constraints import rows as rows_of
from truth.oracle.dynamics import independent_rows


def start_items(draft, wish):
    """`init` items: all values on the constraints; or those of independent coordinates and speeds; or guesses."""
    model = Model(parse(draft.text(), directory=DATA))
    guessed = tuple(draft.values) if wish.constraint == "rolling" else ()
    state = assembled(model, draft.values, guessed=guessed)
    speeds = {name: draft.number(-1.5, 1.5) for joint in draft.joints for name in joint.speeds}
    state = with_speeds(model, state, speeds)
    if max(np.max(np.abs(part), initial=0) for part in residuals(model, state)) > 1e-10:
        raise Unreachable("the constraints cannot be met near the drawn values")
    curves = model.curves(state)
    places = {c: float(state.coordinates[c]) for j in draft.joints for c in j.coordinates}
    rates = {name: float(np.ravel(np.broadcast_to(curves[name].value, (1,)))[0]) for name in speeds}
    constrained = wish.constraint != "none"
    units = {c: " m" for j in draft.joints for c in j.lengths}
    if wish.start == "full" or not constrained:
        items = [f"{c} = {x:.17g}{units.get(c, '')}" for c, x in places.items()]
        if wish.start != "full":
            # In a tree, what is not given starts at zero: some values are left out (a quaternion only as a whole).
            left = [j.name for j in draft.joints if draft.rng.random() < 0.3]
            items = [
                f"{c} = {places[c]:.17g}{units.get(c, '')}"
                for j in draft.joints
                if j.name not in left
                for c in j.coordinates
            ]
        return items + [
            f"{name} = {x:.17g}" for name, x in rates.items() if wish.start == "full" or draft.rng.random() < 0.6
        ]
    # Velocity constraints leave positions free: they count for speeds only.
    everything, holonomic = _constraint_rows(model, state)
    kept = _independent(model, state, [s for j in draft.joints for s in j.speeds], everything)
    moves = [s for j in draft.joints for s in _natural(j)]
    placed = _independent(model, state, moves, holonomic)
    items = []
    for j in draft.joints:
        turned = all(f"{j.name}.w{x}" in placed for x in "xyz")
        for c in j.coordinates:
            value = f"{places[c]:.17g}{units.get(c, '')}"
            if turned if c in j.quaternion else f"{c}'" in placed:
                items.append(f"{c} = {value}")
            elif wish.start == "guess":
                shift = 0 if c in j.quaternion else draft.number(-0.01, 0.01, 4)
                items.append(f"{c} about {places[c] + shift:.6g}{units.get(c, '')}")
    return items + [f"{name} = {rates[name]:.17g}" for name in rates if name in kept]


def _natural(joint):
    plain = [f"{c}'" for c in joint.coordinates if c not in joint.quaternion]
    return plain + ([f"{joint.name}.w{x}" for x in "xyz"] if joint.quaternion else [])


def _constraint_rows(model, state):
    """All constraint rows, and those of position."""
    matrix, *_ = linear_rows(model, state)
    of_position = [k for k, row in enumerate(rows_of(model.curves(state))) if not row.of_velocity]
    return matrix, matrix[of_position]


def _independent(model, state, names, matrix):
    """Speeds that, with the constraints, determine all others."""
    rows = list(matrix[independent_rows(matrix)])
    still = model.curves(state.moving(0 * state.velocities))
    moving = model.curves(state, np.eye(model.size), np.zeros(model.size))
    kept = []
    for name in names:
        rest = np.ravel(np.broadcast_to(still[name].value, (1,)))[0]
        row = np.broadcast_to(moving[name].value, (model.size,)) - rest
        if len(independent_rows(np.array([*rows, row]))) > len(rows):
            rows.append(row)
            kept.append(name)
    return kept
