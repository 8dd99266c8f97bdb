"""From a mechanism straight to its page: derive, simulate, compose, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from torseur.analysis.sensitivity import Sensitivities
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.computation.simulation import Output, Trajectory, simulate
from torseur.computation.simulation.problem import checked_rtol
from torseur.derivation.equations import Equations, missing_values
from torseur.derivation.formalisms import certify, derive
from torseur.derivation.tree import build_tree
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.description.mechanism import Mechanism
from torseur.description.readers import RobotFile
from torseur.errors import SimulationError, TorseurError, UnsupportedError, list_names
from torseur.presentation.report.compose.compose_report import Supplement, compose, outputs_for
from torseur.presentation.report.compose.derivation_cards import FORMALISM_TITLES, SensitivityStudy
from torseur.presentation.report.page.report_content import Certificate, Formalism, ReportContent, Reproduction
from torseur.presentation.report.page.report_page import write_report
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.vectors import arrow_kinds, quantities_for
from torseur.presentation.scene.still_position import stand_ins, start_position

MOST_FREEDOMS = 18  # beyond which a page would wait long for it


def certificate_of(equations: Equations) -> Certificate:
    """The certificate of a mechanism, or why the page has none."""
    mechanism, freedoms = equations.mechanism, len(equations.layout.speeds)
    if freedoms > MOST_FREEDOMS:
        return Certificate(True, f"Not compared here, for {freedoms} speeds; torseur certify does it.", ())
    try:
        comparison = certify(mechanism, points=1)
    except TorseurError as problem:
        return Certificate(False, f"Not compared: {problem}", ())
    rows = [
        Formalism(FORMALISM_TITLES[e.formalism], e.operations, e.seconds * 1e3, e.difference, e.reason)
        for e in comparison.entries
    ]
    count = sum(not row.reason for row in rows)
    alone = "" if comparison.positions.reason else ", and so do differentiated positions"
    verdict = (
        f"{count} formalisms, each derived from its own principle, give the same M, b, Q{alone}; {comparison.method}."
        if comparison.agrees else f"The formalisms disagree ({', '.join(comparison.guilty)}), {comparison.method}."
    )  # fmt: skip
    return Certificate(comparison.agrees, verdict, tuple(rows))


MOST_SAMPLES, LEAST_SAMPLES, PER_SECOND = 600, 100, 40
MOST_POSES = 15_000  # samples times bodies, which keeps the page of a large mechanism small


@dataclass(frozen=True)
class Occasion:
    """What a report is to show: how long a motion (s), by which formalism, with which values (SI) and accuracy.

    `outputs` are quantities or formulas to plot, also drawn `over` another one: a coupler curve, a phase portrait.
    `arrows` are kinds of arrows along the motion (`Take`).
    `criteria` are formulas whose derivatives by the parameters `vary` (all by default) have a part of the page.
    """

    until: float = 10.0
    formalism: str = "recursive"
    parameters: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 1e-9
    reproduction: Reproduction = field(default_factory=Reproduction)
    outputs: tuple[str, ...] = ()
    over: str = ""
    arrows: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    vary: str | None = None
    progress: Callable[[float], None] | None = None
    certificate: bool = True


def report(
    subject: Mechanism | RobotFile, path: str | Path, occasion: Occasion | None = None, *, overwrite: bool = False
) -> Path:
    """Writes the report of a mechanism, or of a robot with its looks, as one HTML file and returns its path."""
    robot = subject if isinstance(subject, RobotFile) else None
    mechanism = subject.mechanism if isinstance(subject, RobotFile) else subject
    return write_report(content_of(mechanism, occasion or Occasion(), robot), path, overwrite=overwrite)


def content_of(mechanism: Mechanism, occasion: Occasion, robot: RobotFile | None = None) -> ReportContent:
    """The content of a report; what cannot be derived or computed is left out, and the page says why."""
    arrow_kinds(occasion.arrows)
    checked_rtol(occasion.rtol)  # a wrong request is no reason for a page without a motion
    notes: list[str] = []
    equations, motion = None, None
    try:
        equations = derive(mechanism, occasion.formalism)
        occasion = _complete(equations, occasion, notes)
        motion = _motion(equations, occasion, notes)
    except UnsupportedError as problem:
        notes.append(f"No equations: {problem}")
    position, reason = None, ""
    if motion is None:
        tree = equations.tree if equations is not None else build_tree(mechanism)
        position = start_position(tree, equations, occasion.parameters, occasion.initial)
        reason = _still_reason(notes, stand_ins(tree, occasion.parameters))
    supplement = Supplement(
        still=reason,
        position=position,
        reproduction=occasion.reproduction,
        notes=tuple(notes),
        certificate=certificate_of(equations) if equations is not None and occasion.certificate else None,
        robot=robot,
        arrows=arrow_kinds(occasion.arrows),
        asked=tuple(label_of(text) for text in occasion.outputs),
        over=label_of(occasion.over) if motion is not None else "",
        sensitivities=_sensitivities(mechanism, occasion) if motion is not None else None,
        study=_study(occasion),
    )
    return compose(mechanism, equations, motion, occasion.parameters, supplement)


def _still_reason(notes: list[str], assumed: Mapping[str, float]) -> str:
    """Why only a position is drawn, and what was assumed for it."""
    lengths = [name for name, value in assumed.items() if value]
    drawn = f" Drawn with {list_names(lengths)} = 1 m." if lengths else ""
    return f"{notes[-1] if notes else 'No motion.'}{drawn}"


def _study(occasion: Occasion) -> SensitivityStudy:
    """What the sensitivity systems are written for: the first criterion asked for."""
    return SensitivityStudy(occasion.criteria[0] if occasion.criteria else "", occasion.vary)


def _sensitivities(mechanism: Mechanism, occasion: Occasion) -> Sensitivities | None:
    """Derivatives of the criteria asked for, as functions of time."""
    if not occasion.criteria:
        return None
    return sensitivity(
        mechanism,
        list(occasion.criteria),
        occasion.vary,
        until=occasion.until,
        samples=sample_count(occasion.until, len(mechanism.bodies)),
        values=dict(occasion.parameters),
        initial=dict(occasion.initial),
        rtol=occasion.rtol,
    )


def _complete(equations: Equations, occasion: Occasion, notes: list[str]) -> Occasion:
    """The occasion with a zero for every value that nobody gave and no motion depends on."""
    # Gravity of a mechanism on a table, the mass of a body on a rail without weight: they have no value and need none.
    missing = Numbers(equations.tree, occasion.parameters).missing
    needed = missing_values(equations, occasion.parameters)
    if not missing or needed:
        return occasion
    notes.append(f"The motion does not depend on {list_names(missing)}: taken as 0 in the drawing and in the energy.")
    return replace(occasion, parameters={**occasion.parameters, **dict.fromkeys(missing, 0.0)})


def _motion(equations: Equations, occasion: Occasion, notes: list[str]) -> Trajectory | None:
    missing = missing_values(equations, occasion.parameters)
    functions = undetermined_functions(equations.tree.mechanism)
    if missing or functions:
        notes.append(f"No motion: {list_names([*missing, *functions])} must be given first.")
        return None
    try:
        return simulate(
            equations,
            occasion.until,
            samples=sample_count(occasion.until, len(equations.mechanism.bodies)),
            outputs=_outputs(equations, occasion),
            parameters=dict(occasion.parameters),
            initial=dict(occasion.initial),
            rtol=occasion.rtol,
            progress=occasion.progress,
        )
    except SimulationError as problem:
        notes.append(f"The motion ended early: {problem}")
        partial = problem.trajectory
        return partial if isinstance(partial, Trajectory) and len(partial) > 1 else None
    except TorseurError as problem:
        notes.append(f"No motion: {problem}")
        return None


def _outputs(equations: Equations, occasion: Occasion) -> list[str | Output]:
    """What the page needs and what was asked for, each once; states are there anyway."""
    layout = equations.layout
    states = [*layout.coordinate_names, *layout.speed_names]
    asked = [*outputs_for(equations), *occasion.outputs, *([occasion.over] if occasion.over else [])]
    by_name: dict[str, str | Output] = {label_of(text): text for text in asked if label_of(text) not in states}
    for name in quantities_for(equations.mechanism, arrow_kinds(occasion.arrows)):
        by_name.setdefault(name, Output(name))
    return list(by_name.values())


def label_of(text: str) -> str:
    """The name that an output is shown by: camber of `camber = angle(...)`."""
    return text.partition("=")[0].strip()


def sample_count(seconds: float, bodies: int) -> int:
    """Enough samples to look smooth, few enough to keep the page small."""
    wanted = min(MOST_SAMPLES, max(LEAST_SAMPLES, round(abs(seconds) * PER_SECOND)))
    return int(min(wanted, max(50, MOST_POSES // max(1, bodies))))
