"""Stops, dry friction and contact as they are written: near enough that something happens within the motion asked for."""

from __future__ import annotations

from torseur.description.language import parse
from truth.draft import DATA
from truth.drawn_loads import ordinary
from truth.oracle import Model
from truth.oracle.start import placed_state


def stop(draft):
    """A stop just beyond the drawn value, in the joint or as a bound between two coordinates."""
    if not ordinary(draft) or _switches(draft):
        return
    joint, c = draft.rng.choice(ordinary(draft))
    unit = " m" if c in joint.lengths else ""
    room, restitution = draft.rng.choice((0, 0.01, 0.03)), draft.rng.choice((0, 0.5, 0.8))
    low, high = draft.values[c] - room, draft.values[c] + 0.4
    if draft.rng.random() < 0.5:
        only = len(joint.coordinates) > 1
        clause = f" stops{f' of {c}' if only else ''} {low:.17g}{unit}, {high:.17g}{unit} restitution {restitution}"
        _add_clause(draft, joint, clause)
        return
    same = [d for j, d in ordinary(draft) if d != c and (d in j.lengths) == (c in joint.lengths)]
    other = f" + 0.3*{same[0]}" if same else ""
    reach = draft.values[c] + (0.3 * draft.values[same[0]] if same else 0) + room
    draft.statements.append(f"constrain {c}{other} <= {reach:.17g}{unit} restitution {restitution} as reach ;")


def friction(draft):
    """Dry friction in a joint, or against a speed that two coordinates share."""
    if not ordinary(draft) or _switches(draft):
        return
    joint, c = draft.rng.choice(ordinary(draft))
    unit = "N" if c in joint.lengths else "N*m"
    most = draft.number(0.5, 4)
    held = draft.rng.choice(("", f", breakaway = {1.5 * most:g} {unit}"))
    if draft.rng.random() < 0.5 and len(joint.coordinates) == 1:
        _add_clause(draft, joint, f" friction = {most:g} {unit}{held} sticking")
        return
    same = [d for j, d in ordinary(draft) if d != c and (d in j.lengths) == (c in joint.lengths)]
    other = f" - 0.6*{same[0]}'" if same else ""
    draft.statements.append(f"apply friction force = {most:g} {unit}{held} against {c}'{other} as rub ;")


def contact(draft):
    """A ball or a point just above an oblique plane of the earth."""
    if _switches(draft):
        return
    body = draft.rng.choice(draft.bodies)
    place, normal = draft.place(body, 0.1), draft.rng.choice(([0, 0, 1], [0.3, -0.2, 1], [0.6, 0, -0.8]))
    radius, room, restitution = (
        draft.rng.choice((0, 0.1)),
        draft.rng.choice((0, 0.005, 0.02)),
        draft.rng.choice((0, 0.6)),
    )
    draft.statements.append(f"let touching = {place} ;")
    model = Model(parse(draft.text(), directory=DATA))
    curves = model.curves(placed_state(model, draft.values))
    frame = dict(model.mechanism.frames)["touching"]
    centre = [float(x) for x in curves.frame_place(frame).position.value[0]]
    length = sum(n * n for n in normal) ** 0.5
    foot = [x - n / length * (radius + room) for x, n in zip(centre, normal, strict=True)]
    shape = f"sphere radius {radius} m" if radius else "point"
    draft.statements.append(f"let ground = [{', '.join(f'{x:.17g}' for x in foot)}] m @ earth ;")
    draft.statements.append(
        f"contact touching.{shape} with ground normal [{', '.join(str(n) for n in normal)}] friction 0, restitution {restitution} as floor ;"
    )


def _add_clause(draft, joint, clause):
    """One more clause at the end of a joint's statement."""
    k = next(k for k, s in enumerate(draft.statements) if s.startswith("join") and f" as {joint.name} with" in s)
    draft.statements[k] = draft.statements[k].removesuffix(" end ;") + f"{clause} end ;"


def _switches(draft):
    """One element is followed at a time."""
    return any(word in s for s in draft.statements for word in (" stops", "friction", " restitution "))
