"""The page of a person's trial: the animated body with markers and forces, curves, tables, quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.person.person_analysis import PersonTrial
from torseur.presentation.report.page.report_content import ReportContent, Reproduction
from torseur.presentation.report.person.person_curves import Session, person_plots
from torseur.presentation.report.person.person_looks import (
    LEFT,
    MIDDLE,
    RIGHT,
    SUNK,
    in_words,
    person_shapes,
    plate_shapes,
)
from torseur.presentation.report.person.person_tables import person_checks, person_tables
from torseur.presentation.scene.bodies.body_poses import quaternions
from torseur.presentation.scene.overlays import Arrows, Dots, Overlay
from torseur.presentation.scene.palette import Colour
from torseur.presentation.scene.scene import Array, Body, Motion, View

MOST_SAMPLES = 400
METRES_PER_NEWTON = 1e-3
MARKER_RADIUS = 0.009
MARKERS, FORCES = Colour("#1f5fc4", "#8fbcff"), Colour("#c2571a", "#f08a4b")


def person_content(
    person: PersonTrial,
    reproduction: Reproduction | None = None,
    *,
    others: Sequence[PersonTrial] = (),
    normal: Mapping[str, tuple[Array, Array]] | None = None,
) -> ReportContent:
    """What the page of a trial shows; cycles of `others` count with its own, `normal` are usual curves beside them."""
    shown = Session((person, *others), normal or {})
    chosen = _shown_frames(len(person.motion))
    bodies = _bodies(person)
    return ReportContent(
        title=f"{person.name}: motion of a person",
        summary=_summary(person),
        description=_description(person),
        bodies=bodies,
        warnings=person.warnings,
        tables=person_tables(person, shown.trials),
        motion=_motion(person, chosen),
        overlays=_overlays(person, chosen),
        view=View(up=(0.0, 1.0, 0.0), azimuth=-0.75, elevation=0.16, level=person.feet.floor - SUNK),
        plots=person_plots(shown),
        checks=person_checks(person),
        reproduction=reproduction or Reproduction(),
        diagram=False,
    )


def _shown_frames(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Frames shown in the animation."""
    every = max(1, -(-count // MOST_SAMPLES))
    return np.arange(0, count, every)


def _summary(person: PersonTrial) -> tuple[str, ...]:
    motion = person.motion
    return (
        f"{person.height:.2f} m, {person.mass:g} kg",
        f"{motion.time[-1] - motion.time[0]:.3g} s, {len(motion)} frames",
        f"{len(person.fit.labels)} markers, {1e3 * person.fit.rms:.1f} mm",
        f"reactions from {person.source}",
    )


def _description(person: PersonTrial) -> str:
    text = (
        f"Proportions of {person.table.title}. Axes: x forward, y up, z right. Right in green, left in red. A force of "
        f"{1 / METRES_PER_NEWTON:g} N is drawn 1 m long. Moments and powers are over body mass; flexion, adduction and "
        "internal rotation are positive."
    )
    if person.protocol.partial:
        followed = person.protocol.followed.replace("_", " ")
        text += f" Followed by markers: {followed}. Everything else is held, with its mass, as the model has it."
    if person.calibration is not None:
        text += " Lengths and places of the markers are the person's own, as measured below."
    return text


def _bodies(person: PersonTrial) -> tuple[Body, ...]:
    shapes = person_shapes(person.mechanism)
    now = person.dynamics.body.now
    earth = Body("earth", "floor and force plates", plate_shapes(person), fixed=True)
    bodies = [earth]
    for body in person.mechanism.bodies:
        mass = float(now.links[person.dynamics.body.link(body.name)].inertia.mass)
        side = RIGHT if body.name.startswith("r_") else LEFT if body.name.startswith("l_") else MIDDLE
        bodies.append(Body(in_words(body.name), f"{mass:.3g} kg", shapes.get(body.name, ()), colour=side))
    return tuple(bodies)


def _motion(person: PersonTrial, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Motion | None:
    if len(chosen) < 2:
        return None
    body: BodyInMotion = person.dynamics.body
    count = len(person.motion)
    places = [(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))]
    places += [body.place(one.frame) for one in person.mechanism.bodies]
    return Motion(
        np.ascontiguousarray(person.motion.time[chosen]),
        np.stack([position[chosen] for position, _ in places], axis=1),
        np.stack([quaternions(rotation[chosen]) for _, rotation in places], axis=1),
    )


def _overlays(person: PersonTrial, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[Overlay, ...]:
    seen = person.markers
    dots = Dots("Markers", seen.positions[chosen], seen.labels, MARKER_RADIUS, MARKERS)
    up = person.feet.up
    starts, vectors = [], []
    for reaction in person.dynamics.reactions.values():
        centre = reaction.centre_of_pressure(up, person.feet.floor)
        starts.append(centre[chosen])
        vectors.append(METRES_PER_NEWTON * reaction.force[chosen])
    names = tuple(person.dynamics.reactions)
    if not names:
        return (dots,)
    return dots, Arrows("Forces", np.stack(starts, axis=1), np.stack(vectors, axis=1), names, 0.011, FORCES)
