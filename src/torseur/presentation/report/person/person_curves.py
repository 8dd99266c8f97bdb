"""Curves of a person's trial: angles, moments and powers over a cycle or the trial, reactions over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from torseur.analysis.biomechanics.person.motion_cycles import PERCENT, over_trial
from torseur.analysis.biomechanics.person.person_analysis import PersonTrial
from torseur.analysis.biomechanics.person.session import QUANTITIES, cycle_curve, quantity_of
from torseur.presentation.report.page.report_content import Curve, Plot
from torseur.presentation.report.person.person_looks import in_words
from torseur.presentation.scene.scene import Array

SIDES = {"r": ("right", "r_foot"), "l": ("left", "l_foot")}
LEGS = (("hip", "flexion", "thigh"), ("knee", "flexion", "shank"), ("ankle", "flexion", "foot"))
ARMS = (("shoulder", "flexion", "upper arm"), ("elbow", "flexion", "forearm"))
FRONTAL = (("hip", "adduction", "thigh"),)
NO_PLOT_BELOW = np.radians(8.0)


@dataclass(frozen=True, eq=False)
class Session:
    """Trials of a person, the first of which is shown over time, and usual curves by "knee_flexion angle"."""

    trials: Sequence[PersonTrial]
    normal: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


def person_plots(shown: Session) -> tuple[Plot, ...]:
    """Reactions and the mass centre over time, then every joint that moves, over the cycles where there are some."""
    person = shown.trials[0]
    followed = [joint for joint in (*LEGS, *FRONTAL) if any(_follows(person, joint, side) for side in SIDES)]
    joints = [*followed, *(joint for joint in ARMS if _moves(person, joint))]
    plots = [*([_reactions(person)] if person.dynamics.reactions else []), _mass_centre(person)]
    for joint in joints:
        plots += _joint(shown, joint)
    plots += [_spine(person), _momentum(person)]
    return tuple(plots)


def _follows(person: PersonTrial, joint: tuple[str, str, str], side: str) -> bool:
    return f"{side}_{joint[0]}_{joint[1]}" in person.free


def _moves(person: PersonTrial, joint: tuple[str, str, str]) -> bool:
    names = [f"{side}_{joint[0]}_{joint[1]}" for side in SIDES]
    return max(float(np.ptp(person.motion.of(name))) for name in names) > NO_PLOT_BELOW


def _reactions(person: PersonTrial) -> Plot:
    weight = person.mass * float(np.linalg.norm(person.dynamics.body.gravity))
    curves = []
    for side, foot in SIDES.values():
        if foot not in person.dynamics.reactions:
            continue
        force = person.dynamics.reactions[foot].force / weight
        curves += [
            Curve(f"{side} up", _row(force[:, 1]), body=in_words(foot)),
            Curve(f"{side} forward", _row(force[:, 0]), body=in_words(foot), dashed=True),
        ]
    return Plot(f"Ground reaction, {person.source}", "body weights", person.motion.time, tuple(curves))


def _mass_centre(person: PersonTrial) -> Plot:
    centre = person.dynamics.body.mass_centre
    height = Curve("height above the floor", _row(100 * (centre @ person.feet.up - person.feet.floor)))
    return Plot("Mass centre", "cm", person.motion.time, (height,))


def _momentum(person: PersonTrial) -> Plot:
    """Angular momentum over mass, speed-free and comparable between people."""
    _, spin = person.dynamics.body.momentum
    curves = tuple(
        Curve(name, _row(spin[:, k] / person.mass))
        for name, k in (("sagittal plane", 2), ("frontal plane", 0), ("transverse plane", 1))
    )
    return Plot("Angular momentum about the mass centre", "m²/s", person.motion.time, curves)


def _joint(shown: Session, joint: tuple[str, str, str]) -> list[Plot]:
    name, angle, segment = joint
    titles = {"angle": "", "moment": " moment", "power": " power"}
    return [
        _both_sides(shown, f"{name.capitalize()} {angle}{titles[quantity]}", quantity, f"{name}_{angle}", segment)
        for quantity in QUANTITIES
    ]


def _both_sides(shown: Session, title: str, quantity: str, coordinate: str, segment: str) -> Plot:
    """Right and left over their own cycles, with the spread over several; or over the whole trial."""
    person, curves = shown.trials[0], []
    time = person.motion.time
    unit = {"deg": "°"}.get(QUANTITIES[quantity], QUANTITIES[quantity])
    walked = [trial for trial in shown.trials if trial.walks]
    for side, (word, _) in SIDES.items():
        name = f"{side}_{coordinate}"
        if name not in person.free:
            continue
        curve = cycle_curve(walked, name, quantity) if walked else None
        if curve is not None:
            count = f", {curve.count} cycles" if curve.count > 1 else ""
            band = _row(curve.deviation) if curve.count > 1 else None
            curves.append(
                Curve(word + count, _row(curve.mean), body=f"{word} {segment}", band=band, dashed=side == "l")
            )
        elif not walked:
            values = over_trial(quantity_of(person, name, quantity), time)
            curves.append(Curve(word, _row(values), body=f"{word} {segment}", dashed=side == "l"))
    usual = shown.normal.get(f"{coordinate} {quantity}") if walked else None
    if usual is not None:
        curves.append(Curve("usual", _row(usual[0]), band=_row(usual[1])))
    if walked:
        return Plot(f"{title} over a cycle", unit, PERCENT, tuple(curves), across="%")
    clock = (float(time[0]), float(time[-1]))
    return Plot(f"{title} over the trial", unit, PERCENT, tuple(curves), across="%", clock=clock)


def _spine(person: PersonTrial) -> Plot:
    names = {
        "pelvis_tilt": "pelvis tilt", "pelvis_list": "pelvis list", "pelvis_rotation": "pelvis rotation",
        "lumbar_extension": "lumbar extension", "lumbar_bending": "lumbar bending",
        "thoracic_rotation": "thoracic rotation",
    }  # fmt: skip
    curves = tuple(Curve(text, _row(np.degrees(person.motion.of(name)))) for name, text in names.items())
    return Plot("Pelvis and trunk", "°", person.motion.time, curves)


def _row(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=float)
