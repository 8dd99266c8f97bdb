"""Constraints as they are written, made to hold at the drawn values by the oracle's geometry."""

from __future__ import annotations

import numpy as np

from torseur.description.language import parse
from truth.draft import DATA
from truth.drawn_joints import MOTIONS
from truth.drawn_loads import ordinary
from truth.oracle import Model, assembled
from truth.oracle.constraints import residuals
from truth.oracle.start import placed_state


def _written(vector, unit=" m"):
    return f"[{', '.join(f'{float(x):.17g}' for x in vector)}]{unit}"


def _frame_text(place, body):
    """A frame of a body by its numeric place in it: offset and one turn about an axis, with all digits."""
    R = place.rotation.value[0]
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = np.linalg.norm(axis) / 2
    angle = float(np.arctan2(sine, (np.trace(R) - 1) / 2))
    if angle > 3:  # near half a turn R + Rᵀ tells the axis better
        columns = R + R.T + (1 - np.trace(R)) * np.eye(3)
        best = columns[:, int(np.argmax(np.diag(columns)))]
        axis = best if best @ axis >= 0 else -best
    turn = f" ++ ({angle:.17g} || {_written(axis, '')})" if angle > 1e-12 else ""
    return f"{_written(place.position.value[0])}{turn} @ {body}"


def _loop(draft):
    """One more joint, between two bodies that are joined already, closed at the drawn values."""
    body = draft.bodies[-1] if len(draft.bodies) > 1 else draft.bodies[0]
    free = [j.body for j in draft.joints if len(j.speeds) == 6 and j.body != "earth"]
    body = free[0] if free else body
    other = draft.rng.choice([b for b in ["earth", *draft.bodies] if b != body])
    kind = draft.rng.choice(
        (
            "revolute",
            "spherical",
            "universal",
            "cylindrical",
            "planar",
            "prismatic",
            "spherical_quaternion",
            "link",
            "complex",
            "helical",
            "fixed",
        )
    )
    _close(draft, kind, other, body, "loop")


def _close(draft, kind, other, body, name, axis=None):
    coordinates, clause, _, _ = MOTIONS[kind](draft, name)
    if axis:
        clause = f" about {axis}"
    first = draft.place(other) if not axis else f"[0.9, 0.1, 0.2] m @ {other}"
    word = {"spherical_quaternion": "spherical", "complex": "link"}.get(kind, kind)
    # The joint is first hung on a body of its own, whose place tells where the second frame must lie.
    probe = [
        *draft.statements,
        "let probe = body mass = 1 kg, centre = 0, inertia = 0 end ;",
        f"join {first} to probe.frame as {name} with {word}({', '.join(coordinates)}){clause} end ;",
    ]
    model = Model(parse("\n".join(probe), directory=DATA))
    curves = model.curves(assembled(model, draft.values | coordinates))
    seen = curves.body_place(body).inverse.then(curves.body_place("probe"))
    draft.statements.append(
        f"join {first} to {_frame_text(seen, body)} as {name} with {word}({', '.join(coordinates)}){clause}, role = loop end ;"
    )


def _redundant(draft):
    axis = draft.statements.pop() if draft.statements[-1].startswith("(* axis") else None
    for k, statement in enumerate(draft.statements):
        if statement.startswith("(* axis"):
            axis = draft.statements.pop(k)
            break
    _close(draft, "revolute", "earth", draft.bodies[-1], "loop", axis.removeprefix("(* axis ").removesuffix(" *)"))


def _distance(draft):
    body = draft.bodies[-1]
    other = draft.rng.choice(["earth", *[b for b in draft.bodies if b != body]])
    first, second = draft.place(body), f"[2.1, {draft.number(-1, 1)}, 1.2] m @ {other}"
    draft.statements.append(f"constrain distance {first} to {second} = 1 m as string ;")
    model = Model(parse(draft.text(), directory=DATA))
    state = _tree_state(model, draft)
    position, _ = residuals(model, state)
    draft.statements[-1] = f"constrain distance {first} to {second} = {1 + float(position[-1]):.17g} m as string ;"


def _tree_state(model, draft):
    """The state at the drawn values, whether constraints hold or not."""
    return placed_state(model, draft.values)


def _gear(draft):
    pairs = ordinary(draft)
    if len(pairs) < 2:
        return
    (first, a), (second, b) = draft.rng.sample(pairs, 2)
    ratio = draft.number(0.5, 2) * draft.rng.choice((-1, 1))
    unit = {(True, True): "", (False, False): "", (True, False): " m", (False, True): " 1/m"}[
        (a in first.lengths, b in second.lengths)
    ]
    offset = draft.values[a] - ratio * draft.values[b]
    last = f"{offset:.17g}{' m' if a in first.lengths else ''}"
    draft.statements.append(f"constrain 0 = {a} - {ratio:g}{unit} * {b} - ({last}) as gear ;")


def _driver(draft):
    if not ordinary(draft):
        return
    joint, c = draft.rng.choice(ordinary(draft))
    unit = " m" if c in joint.lengths else ""
    draft.statements.append(
        f"constrain {c} = {draft.values[c]:.17g}{unit} + {draft.number(0.1, 0.4)}{unit} * sin({draft.number(1, 3)} rad/s * t) as motor ;"
    )


def _velocity(draft):
    pairs = ordinary(draft)
    if len(pairs) < 2:
        return
    (first, a), (second, b) = draft.rng.sample(pairs, 2)
    unit = {(True, True): "", (False, False): "", (True, False): " m", (False, True): " 1/m"}[
        (a in first.lengths, b in second.lengths)
    ]
    angle = next((c for j, c in pairs if c not in j.lengths), None)
    factor = f"(1.2 + sin({angle}))" if angle else "1.7"
    draft.statements.append(f"constrain 0 = {factor} * {a}' - {draft.number(0.5, 2)}{unit} * {b}' as knife_edge ;")


def _rolling(draft):
    """A wheel on an oblique plane: a free body whose height follows."""
    wheel = (
        next(j for j in draft.joints if len(j.speeds) == 6 and j.body != "earth")
        if any(len(j.speeds) == 6 and j.body != "earth" for j in draft.joints)
        else None
    )
    body = wheel.body if wheel else draft.bodies[-1]
    tyre = draft.rng.choice(("", " tyre 0.1 m"))
    ground = draft.rng.choice(("earth", "[0.2, -0.1, 0.3] m ++ (0.2 || [1, 0.5, 0]) @ earth"))
    draft.statements.append(
        f"constrain rolling {draft.place(body)} radius 0.4 m{tyre} on {ground} normal {draft.rng.choice(('[0, 0, 1]', '[0.1, -0.2, 2]'))} as wheel ;"
    )


CONSTRAIN = {
    "none": lambda draft: None, "loop": _loop, "redundant": _redundant, "distance": _distance, "gear": _gear,
    "driver": _driver, "velocity": _velocity, "rolling": _rolling,
}  # fmt: skip
