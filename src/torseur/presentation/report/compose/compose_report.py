"""From a mechanism, its equations and a motion to the content of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from torseur.algebra.graph import Expr, symbols_of
from torseur.analysis.sensitivity import Sensitivities
from torseur.computation.simulation import Trajectory
from torseur.derivation.equations import Equations
from torseur.derivation.tree import Tree, build_tree
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import EARTH_NAME, Mechanism
from torseur.description.readers import RobotFile, summary
from torseur.errors import counted, list_names
from torseur.presentation.report.compose.account import Account, JointAccount, Quantity, account
from torseur.presentation.report.compose.derivation_cards import DEFAULT_STUDY, SensitivityStudy
from torseur.presentation.report.compose.equation_cards import Blocks
from torseur.presentation.report.compose.examination_content import influences_of, loops_of, note_on, sensitivity_plots
from torseur.presentation.report.compose.motion_content import checks_of, crossplots_of, mobility_facts, plots_of
from torseur.presentation.report.compose.term_values import Samples, samples_of
from torseur.presentation.report.page.equation_content import EquationBlock
from torseur.presentation.report.page.report_content import (
    Certificate,
    Check,
    Fact,
    Joint,
    Loops,
    Parameter,
    ReportContent,
    Reproduction,
)
from torseur.presentation.scene.bodies.body_masses import resolved_inertia
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.robot_looks import looks_of
from torseur.presentation.scene.bodies.vectors import ArrowKind
from torseur.presentation.scene.compose_scene import Composition
from torseur.presentation.scene.scene import Body, Motion
from torseur.presentation.scene.shapes import Shape
from torseur.presentation.scene.still_position import stand_ins
from torseur.presentation.typesetting.formula import formula
from torseur.presentation.typesetting.read_graph import read_name

LETTERS = {"revolute": "R", "prismatic": "P", "helical": "H", "cylindrical": "C", "universal": "U", "spherical": "S",
           "planar": "E", "free": "F", "fixed": "W"}  # fmt: skip


def outputs_for(equations: Equations) -> list[str]:
    """What a trajectory must hold besides the states for its report."""
    measures = [measure.name for measure in equations.mechanism.measures]
    accelerations = [str(a.name) for a in equations.layout.accelerations]
    return ["kinetic_energy", "potential_energy", "energy", *accelerations, *measures]


@dataclass(frozen=True)
class Supplement:
    """What a report shows beside mechanism, equations and motion.

    `notes` say what is left out and why. A `robot` file gives bodies their looks, and a list of what it says and the
    mechanism does not. `asked` are the outputs that somebody asked for by name, also drawn `over` another one.
    `sensitivities` have a part of their own. `still` says why there is no trajectory; `position` is what is then drawn.
    """

    reproduction: Reproduction = field(default_factory=Reproduction)
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = None
    robot: RobotFile | None = None
    sensitivities: Sensitivities | None = None
    still: str = ""
    position: Trajectory | None = None
    study: SensitivityStudy = DEFAULT_STUDY
    asked: tuple[str, ...] = ()
    over: str = ""
    arrows: tuple[ArrowKind, ...] = ()


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
    looks = looks_of(robot) if robot is not None else {}
    page = Page(tree, equations, trajectory, values or {}, looks, beside.position, beside.study, beside.arrows)
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
        elements=page.composition.elements if page.motion is not None else (),
        overlays=page.composition.overlays(),
        view=page.composition.view(),
        still=beside.still,
        plots=(
            *(plots_of(tree, trajectory, beside.asked) if trajectory is not None else ()),
            *(sensitivity_plots(sensitivities) if sensitivities is not None else ()),
        ),
        crossplots=crossplots_of(trajectory, beside.asked, beside.over)
        if trajectory is not None and beside.over
        else (),
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
    position: Trajectory | None = None
    study: SensitivityStudy = DEFAULT_STUDY
    arrows: tuple[ArrowKind, ...] = ()

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers(self.tree, self.values)

    @cached_property
    def account(self) -> Account:
        return account(self.tree, self.values)

    @property
    def motion(self) -> Motion | None:
        return self.composition.motion

    @cached_property
    def samples(self) -> Samples | None:
        if self.trajectory is None or self.equations is None:
            return None
        return samples_of(self.equations.in_axes_to_read, self.numbers, self.trajectory)

    def blocks(self) -> tuple[EquationBlock, ...]:
        if self.equations is None:
            return ()
        return Blocks(self.equations.as_read, self.samples, source=self.equations, study=self.study).all()

    def checks(self) -> tuple[Check, ...]:
        if self.equations is None or self.samples is None or self.trajectory is None:
            return ()
        return tuple(checks_of(self.equations.in_axes_to_read, self.samples, self.trajectory))

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
        if one.states:
            facts.append(Fact("states", ", ".join(state.name for state in one.states), "beyond mechanics"))
        if one.switching:
            facts.append(Fact("contacts", ", ".join(name for name, _ in one.switching), "act in motions"))
        if one.constraints:
            facts.append(Fact("constraints", ", ".join(one.constraints), "besides the joints"))
        if self.equations is not None and self.equations.is_constrained and self.samples is not None:
            facts += mobility_facts(self.equations, self.samples)
        if one.degree_of_freedom is not None:
            facts.append(Fact("degree of freedom", str(speeds), "a tree: the same in every configuration"))
        return tuple(facts)

    def loops(self) -> Loops | None:
        """What the loop doctor says where the motion starts."""
        if not self.account.loops and not self.account.constraints:
            return None
        start = (
            {name: float(self.trajectory[name][0]) for name in self.tree.layout.coordinate_names}
            if self.trajectory is not None
            else None
        )
        return loops_of(self.tree.mechanism, self.values, start, self.composition.numbers)

    @cached_property
    def composition(self) -> Composition:
        gravity = tuple(component or 0.0 for component in self.account.gravity)
        shown = self.trajectory if self.trajectory is not None else self.position
        # A drawing needs a number for every length; masses are those that the account gives.
        drawn = Numbers(self.tree, {**stand_ins(self.tree, self.values), **self.values})
        arrows = self.arrows if self.trajectory is not None else ()
        return Composition(drawn, shown, self.looks, self.account.bodies, gravity, arrows)

    def bodies(self) -> tuple[Body, ...]:
        """The earth and all bodies with their pictures."""
        shapes = self.composition.shapes
        return tuple(replace(body, shapes=shapes[body.name]) for body in self.named_bodies())

    def named_bodies(self) -> tuple[Body, ...]:
        """The earth and all bodies, without pictures."""
        moving = [Body(one.name, _mass_text(one.mass, one.formula)) for one in self.account.bodies]
        return (Body(EARTH_NAME, "fixed", fixed=True), *moving)

    def joints(self) -> tuple[Joint, ...]:
        return tuple(_joint(joint) for joint in self.account.joints)

    def title(self) -> str:
        return _title(self.account)

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
