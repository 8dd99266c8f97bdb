"""From a recorded trial to a person's joint angles, moments and powers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.biomechanics.forces.foot_loads import beside_plates, human_footing, plate_reactions
from torseur.analysis.biomechanics.forces.ground_reaction import (
    FEET,
    Footing,
    Reaction,
    ground_reaction,
    share_between_feet,
    vertical,
)
from torseur.analysis.biomechanics.forces.trial_dynamics import TrialDynamics, trial_dynamics
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_motion import JointMotion, coordinate_names, joint_motion
from torseur.analysis.biomechanics.person.calibration import Calibration, calibrate
from torseur.analysis.biomechanics.person.model_axes import turn_to_model_axes
from torseur.analysis.biomechanics.person.motion_cycles import Cycle, cycles_of, marked_cycles
from torseur.analysis.biomechanics.person.protocol import Protocol, require_set
from torseur.analysis.biomechanics.person.random_errors import RandomErrors, random_errors
from torseur.analysis.biomechanics.person_model.anthropometry import Anthropometry, anthropometry
from torseur.analysis.biomechanics.person_model.human36 import human36, joint_limits
from torseur.analysis.biomechanics.person_model.marker_sets import BODIES, OWN
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.label_check import LabelFault, all_label_faults
from torseur.analysis.biomechanics.recordings.markers import Markers, runs
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial, RecordedEvent
from torseur.analysis.biomechanics.tracking import FittedMotion, inverse_kinematics
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.description.mechanism import Mechanism
from torseur.errors import RecordingError

PLATES, MOTION, NOTHING = "force plates", "motion alone", "nothing: the legs are not followed"
_UNLIKE = 0.05  # of a height or a mass, by which the file may say something else
WINDOW = 0.19  # s


@dataclass(frozen=True, eq=False)
class PersonTrial:
    """Everything found about a trial, along the axes x forward, y up, z right, in SI units.

    `source` tells where the ground's reactions come from: "force plates", or "motion alone" where none was recorded.
    """

    name: str
    height: float
    mass: float
    table: Anthropometry
    markers: Markers
    fit: FittedMotion
    dynamics: TrialDynamics
    feet: Footing
    source: str
    plates: tuple[PlateRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    calibration: Calibration | None = None
    protocol: Protocol = field(default_factory=Protocol)
    label_faults: tuple[LabelFault, ...] = ()
    events: tuple[RecordedEvent, ...] = ()
    results: Mapping[str, Array] = field(default_factory=dict)
    derivatives: Derivatives | None = None

    @property
    def mechanism(self) -> Mechanism:
        return self.dynamics.body.mechanism

    @property
    def motion(self) -> JointMotion:
        return self.dynamics.motion

    @cached_property
    def beside(self) -> dict[str, Mask]:
        """Frames in which each foot stands beside the force plates: what carries it there was not measured."""
        if self.source != PLATES:
            return {foot: np.zeros(len(self.motion), dtype=bool) for foot in self.feet.soles}
        return beside_plates(self.plates, self.feet, self.motion.time, self.feet.up)

    @cached_property
    def measured(self) -> Mask:
        """Frames in which the plates carry every foot that stands."""
        return ~np.logical_or.reduce([np.zeros(len(self.motion), dtype=bool), *self.beside.values()])

    def moment(self, coordinate: str) -> Array:
        """The moment of a coordinate (N m); NaN in a leg whose foot stands beside the plates."""
        return self._where_known(coordinate, self.dynamics.moment(coordinate))

    def power(self, coordinate: str) -> Array:
        """The power of a coordinate (W); NaN like its moment."""
        return self._where_known(coordinate, self.dynamics.power(coordinate))

    def _where_known(self, coordinate: str, values: Array) -> Array:
        foot = f"{coordinate[:2]}foot"
        leg = coordinate[2:].startswith(("hip_", "knee_", "ankle_"))
        return np.where(self.beside[foot], np.nan, values) if leg and foot in self.beside else values

    @cached_property
    def random_errors(self) -> RandomErrors:
        """Standard deviations of angles and moments by errors of markers and plates like those of the trial."""
        weights = self.calibration.weights if self.calibration else None
        how = self.derivatives or usual_derivatives(self.motion.time)
        return random_errors(self.dynamics, self.fit, self.markers, how, self.free, weights)

    @cached_property
    def cycles(self) -> dict[str, tuple[Cycle, ...]]:
        """Whole cycles of each foot, by the events of the recording where somebody marked its strikes."""
        cycles = {}
        for foot in self.feet.soles:
            marked = marked_cycles(self.events, self.motion.time, foot)
            cycles[foot] = marked or cycles_of(self.feet, self.motion.time, foot)
        return cycles

    @cached_property
    def way(self) -> Array:
        """Where the mass centre is on the ground that the feet stand on (frames, 3): a treadmill's belt moves."""
        return self.dynamics.body.mass_centre - self.feet.belt_travel(self.motion.time)

    @property
    def free(self) -> tuple[str, ...]:
        """Coordinates that follow the markers; the others are held."""
        held = self.protocol.held(self.motion.names)
        return tuple(name for name in self.motion.names if name not in held)

    @property
    def walks(self) -> bool:
        """Whether a foot makes a whole cycle and the person goes somewhere."""
        way = np.ptp(self.way[:, [0, 2]], axis=0)
        return any(self.cycles.values()) and bool(np.linalg.norm(way) > 0.3 * self.height)


def analyse_person(
    trial: MotionTrial,
    *,
    height: float,
    mass: float,
    table: str = "de_leva_male",
    standing: Markers | None = None,
    derivatives: Derivatives | None = None,
    mechanism: Mechanism | None = None,
    protocol: Protocol | None = None,
) -> PersonTrial:
    """Joint angles, moments and powers of a person from markers, with the force plates where there are some.

    `standing` is a trial of the person standing still, from which segments get their lengths and markers their places;
    `mechanism` is another model with Human36's names, such as one with identified inertias; `protocol` says which set
    of markers was used, what part of the body it follows, and how the hips are located.
    """
    how = protocol or Protocol()
    require_set(trial.markers.labels, how)
    how, measured = how.with_widths(trial.subject)
    model = mechanism or human36(height, mass, table)
    turned, notes = turn_to_model_axes(trial, how.marker_set)
    turned = replace(turned, markers=how.followed_markers(turned.markers))
    faults = all_label_faults(turned.markers, how.marker_set.groups(turned.markers.labels))
    calibration = _calibration(model, turned, standing, how)
    model = calibration.mechanism if calibration else model
    held = how.held(coordinate_names(model))
    try:
        weights = calibration.weights if calibration else None
        fit = inverse_kinematics(model, turned.markers, weights=weights, limits=joint_limits(), held=held)
    except RecordingError as problem:
        raise _with_options(problem) from problem
    motion, used, cut = _known_motion(model, fit, derivatives)
    body = BodyInMotion(model, motion)
    feet = human_footing(body, how.feet or FEET)
    reactions, source, said = _reactions(body, turned, feet, how)
    markers = turned.markers.frames(used)
    fit = replace(fit, time=fit.time[used], q=fit.q[used], distances=fit.distances[used],
                  converged=fit.converged[used], rounds=fit.rounds[used])  # fmt: skip
    said = (*map(str, faults), *fit.notes, *cut, *said)
    belt = _belt_note(feet) if how.feet else []
    notes = (*turned.markers.notes, *trial.notes, *measured, *notes, *belt, *motion.notes)
    found = PersonTrial(
        trial.name, height, mass, anthropometry(table), markers, fit, trial_dynamics(model, motion, reactions), feet,
        source, turned.plates, said, notes, calibration, how, faults, turned.events,
        {label: values[used] for label, values in trial.results.items()}, derivatives,
    )  # fmt: skip
    return replace(found, warnings=(*said, *_beside_notes(found), *_other_person(trial.subject, height, mass)))


def _beside_notes(person: PersonTrial) -> list[str]:
    """What is not known where a foot stands beside the plates."""
    notes = []
    for foot, away in person.beside.items():
        if away.any():
            spans = ", ".join(
                f"{person.motion.time[a]:.2f} to {person.motion.time[b]:.2f} s" for a, b in runs(away)
            )  # fmt: skip
            side = {"r_foot": "right", "l_foot": "left"}[foot]
            notes.append(f"the {side} foot stands beside the plates from {spans}: moments of that leg are left out")
    return notes


def _other_person(subject: Mapping[str, float], height: float, mass: float) -> list[str]:
    """Where the file says another height or mass than is given."""
    said = []
    for name, given, unit in (("height", height, "m"), ("mass", mass, "kg")):
        stated = subject.get(name, given)
        if abs(stated - given) > _UNLIKE * given:
            said.append(f"the file says that the person's {name} is {stated:g} {unit}, given was {given:g} {unit}")
    return said


def _belt_note(feet: Footing) -> list[str]:
    speed = float(np.linalg.norm(feet.belt))
    return [f"a treadmill: its belt moves at {speed:.2f} m/s, by the feet on it"] if speed else []


def _calibration(model: Mechanism, trial: MotionTrial, standing: Markers | None, how: Protocol) -> Calibration | None:
    """The model fitted to the person: from standing still, or from the trial itself for markers of other sets."""
    if standing is not None:
        require_set(standing.labels, how)
        upright, _ = turn_to_model_axes(MotionTrial(standing), how.marker_set)
        return calibrate(model, how.followed_markers(upright.markers), how)
    return None if how.marker_set.name == OWN else calibrate(model, trial.markers, how, standing=False)


def _with_options(problem: RecordingError) -> RecordingError:
    """The same fault, with what part of a body the recording may hold."""
    bodies = ", ".join(BODIES)
    hint = f" Where only a part of the body has markers, say which (--body, Protocol(body=...)): {bodies}."
    text = str(problem)
    if "do not determine" not in text:
        return problem
    return RecordingError(text + hint)


def _known_motion(
    model: Mechanism, fit: FittedMotion, derivatives: Derivatives | None
) -> tuple[JointMotion, slice, list[str]]:
    """The longest run of frames in which every coordinate is known, and a word where that is not all."""
    known: Mask = np.asarray(np.isfinite(fit.q).all(axis=1))
    ends = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    spans = list(zip(ends[::2], ends[1::2], strict=True))
    if not spans:
        raise RecordingError("in no frame do the markers determine the whole person: more markers are needed.")
    first, last = max(spans, key=lambda span: span[1] - span[0])
    used = slice(int(first), int(last))
    how = derivatives or usual_derivatives(fit.time[used])
    motion = joint_motion(model, fit.time[used], fit.q[used], how, fit.coordinates)
    if how.method == "savitzky_golay" and len(motion) > 3 * how.window:
        # The polynomial of the first half window is one and the same: its second derivative is extrapolated.
        edge = how.window // 2
        used = slice(used.start + edge, used.stop - edge)
        said = f"the first and the last {edge} frames are left out: accelerations are poor there"
        motion = replace(motion.frames(slice(edge, -edge)), notes=(*motion.notes, said))
    note = f"frames {first} to {last - 1} of {len(known)} are used: in others not every coordinate is determined"
    return motion, used, [] if known.all() else [note]


def usual_derivatives(time: Array) -> Derivatives:
    """Polynomials of fifth order over 0.19 s: walking keeps its shape, half a millimetre of noise is smoothed."""
    step = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    return Derivatives("savitzky_golay", window=max(7, 2 * round(WINDOW / step / 2) + 1), order=5)


def _reactions(
    body: BodyInMotion, trial: MotionTrial, feet: Footing, how: Protocol
) -> tuple[dict[str, Reaction], str, tuple[str, ...]]:
    if not how.feet:
        return {}, NOTHING, ()
    if len(how.feet) == 1 and not trial.plates:
        note = "no force plates and one leg: what the ground exerts is not known, and the moments of the leg are wrong"
        return {}, NOTHING, (note,)
    if trial.plates:
        reactions, notes = plate_reactions(body, trial.plates, feet)
        return reactions, PLATES, notes
    reactions = share_between_feet(ground_reaction(body), feet, vertical(body))
    note = "no force plates: the ground's reaction follows from the motion, and its share per foot is an assumption"
    return reactions, MOTION, (note,)
