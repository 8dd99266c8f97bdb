"""The page of a vehicle's handling: steady turns to the limit, gradients, modes, responses, a step, a lane change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torseur.analysis.vehicles.cornering import SteadyCornering
from torseur.analysis.vehicles.handling import Handling, LaneChange, StepSteer
from torseur.description.language import to_text
from torseur.presentation.report.drawing.study_axes import Frame, figure, keys, number, widen, with_unit
from torseur.presentation.report.studies.criteria_plots import curves
from torseur.presentation.report.studies.study_page import gallery, how_to_reproduce, page, table, write
from torseur.presentation.typesetting.markup import Markup, join

FREQUENCIES = np.geomspace(0.1, 8.0, 60)
Roots = Sequence[tuple[float, tuple[complex, ...]]]
DEGREES = 180.0 / np.pi


def write_handling_page(
    run: Handling,
    turns: SteadyCornering | None,
    stepped: StepSteer,
    lanes: LaneChange | None,
    roots: Roots,
    command: str,
    path: str | Path,
) -> Path:
    """The page of a vehicle at one speed."""
    name = run.vehicle.mechanism.meaning or run.vehicle.mechanism.name
    facts = [f"{number(run.speed)} m/s ({number(3.6 * run.speed)} km/h)", f"steering: {run.vehicle.steering}",
             f"drive: {run.vehicle.drive}"]  # fmt: skip
    parts = [
        _summary(run, turns), _turns(turns), _modes(run), _roots(roots), _responses(run), _step(stepped), _lanes(lanes),
        how_to_reproduce(command, to_text(run.vehicle.mechanism), run.vehicle.mechanism.name, "the mechanism"),
    ]  # fmt: skip
    return write(page(f"Handling: {name}", facts, parts), path)


def _angle(run: Handling) -> tuple[float, str]:
    """The factor and unit in which steering is shown: degrees for angles."""
    unit = str(run.vehicle.mechanism.parameter(run.vehicle.steering).symbol.data.unit)
    return (DEGREES, "°") if unit == "rad" else (1.0, unit)


def _summary(run: Handling, turns: SteadyCornering | None) -> Markup:
    factor, unit = _angle(run)
    gains = run.gains
    rows = [
        ["Understeer gradient", number(factor * 9.81 * run.understeer_gradient), f"{unit} per g",
         "the part of the steering gradient that does not go as 1/V²"],
        ["Steering gradient", number(factor * 9.81 * gains.steering_per_acceleration), f"{unit} per g",
         "steering over lateral acceleration"],
        ["Yaw gain", number(DEGREES * gains.yaw_gain / factor), f"°/s per {unit}", "yaw rate over steering"],
        ["Sideslip gradient", number(DEGREES * 9.81 * gains.sideslip_per_acceleration), "° per g", "mass centre"],
        ["Roll gradient", number(DEGREES * 9.81 * gains.roll_per_acceleration), "° per g", "of the body"],
    ]  # fmt: skip
    if run.characteristic_speed is not None:
        v = run.characteristic_speed
        rows.append(
            ["Characteristic speed", number(3.6 * v), "km/h", f"{number(v)} m/s: there the yaw gain is largest"]
        )
    if run.critical_speed is not None:
        v = run.critical_speed
        rows.append(
            ["Critical speed", number(3.6 * v), "km/h", f"{number(v)} m/s: beyond, straight running is unstable"]
        )
    if turns is not None:
        limit = "not reached" if turns.limit is None else number(turns.limit)
        rows.append(["Limit", limit, "m/s²", f"largest lateral acceleration of a steady turn; {turns.ended}"])
    return table("Characteristics", ["", "Value", "Unit", "Meaning"], rows, (1,))


def _turns(turns: SteadyCornering | None) -> Markup:
    if turns is None:
        return Markup()
    a = turns.lateral_acceleration
    factor, unit = (
        (DEGREES, "°")
        if turns.vehicle.mechanism.parameter(turns.vehicle.steering).symbol.data.unit == "rad"
        else (1.0, str(turns.vehicle.mechanism.parameter(turns.vehicle.steering).symbol.data.unit))
    )
    growth = np.array([turn.growth for turn in turns.turns])
    figures = [_stability(a, factor * turns.steering, growth, ("steering", unit))]
    across = ("lateral acceleration", "m/s²")
    motion = turns.turns[0].motions.point.equations.layout
    joint = next(j for j in turns.vehicle.mechanism.joints if j.child.body == turns.vehicle.body)
    shown = [q.name for q in joint.coordinates if q.name not in turns.vehicle.moving]
    units = {str(x.name): str(x.data.unit) for x in (*motion.coordinates, *motion.speeds)}
    for name in shown:
        scale, of = (
            (DEGREES, "°") if units[name] == "rad" else (1000.0, "mm") if units[name] == "m" else (1, units[name])
        )
        drawing = curves(across, (name, of), [(a, scale * turns.of(name))])
        figures.append(figure(with_unit(name, of), "Over the lateral acceleration.", drawing))
    figures.append(
        figure("Growth of disturbances (1/s)", "Largest real part, steering and drive held; unstable above zero.",
               curves(across, ("growth", "1/s"), [(a, growth)]))
    )  # fmt: skip
    drive = np.array([turn.drive for turn in turns.turns])
    drive_unit = str(turns.vehicle.mechanism.parameter(turns.vehicle.drive).symbol.data.unit)
    figures.append(figure(with_unit("Drive", drive_unit.replace("*", " ")), "What keeping the speed takes.",
                          curves(across, ("drive", drive_unit.replace("*", " ")), [(a, drive)])))  # fmt: skip
    note = "Turns at constant speed, followed along their own curve: it turns back where the tyres give no more."
    return gallery("turns", "Steady cornering", note, figures)


def _stability(a: np.ndarray, steering: np.ndarray, growth: np.ndarray, named: tuple[str, str]) -> Markup:
    """Steering over lateral acceleration, stable and unstable turns in two colours."""
    frame = Frame(
        widen(a, 0.03), widen(steering), "lateral acceleration (m/s²)", with_unit(*named), width=520, height=280
    )
    for low in range(len(a) - 1):
        stable = max(growth[low], growth[low + 1]) <= 1e-3
        frame.line(list(zip(a[low : low + 2], steering[low : low + 2], strict=True)),
                   class_=f"curve series-{0 if stable else 1}")  # fmt: skip
    for x, y, s in zip(a, steering, growth, strict=True):
        frame.dot(x, y, 2.4, f"{number(x)} m/s²: {number(y)} {named[1]}", class_=f"dot series-{0 if s <= 1e-3 else 1}")
    drawing = join([frame.svg("Steering over lateral acceleration"), keys(["stable", "unstable with steering held"])])
    return figure(
        f"Steering ({named[1]})", "A line that bends up understeers, one that bends down oversteers.", drawing
    )


def _modes(run: Handling) -> Markup:
    rows = [
        [number(m.frequency), number(m.damping_ratio), number(m.eigenvalue.real), ", ".join(run.moves_in(m))]
        for m in run.modes if m.eigenvalue.imag >= 0
    ]  # fmt: skip
    head = ["Frequency (Hz)", "Damping", "Growth (1/s)", "Largest in"]
    note = "Modes of ride, roll, yaw and wheels; without place, heading and turns of the wheels."
    return table("Modes of straight running", head, rows, (0, 1, 2), note)


def _roots(roots: Roots) -> Markup:
    if not roots:
        return Markup()
    x = [(v, s.real, s.imag) for v, values in roots for s in values if s.imag >= 0 and s.real > -60]
    figures = []
    for title, k in (("Real parts (1/s)", 1), ("Frequencies (rad/s)", 2)):
        points = [row for row in x if k == 1 or row[2] > 0]
        frame = Frame(widen([p[0] for p in points], 0.03), widen([p[k] for p in points]), "speed (m/s)", title,
                      width=520, height=280)  # fmt: skip
        if k == 1:
            frame.line([(frame.x[0], 0.0), (frame.x[1], 0.0)], class_="whisker dashed")
        for p in points:
            frame.dot(p[0], p[k], 2.0, f"{number(p[0])} m/s: {p[1]:.4g} ± {p[2]:.4g}i", class_="dot series-0")
        figures.append(figure(title, "", frame.svg(title)))
    return gallery("roots", "Roots over the speed", "Eigenvalues about straight running, steering held.", figures)


def _responses(run: Handling) -> Markup:
    factor, unit = _angle(run)
    b = f"{run.vehicle.body}.iframe"
    # Straight running goes along x: the y axis of the earth is sideways.
    wanted = [("yaw rate", f"{run.vehicle.body}.rotation.z", DEGREES, "°/s"),
              ("lateral acceleration", f"{b}.acceleration.y", 1.0, "m/s²")]  # fmt: skip
    figures = []
    for name, formula, scale, of in wanted:
        response = run.response(formula, 2 * np.pi * FREQUENCIES)
        gain, phase = scale / factor * np.abs(response.values), DEGREES * np.unwrap(np.angle(response.values))
        x = np.log10(FREQUENCIES)
        for title, values, y_unit in ((f"{name}, gain", gain, f"{of} per {unit}"), (f"{name}, phase", phase, "°")):
            frame = Frame(widen(x, 0.01), widen([*values, 0.0]), "frequency (Hz)", y_unit, width=520, height=240)
            frame.line(list(zip(x.tolist(), values.tolist(), strict=True)), class_="curve series-0")
            places = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
            for place in places:
                at = frame.at_x(float(np.log10(place)))
                frame.text(at, frame.height - frame.bottom + 17, number(place), text_anchor="middle")
            figures.append(figure(f"{title} ({y_unit})", "", frame.svg(title, x_ticks=[])))
    return gallery("responses", "Response to the steering", "About straight running, the speed kept.", figures)


def _step(stepped: StepSteer) -> Markup:
    units = {"lateral acceleration": (1.0, "m/s²"), "yaw rate": (DEGREES, "°/s"), "roll": (DEGREES, "°"),
             "sideslip": (DEGREES, "°")}  # fmt: skip
    figures, rows = [], []
    for name, curve in stepped.curves.items():
        scale, unit = units[name]
        if np.abs(curve).max() < 1e-9:
            continue
        drawing = curves(("time", "s"), (name, unit), [(stepped.since, scale * curve)])
        figures.append(figure(f"{name.capitalize()} ({unit})", "", drawing))
        found = stepped.characteristics(name)
        rows.append([name, f"{number(scale * found['steady'])} {unit}", f"{100 * found['overshoot']:.1f} %",
                     *(number(found[kind]) for kind in ("peak time", "response time", "settling time"))])  # fmt: skip
    head = ["", "Steady", "Overshoot", "Peak (s)", "90 % (s)", "Settled to 5 % (s)"]
    note = "Times from when half of the step is done."
    return join([gallery("step", "Step of steering", note, figures), table("", head, rows, (1, 2, 3, 4, 5))])


def _lanes(lanes: LaneChange | None) -> Markup:
    if lanes is None:
        return Markup()
    named = ("way", "m")
    path = figure("Path (m)", f"The mass centre leaves the path by {number(lanes.largest_error)} m at most.",
                  join([curves(named, ("aside", "m"), [(lanes.way, lanes.path), (lanes.way, lanes.aside)]),
                        keys(["path", "mass centre"])]))  # fmt: skip
    figures = [
        path,
        figure("Steering (°)", "", curves(named, ("steering", "°"), [(lanes.way, DEGREES * lanes.steering)])),
    ]
    for name, (scale, unit) in {"lateral acceleration": (1.0, "m/s²"), "roll": (DEGREES, "°"),
                                "sideslip": (DEGREES, "°")}.items():  # fmt: skip
        curve = lanes.curves[name]
        if np.abs(curve).max() > 1e-9:
            figures.append(
                figure(f"{name.capitalize()} ({unit})", "", curves(named, (name, unit), [(lanes.way, scale * curve)]))
            )
    return gallery("lanes", "Double lane change", "With a driver model that previews the path (ISO 3888-1).", figures)
