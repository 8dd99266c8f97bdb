"""From a mechanism, its equations and a motion to the content of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, symbols_of
from torseur.analysis.sensitivity import Sensitivities
from torseur.computation.simulation import Trajectory
from torseur.derivation.equations import Equations
from torseur.derivation.tree import GROUND, Tree, build_tree
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import EARTH_NAME, Mechanism
from torseur.description.readers import RobotFile, summary
from torseur.errors import counted, list_names
from torseur.presentation.report.bodies.body_masses import resolved_inertia
from torseur.presentation.report.bodies.body_poses import motion_of
from torseur.presentation.report.bodies.body_shapes import Drawing
from torseur.presentation.report.bodies.known_numbers import Numbers
from torseur.presentation.report.bodies.robot_looks import looks_of
from torseur.presentation.report.compose.account import Account, JointAccount, Quantity, account
from torseur.presentation.report.compose.equation_cards import Blocks
from torseur.presentation.report.compose.examination_content import influences_of, loops_of, note_on, sensitivity_plots
from torseur.presentation.report.compose.motion_content import checks_of, mobility_facts, plots_of
from torseur.presentation.report.compose.term_values import Samples, samples_of
from torseur.presentation.report.drawing.shapes import Shape
from torseur.presentation.report.page.equation_content import EquationBlock
from torseur.presentation.report.page.report_content import (
    Body,
    Certificate,
    Check,
    Fact,
    Joint,
    Loops,
    Motion,
    Parameter,
    ReportContent,
    Reproduction,
    Trace,
    View,
)
from torseur.presentation.typesetting.formula import formula
from torseur.presentation.typesetting.read_graph import read_name

LETTERS = {"revolute": "R", "prismatic": "P", "helical": "H", "cylindrical": "C", "universal": "U", "spherical": "S",
           "planar": "E", "free": "F", "fixed": "W"}  # fmt: skip
MOST_TRACES = 6


def outputs_for(equations: Equations) -> list[str]:
    """What a trajectory must hold besides the states for its report."""
    return ["kinetic_energy", "potential_energy", "energy", *(str(a.name) for a in equations.layout.accelerations)]


@dataclass(frozen=True)
class Supplement:
    """What a report shows beside mechanism, equations and motion.

    `notes` say what is left out and why. A `robot` file gives bodies their looks, and a list of what it says and the
    mechanism does not. `sensitivities` have a part of their own.
    """

    reproduction: Reproduction = field(default_factory=Reproduction)
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = None
    robot: RobotFile | None = None
    sensitivities: Sensitivities | None = None


def compose(
    mechanism: Mechanism,
    equations: Equations | None = None,
    trajectory: Trajectory | None = None,
    values: Mapping[str, float] | None = None,
    supplement: Supplement | None = None,
) -> ReportContent:
    """The content of a report on a mechanism.

    Without equations or without a trajectory (made with `outputs_for`) their parts are left out. `values` are the
    parameters that differ from the description.
    """
    beside = supplement or Supplement()
    robot, sensitivities = beside.robot, beside.sensitivities
    tree = equations.tree if equations is not None else build_tree(mechanism)
    page = Page(tree, equations, trajectory, values or {}, looks_of(robot) if robot is not None else {})
    return ReportContent(
        title=page.title(),
        summary=page.summary(),
        description=_description(page.account),
        bodies=page.bodies(),
        joints=page.joints(),
        freedom=page.freedom(),
        loops=page.loops(),
        warnings=(*page.account.warnings, *beside.notes),
        equations=page.blocks(),
        parameters=page.parameters(),
        motion=page.motion,
        view=page.view(),
        plots=(
            *(plots_of(tree, trajectory) if trajectory is not None else ()),
            *(sensitivity_plots(sensitivities) if sensitivities is not None else ()),
        ),
        influences=influences_of(sensitivities) if sensitivities is not None else (),
        influences_note=note_on(sensitivities) if sensitivities is not None else "",
        checks=page.checks(),
        certificate=beside.certificate,
        reproduction=beside.reproduction,
        findings=tuple(summary(robot.findings)) if robot is not None else (),
    )


@dataclass(frozen=True)
class Page:
    """Everything the parts of a page are made from."""

    tree: Tree
    equations: Equations | None
    trajectory: Trajectory | None
    values: Mapping[str, float]
    looks: Mapping[str, tuple[Shape, ...]]

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers(self.tree, self.values)

    @cached_property
    def account(self) -> Account:
        return account(self.tree, self.values)

    @cached_property
    def motion(self) -> Motion | None:
        return motion_of(self.numbers, self.trajectory) if self.trajectory is not None else None

    @cached_property
    def samples(self) -> Samples | None:
        if self.trajectory is None or self.equations is None:
            return None
        return samples_of(self.equations, self.numbers, self.trajectory)

    def blocks(self) -> tuple[EquationBlock, ...]:
        if self.equations is None:
            return ()
        return Blocks(self.equations.as_read, self.samples, source=self.equations).all()

    def checks(self) -> tuple[Check, ...]:
        if self.equations is None or self.samples is None or self.trajectory is None:
            return ()
        return tuple(checks_of(self.equations, self.samples, self.trajectory))

    def summary(self) -> tuple[str, ...]:
        one = self.account
        freedom = one.degree_of_freedom
        facts = [counted(len(one.bodies), "body"), counted(len(one.joints), "joint")]
        if freedom is not None:
            facts.append(counted(freedom, "degree of freedom"))
        loops = len(one.loops)
        return (*facts, counted(loops, "loop") if loops else "tree")

    def freedom(self) -> tuple[Fact, ...]:
        one = self.account
        speeds = len(one.speeds)
        facts = [Fact("coordinates", str(len(one.coordinates)), "of the joints of the spanning tree"),
                 Fact("speeds", str(speeds), "freedoms of these joints")]  # fmt: skip
        if one.loops:
            facts.append(Fact("closed by", ", ".join(one.loops), "joints that close loops"))
        if one.constraints:
            facts.append(Fact("constraints", ", ".join(one.constraints), "besides the joints"))
        if self.equations is not None and self.equations.is_constrained and self.samples is not None:
            facts += mobility_facts(self.equations, self.samples)
        if one.degree_of_freedom is not None:
            facts.append(Fact("degree of freedom", str(speeds), "a tree: the same in every configuration"))
        return tuple(facts)

    def loops(self) -> Loops | None:
        """What the loop doctor says where the motion starts."""
        if not self.account.loops:
            return None
        start = (
            {name: float(self.trajectory[name][0]) for name in self.tree.layout.coordinate_names}
            if self.trajectory is not None
            else None
        )
        return loops_of(self.tree.mechanism, self.values, start)

    @cached_property
    def drawing(self) -> Drawing:
        ranges = {}
        if self.trajectory is not None:
            for name in self.tree.layout.coordinate_names:
                values = self.trajectory[name]
                ranges[name] = (float(np.min(values)), float(np.max(values)))
        extent = float(np.max(np.ptp(self.motion.positions, axis=0))) if self.motion is not None else 0.0
        return Drawing(self.numbers, ranges, extent, self.looks, self.account.bodies)

    def bodies(self) -> tuple[Body, ...]:
        """The earth and all bodies with their pictures."""
        return tuple(replace(body, shapes=self.drawing.shapes(body.name)) for body in self.named_bodies())

    def named_bodies(self) -> tuple[Body, ...]:
        """The earth and all bodies, without pictures."""
        moving = [Body(one.name, _mass_text(one.mass, one.formula)) for one in self.account.bodies]
        return (Body(EARTH_NAME, "fixed", fixed=True), *moving)

    def joints(self) -> tuple[Joint, ...]:
        return tuple(_joint(joint) for joint in self.account.joints)

    def title(self) -> str:
        return _title(self.account)

    def view(self) -> View:
        gravity = np.array([component or 0.0 for component in self.account.gravity])
        strength = float(np.linalg.norm(gravity))
        x, y, z = (-gravity / strength).tolist() if strength > 0 else (0.0, 0.0, 1.0)
        return View(up=(x, y, z), traces=self.traces(), level=self._level())

    def _level(self) -> float | None:
        """The height of the floor: a robot that is bolted down stands on it, everything else moves above it."""
        # By convention the origin of a robot's file lies on the floor. Without contacts one with a free base falls.
        base = [link for link in self.tree.links if link.parent == GROUND]
        return 0.0 if self.looks and all(len(link.symbols.speeds) <= 1 for link in base) else None

    def traces(self) -> tuple[Trace, ...]:
        """The mass centres of the bodies that carry nothing, the outermost first."""
        carrying = {link.parent for link in self.tree.links}
        leaves = [link.name for k, link in enumerate(self.tree.links) if k not in carrying]
        centres = {mass.name: mass.centre for mass in self.account.bodies}
        traces = [Trace(name, centres[name] or (0.0, 0.0, 0.0), name) for name in reversed(leaves) if name in centres]
        return tuple(traces[:MOST_TRACES])

    def parameters(self) -> tuple[Parameter, ...]:
        owners = {body.name: {str(x.name) for x in symbols_of(_expressions(self.numbers, body.name))}
                  for body in self.tree.mechanism.bodies}  # fmt: skip
        return tuple(
            Parameter(formula(read_name(one.name)), one.meaning, _value_text(one), unit_text(one.unit),
                      tuple(body for body, names in owners.items() if one.name in names))
            for one in self.account.parameters
        )  # fmt: skip


def _expressions(numbers: Numbers, body: str) -> list[Expr]:
    """Everything a body's inertia is made of."""
    inertia = resolved_inertia(numbers.tree.mechanism.body(body), numbers)
    return [leaf for leaf in flatten(inertia) if isinstance(leaf, Expr)]


def _title(one: Account) -> str:
    return one.meaning[:1].upper() + one.meaning[1:] if one.meaning else one.name


def _description(one: Account) -> str:
    parts = [f"{counted(len(one.loads), 'load')}: {list_names(one.loads)}."] if one.loads else []
    if one.undetermined:
        parts.append(f"Undetermined functions: {list_names(one.undetermined)}.")
    return " ".join(parts)


def _joint(joint: JointAccount) -> Joint:
    letter = LETTERS.get(joint.kind.split()[0], "L")
    detail = ", ".join(joint.coordinates)
    return Joint(joint.name, joint.kind, letter, joint.parent, joint.child, detail, joint.closes_loop)


def _mass_text(mass: float | None, symbol: str) -> str:
    return f"{mass:.4g} kg" if mass is not None else symbol


def _value_text(one: Quantity) -> str:
    if one.value is None:
        return one.formula or "not given"
    return f"{one.value:.6g}" + (f" = {one.formula}" if one.formula else "")


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def unit_text(unit: str) -> str:
    """A unit as it is printed: N*m/s^2 is N m s⁻²."""
    if unit == "1":
        return ""
    above, *below = unit.split("/")
    parts = [_power_text(part, 1) for part in above.split("*") if part != "1"]
    parts += [_power_text(part, -1) for group in below for part in group.split("*")]
    return " ".join(parts)


def _power_text(part: str, sign: int) -> str:
    base, _, exponent = part.partition("^")
    power = sign * float(exponent or 1)
    return base if power == 1 else base + f"{power:g}".translate(_SUPERSCRIPTS)
