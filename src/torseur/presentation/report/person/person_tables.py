"""Tables and checks of a person's trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torseur.analysis.biomechanics.person.calibration import EXPECTED, LENGTHS, SIDES_ALIKE, Calibration
from torseur.analysis.biomechanics.person.file_results import agreements
from torseur.analysis.biomechanics.person.person_analysis import PLATES, PersonTrial
from torseur.analysis.biomechanics.person.session import symmetry_of
from torseur.analysis.biomechanics.person_model.anthropometry import TABLES
from torseur.analysis.biomechanics.person_model.human36 import (
    SEGMENT_NAMES,
    dimensions,
    human36,
    joint_limits,
    marker_places,
)
from torseur.presentation.report.page.report_content import Check, DataTable
from torseur.presentation.report.person.person_looks import in_words
from torseur.presentation.scene.scene import Array

JOINTS = (
    "hip_flexion", "hip_adduction", "hip_rotation", "knee_flexion", "ankle_flexion", "ankle_inversion",
    "shoulder_flexion", "shoulder_adduction", "shoulder_rotation", "elbow_flexion", "elbow_pronation", "wrist_flexion",
)  # fmt: skip
CENTRAL = (
    "lumbar_extension", "lumbar_bending", "thoracic_rotation", "neck_extension", "neck_bending", "neck_rotation",
)  # fmt: skip
# What is usual in motion analysis: distance of markers, force and moment left over beside the greatest reaction.
GOOD_FIT, GOOD_FORCE, GOOD_MOMENT = 0.015, 0.05, 0.01
FEW_FRAMES = 5  # fewer in which the plates carry both feet say nothing
RIGID_TRUNK = 0.15  # of the greatest reaction: what a trunk without markers leaves when it rides on the pelvis


def person_tables(person: PersonTrial, trials: Sequence[PersonTrial] = ()) -> tuple[DataTable, ...]:
    """Gait, joints, segments against anthropometry, quality of fit, and what is left over."""
    walked = [trial for trial in trials or (person,) if trial.walks]
    gait = [_gait(trial) for trial in walked] + ([_symmetry(walked)] if walked else [])
    balance = [_residual_table(person)] if len(person.dynamics.reactions) == 2 else []
    return (
        *gait, joint_table(person), *_beside_file(person), _fit(person), *balance, *_calibration_tables(person),
        *_segments(person), _masses(person), *_notes(person),
    )  # fmt: skip


def _calibration_tables(person: PersonTrial) -> list[DataTable]:
    """What was measured on the person, and where landmarks were seen beside their usual places."""
    if person.calibration is None:
        return []
    lengths, gaps = person.calibration.lengths or {}, person.calibration.held_out or {}
    rows = tuple((in_words(name), f"{own:.3f}", f"{usual:.3f}") for name, (own, usual) in lengths.items())
    note = "; ".join(person.calibration.notes)
    tables = [DataTable("Measured on the person", ("Length", "Measured (m)", "Table (m)"), rows, note, (1, 2))]
    if gaps:
        what = "Distance of each landmark of the static trial from where all the others predict it."
        ranked = sorted(gaps.items(), key=lambda pair: -pair[1])
        tables.append(DataTable(
            "Landmarks held out", ("Marker", "Distance (mm)"),
            tuple((label, f"{1e3 * gap:.1f}") for label, gap in ranked), what, (1,),
        ))  # fmt: skip
    return tables


def _notes(person: PersonTrial) -> list[DataTable]:
    rows = tuple((note[:1].upper() + note[1:],) for note in person.notes)
    return [DataTable("Notes", ("What was done",), rows)] if rows else []


def _symmetry(trials: Sequence[PersonTrial]) -> DataTable:
    """Right beside left, with the index of symmetry."""
    rows = tuple(
        (one.quantity, f"{one.right:.3g}", f"{one.left:.3g}", one.unit, _number(one.index, 1))
        for one in symmetry_of(trials)
    )
    note = "Symmetry index: right less left over their mean; 0 is symmetric. Work is that of hip, knee and ankle."
    return DataTable("Symmetry", ("Quantity", "Right", "Left", "Unit", "Index (%)"), rows, note, (1, 2, 4))


def _beside_file(person: PersonTrial) -> list[DataTable]:
    """Curves beside those that the laboratory's own software wrote into the file."""
    rows = tuple(
        (
            one.result,
            in_words(one.coordinate),
            f"{one.correlation:.3f}",
            f"{one.rms:.2f}",
            _number(one.offset),
            one.unit,
        )
        for one in agreements(person, person.results)
    )
    headings = ("Result", "Here", "Correlation", "Root mean square", "Offset", "Unit")
    note = "Difference from the results that the file holds; moments with the signs of Plug-in-Gait."
    return [DataTable("Comparison with the results in the file", headings, rows, note, (2, 3, 4))] if rows else []


def _gait(person: PersonTrial) -> DataTable:
    """Times and lengths of the cycles of each foot."""
    rows = []
    for foot, cycles in person.cycles.items():
        if not cycles:
            continue
        way = person.feet.middle(foot) - person.feet.belt_travel(person.motion.time)
        lengths = [float(np.linalg.norm((way[c.last] - way[c.first])[[0, 2]])) for c in cycles]
        times = [c.end - c.start for c in cycles]
        rows.append((
            {"r_foot": "right", "l_foot": "left"}[foot], f"{len(cycles)}", f"{np.mean(times):.2f}",
            f"{np.mean(lengths):.2f}", f"{np.mean(lengths) / np.mean(times):.2f}", f"{120 / np.mean(times):.0f}",
            f"{100 * np.mean([c.stance for c in cycles]):.0f}",
        ))  # fmt: skip
    headings = ("Side", "Cycles", "Cycle (s)", "Stride (m)", "Speed (m/s)", "Cadence (steps/min)", "Stance (%)")
    return DataTable(f"Gait: {person.name}", headings, tuple(rows), numeric=tuple(range(1, 7)))


def joint_table(person: PersonTrial) -> DataTable:
    """Range of motion, extreme moments and powers of every angle, right and left."""
    rows = []
    for angle in JOINTS:
        if not any(f"{side}_{angle}" in person.free for side in "rl"):
            continue
        right, left = (_extremes(person, f"{side}_{angle}") for side in "rl")
        pairs = [text for pair in zip(right, left, strict=True) for text in pair]
        rows.append((angle.replace("_", " "), *pairs))
    for angle in (angle for angle in CENTRAL if angle in person.free):
        rows.append((angle.replace("_", " "), *(part for text in _extremes(person, angle) for part in (text, ""))))
    headings = ("Angle", "right (°)", "left", "right (N m/kg)", "left", "right (W/kg)", "left")
    note = (
        "Angles, then moments and powers over body mass, from least to greatest. A positive moment drives its angle up."
    )
    return DataTable("Joints", headings, tuple(rows), note, tuple(range(1, 7)))


def _extremes(person: PersonTrial, name: str) -> tuple[str, ...]:
    if name not in person.free:
        return "", "", ""
    angle = np.degrees(person.motion.of(name))
    moment, power = person.moment(name) / person.mass, person.power(name) / person.mass
    return _span(angle, 0), _span(moment), _span(power, 1)


def _span(values: Array, digits: int = 2) -> str:
    known = values[np.isfinite(values)]
    return f"{_number(known.min(), digits)} … {_number(known.max(), digits)}" if len(known) else ""


def _number(value: float, digits: int = 2) -> str:
    """With a true minus sign, and no minus before zero."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def _segments(person: PersonTrial) -> list[DataTable]:
    """Every segment of the model against the table of proportions for the same height and mass."""
    usual, own = dimensions(human36(person.height, person.mass, person.table)), dimensions(person.mechanism)
    sizes, inertias = [], []
    for name in SEGMENT_NAMES:
        mass, centre, moments = _inertia(person, name)
        along = abs(float(centre[0 if name.endswith("foot") else 1]))
        table = [usual[f"{name}_mass"] * usual[f"{name}_r{axis}"] ** 2 for axis in "xyz"]
        length, expected = own[f"{name}_length"], usual[f"{name}_length"]
        sizes.append((
            in_words(name), f"{mass:.3f}", f"{usual[f'{name}_mass']:.3f}", f"{length:.3f}", f"{expected:.3f}",
            f"{100 * along / length:.1f}", f"{100 * abs(usual[f'{name}_centre']) / expected:.1f}",
        ))  # fmt: skip
        inertias.append((in_words(name), _triple(moments), _triple(table), _number(_gap(moments, table), 1)))
    title = person.table.title
    return [
        DataTable(
            "Segments against anthropometry",
            ("Segment", "Mass (kg)", "table", "Length (m)", "table", "Mass centre (%)", "table"), tuple(sizes),
            f"The model beside {title}; the mass centre from the proximal joint, in percent of the length.",
            tuple(range(1, 7)),
        ),
        DataTable(
            "Inertias against anthropometry",
            ("Segment", "Inertia (10⁻³ kg m²)", "table", "Difference (%)"), tuple(inertias),
            f"Moments of inertia about x, y and z at the mass centre, beside {title}.", (1, 2, 3),
        ),
    ]  # fmt: skip


def _inertia(person: PersonTrial, name: str) -> tuple[float, Array, Array]:
    """Mass, mass centre and central moments of inertia of a segment."""
    body = person.dynamics.body
    inertia = body.now.links[body.link(name)].inertia
    mass = float(inertia.mass)
    centre = np.array([float(x) for x in inertia.moment]) / mass
    matrix = np.array([[float(x) for x in row] for row in inertia.matrix.rows])
    central = matrix - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return mass, centre, np.diag(central)


def _gap(computed: Array, table: list[float]) -> float:
    return 100 * float(np.linalg.norm(computed - np.array(table)) / np.linalg.norm(table))


def _triple(values: list[float] | Array) -> str:
    return ", ".join(f"{1e3 * float(x):.3g}" for x in values)


def _masses(person: PersonTrial) -> DataTable:
    """Masses of one side by all tables, in percent of the body's."""
    parts = ("head", "trunk", "pelvis", "upper_arm", "forearm", "hand", "thigh", "shank", "foot")
    body = person.dynamics.body
    rows = []
    for part in parts:
        name = part if part in SEGMENT_NAMES else f"r_{part}"
        own = 100 * float(body.now.links[body.link(name)].inertia.mass) / person.mass
        rows.append((part.replace("_", " "), f"{own:.2f}", *(f"{100 * t[part].mass:.2f}" for t in TABLES.values())))
    short = {"human36": "Human36", "de_leva_male": "de Leva, male", "de_leva_female": "de Leva, female"}
    headings = ("Segment", "This model", *(short.get(name, name.capitalize()) for name in TABLES))
    note = "Percent of body mass; limbs of the right side."
    return DataTable("Masses by table", headings, tuple(rows), note, tuple(range(1, len(headings))))


def _fit(person: PersonTrial) -> DataTable:
    """Distances of recorded markers from those of the model, by segment."""
    places, by_marker = marker_places(person.mechanism), person.fit.rms_by_marker
    rows = []
    for name in SEGMENT_NAMES:
        own = {label: rms for label, rms in by_marker.items() if places.get(label) == name and np.isfinite(rms)}
        if not own:
            continue
        worst = max(own, key=lambda label: own[label])
        mean = float(np.sqrt(np.mean([rms**2 for rms in own.values()])))
        seen = 100 * float(np.mean(person.markers.only(list(own)).present))
        rows.append(
            (in_words(name), f"{len(own)}", f"{1e3 * mean:.1f}", f"{worst} {1e3 * own[worst]:.1f}", f"{seen:.0f}")
        )
    headings = ("Segment", "Markers", "Distance (mm)", "Farthest (mm)", "Seen (%)")
    note = f"Root mean square over all frames; {1e3 * person.fit.rms:.2f} mm over all markers."
    return DataTable("Quality of fit", headings, tuple(rows), note, (1, 2, 3, 4))


def _residual_table(person: PersonTrial) -> DataTable:
    """The force and the moment that the motion takes beyond the ground's reactions."""
    residual, peak = person.dynamics.residual, _peak(person)
    height = float(np.mean(person.dynamics.body.mass_centre @ person.feet.up - person.feet.floor))
    rows = []
    judged = person.measured if person.measured.sum() >= FEW_FRAMES else np.ones(len(person.motion), dtype=bool)
    for what, values, scale, unit in (
        ("force", residual.force[judged], peak, "N"),
        ("moment about the mass centre", residual.moment[judged], peak * height, "N m"),
    ):
        size = np.linalg.norm(values, axis=1)
        rms = np.sqrt(np.mean(values**2, axis=0))
        rows.append((
            what, *(f"{x:.3g}" for x in rms), f"{np.sqrt(np.mean(size**2)):.3g} {unit}",
            f"{100 * np.sqrt(np.mean(size**2)) / max(scale, 1e-9):.2g} %", f"{size.max():.3g} {unit}",
        ))  # fmt: skip
    headings = ("Left over", "x", "y", "z", "Root mean square", "Of the reaction", "Greatest")
    note = (
        "What the motion takes and the reactions do not give, where no foot stands beside the plates. Beside the "
        "greatest reaction; for the moment, times the height of the mass centre."
    )
    return DataTable("Balance of forces", headings, tuple(rows), note, tuple(range(1, 7)))


def _peak(person: PersonTrial) -> float:
    return float(np.max(np.linalg.norm(person.dynamics.total_reaction.force, axis=1), initial=0.0))


def person_checks(person: PersonTrial) -> tuple[Check, ...]:
    """What a reader should know before using the numbers."""
    return tuple(_checks(person))


def _checks(person: PersonTrial) -> Iterator[Check]:
    fit = person.fit
    yield Check(
        fit.rms < GOOD_FIT, "The model follows the markers",
        f"{1e3 * fit.rms:.2f} mm on the whole, {1e3 * fit.greatest:.1f} mm at most; good below {1e3 * GOOD_FIT:g} mm",
    )  # fmt: skip
    unfit = int(np.sum(~fit.converged))
    yield Check(unfit == 0, "Every frame was solved", f"{len(fit) - unfit} of {len(fit)} frames")
    swapped = person.label_faults
    yield Check(
        not swapped, "Markers keep the shape of their segments",
        str(swapped[0]) if swapped else "every segment with three markers, within 20 mm",
    )  # fmt: skip
    if person.calibration is not None and person.calibration.standing:
        yield from _calibration_checks(person.calibration)
    if person.source == PLATES and len(person.feet.soles) == 2:
        yield from _balance(person)
    at_limit = _at_limits(person)
    yield Check(not at_limit, "No joint is at its limit", ", ".join(at_limit) or "all angles are inside their ranges")


def _calibration_checks(calibration: Calibration) -> Iterator[Check]:
    """Whether the standing trial is to be believed, by what its fit did not use."""
    gaps = calibration.held_out or {}
    worst = max(gaps, key=lambda label: gaps[label], default="")
    far = ", ".join(f"{label} by {1e3 * gap:.0f} mm" for label, gap in calibration.misplaced.items())
    good = f"good below {1e3 * EXPECTED:g} mm, each judged by the others"
    usual = f"{len(gaps)} landmarks, {worst} the farthest by {1e3 * gaps[worst]:.0f} mm" if gaps else "none to judge"
    yield Check(not far, "Standing: landmarks are where they usually are", f"{far or usual}; {good}")
    yield Check(
        not calibration.unlike, "Standing: right and left are alike",
        ", ".join(calibration.unlike) or f"lengths within {100 * SIDES_ALIKE:g} %",
    )  # fmt: skip
    yield Check(
        not calibration.unusual, "Standing: lengths suit the stature",
        ", ".join(calibration.unusual) or f"within {100 * LENGTHS:g} % of the table",
    )  # fmt: skip


def _balance(person: PersonTrial) -> Iterator[Check]:
    residual, peak = person.dynamics.residual, max(_peak(person), 1e-9)
    judged = person.measured
    height = float(np.mean(person.dynamics.body.mass_centre @ person.feet.up - person.feet.floor))
    yield Check(
        height > 0, "The mass centre is above the floor", f"{height:.2f} m on average; below 0 the wrong axis is up"
    )
    if judged.sum() < FEW_FRAMES:
        return
    force = float(np.sqrt(np.mean(np.sum(residual.force[judged] ** 2, axis=1)))) / peak
    moment = float(np.sqrt(np.mean(np.sum(residual.moment[judged] ** 2, axis=1)))) / (peak * max(abs(height), 1e-9))
    good = RIGID_TRUNK if person.protocol.partial else GOOD_FORCE
    rigid = ", the rest of the body riding on what is followed" if person.protocol.partial else ""
    yield Check(
        force < good, "Plates and motion agree on the force",
        f"{100 * force:.2g} % of the greatest reaction, good below {100 * good:g} %{rigid}",
    )  # fmt: skip
    if person.protocol.partial:
        return
    yield Check(
        moment < GOOD_MOMENT, "Plates and motion agree on the moment",
        f"{100 * moment:.2g} % of the greatest reaction times the height of the mass centre, good below "
        f"{100 * GOOD_MOMENT:g} %",
    )  # fmt: skip


def _at_limits(person: PersonTrial) -> list[str]:
    sentences = []
    for name, (low, high) in joint_limits().items():
        q = person.fit.of(name)
        if np.any((q < low + 1e-6) | (q > high - 1e-6)):
            sentences.append(in_words(name))
    return sentences
