"""Everything a report shows, as frozen values: no numbering of the page, no HTML, no computation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.presentation.report.page.equation_content import EquationBlock, Origin
from torseur.presentation.scene.overlays import Overlay, check_overlays
from torseur.presentation.scene.scene import Array, Body, Element, Motion, Scene, View
from torseur.presentation.typesetting.formula import Formula


class ReportError(TorseurError):
    """A report cannot be made from this content, or cannot be written there."""


@dataclass(frozen=True)
class Joint:
    """A joint between two named bodies; `closes_loop` marks the ones cut from the spanning tree."""

    name: str
    kind: str  # such as "revolute"
    letter: str  # such as "R"
    parent: str
    child: str
    detail: str = ""  # such as "axis z"
    closes_loop: bool = False


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over time; takes its body's colour, or one of its own when it belongs to none."""

    label: str
    values: Array
    symbol: Formula | None = None
    body: str | None = None
    dashed: bool = False
    band: Array | None = None  # half the width of a band around it, such as a standard deviation


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves that share a unit and an axis: time, or percent of something.

    `clock` ties an axis in percent to the animation: 0 stands for its first time, 100 for its second.
    """

    title: str
    unit: str
    times: Array
    curves: tuple[Curve, ...]
    across: str = "s"  # or "%"
    clock: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class CrossPlot:
    """Curves of one unit over another quantity than time: a coupler curve, a phase portrait, camber against travel."""

    across: str
    across_unit: str
    places: Array
    unit: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Parameter:
    """A row of the table of parameters; `bodies` light up with it."""

    symbol: Formula
    meaning: str
    value: str
    unit: str
    bodies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """One line of the account of the degree of freedom: "coordinates", "2", and what that means."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class InfluenceRow:
    """A parameter and what it does to a criterion; `per_percent` is the number behind `change`."""

    symbol: Formula
    meaning: str
    derivative: str
    change: str
    logarithmic: str
    share: str
    per_percent: float


@dataclass(frozen=True)
class Influence:
    """A criterion, its value, and its parameters by influence."""

    title: str
    value: str
    rows: tuple[InfluenceRow, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """A statement that was verified on this run, and whether it held."""

    ok: bool
    title: str
    detail: str = ""


@dataclass(frozen=True)
class Formalism:
    """A row of the certificate: what one formalism cost and how far it is off, or why it does not apply."""

    name: str
    operations: int = 0
    milliseconds: float = 0.0
    difference: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Certificate:
    """The equations by several formalisms, compared; `verdict` is the result in words."""

    agrees: bool
    verdict: str
    rows: tuple[Formalism, ...]


@dataclass(frozen=True)
class DataTable:
    """Rows of texts under headings; columns in `numeric` are set to the right."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numeric: tuple[int, ...] = ()


@dataclass(frozen=True)
class Convergence:
    """A positive number by iteration, drawn on a logarithmic scale."""

    title: str
    values: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class Reproduction:
    """How to obtain the same report again."""

    commands: tuple[str, ...] = ()
    source_name: str = ""
    source: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    date: str = ""


@dataclass(frozen=True)
class LoopRing:
    """A loop by name, and the joints it passes in turn."""

    name: str
    joints: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LoopBranch:
    """A branch of motions through a singular configuration: what it is, in lines, and a motion into it and back."""

    lines: tuple[str, ...]
    motion: Motion | None = None


@dataclass(frozen=True)
class Loops:
    """What closed loops leave free: facts, texts, the loops with the places of all joints (m), and the matrix N.

    N has a row per freedom and a column per independent coordinate.
    """

    facts: tuple[Fact, ...]
    rings: tuple[LoopRing, ...] = ()
    places: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    branches: tuple[LoopBranch, ...] = ()
    branches_note: str = ""
    redundant: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    freedoms: tuple[str, ...] = ()
    passage: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class ReportContent:
    """The whole page. Lists may be empty: a part without content is left out."""

    title: str
    summary: tuple[str, ...] = ()
    description: str = ""
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    freedom: tuple[Fact, ...] = ()
    loops: Loops | None = None
    warnings: tuple[str, ...] = ()
    equations: tuple[EquationBlock, ...] = ()
    equations_note: str = ""
    parameters: tuple[Parameter, ...] = ()
    tables: tuple[DataTable, ...] = ()
    convergence: tuple[Convergence, ...] = ()
    motion: Motion | None = None
    overlays: tuple[Overlay, ...] = ()
    elements: tuple[Element, ...] = ()
    still: str = ""  # why there is no motion, where only a position is shown
    view: View = field(default_factory=View)
    plots: tuple[Plot, ...] = ()
    crossplots: tuple[CrossPlot, ...] = ()
    influences: tuple[Influence, ...] = ()
    influences_note: str = ""
    checks: tuple[Check, ...] = ()
    certificate: Certificate | None = None
    reproduction: Reproduction = field(default_factory=Reproduction)
    findings: tuple[str, ...] = ()  # what a robot file says that the mechanism does not
    diagram: bool = True  # whether bodies and joints are drawn as a graph
    alone: bool = False  # whether the page is the picture and nothing else, in a frame of another page

    @property
    def scene(self) -> Scene | None:
        """What is drawn; None where no body has a picture or a place."""
        if self.motion is None or not any(body.shapes for body in self.bodies):
            return None
        shown = (self.bodies, self.motion, self.elements, self.overlays, self.view)
        return Scene(self.title, *shown, reason=self.still)

    def __post_init__(self) -> None:
        _check_names(self)
        if self.motion is not None:
            _check_motion(self.motion, len(self.bodies))
            check_overlays(self.overlays, len(self.motion.times))
        for plot in self.plots:
            _check_plot(plot)


def _check_names(content: ReportContent) -> None:
    bodies = [body.name for body in content.bodies]
    joints = [joint.name for joint in content.joints]
    _check_unique("body", bodies)
    _check_unique("joint", joints)
    for joint in content.joints:
        _require("body", (joint.parent, joint.child), bodies, f"joint '{joint.name}': ")
    for trace in content.view.traces:
        _require("body", (trace.body,), bodies, "trace: ")
    for parameter in content.parameters:
        _require("body", parameter.bodies, bodies, "parameter: ")
    for plot in content.plots:
        _require("body", [c.body for c in plot.curves if c.body is not None], bodies, f"plot '{plot.title}': ")
    for block in content.equations:
        for origin in _origins(block):
            _require("body", origin.bodies, bodies, f"equations '{block.title}': ")
            _require("joint", origin.joints, joints, f"equations '{block.title}': ")


def _origins(block: EquationBlock) -> Iterable[Origin]:
    for equation in block.equations + block.folded:
        for term in equation.all_terms:
            if term.origin is not None:
                yield term.origin


def _check_unique(kind: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ReportError(f"report: two {kind} entries are named '{twice[0]}'; names must differ.")


def _require(kind: str, names: Iterable[str], known: list[str], where: str) -> None:
    for name in names:
        if name not in known:
            raise ReportError(unknown_name(kind, name, known, where=f"report, {where}"))


def _check_motion(motion: Motion, bodies: int) -> None:
    samples = len(motion.times)
    _check_shape("times", motion.times, (samples,))
    _check_shape("positions", motion.positions, (samples, bodies, 3))
    _check_shape("quaternions", motion.quaternions, (samples, bodies, 4))
    if samples < 2 or not np.all(np.diff(motion.times) > 0):
        raise ReportError("report, motion: times must increase and hold at least two samples.")


def _check_plot(plot: Plot) -> None:
    for curve in plot.curves:
        if curve.values.shape != plot.times.shape:
            expected, actual = plot.times.shape, curve.values.shape
            raise ReportError(
                f"report, plot '{plot.title}': curve '{curve.label}' has shape {actual}, "
                f"expected {expected} like the times."
            )


def _check_shape(what: str, values: Array, expected: tuple[int, ...]) -> None:
    if values.shape != expected:
        raise ReportError(f"report, motion: {what} has shape {values.shape}, expected {expected}.")
    if not np.all(np.isfinite(values)):
        raise ReportError(f"report, motion: {what} holds values that are not finite.")
