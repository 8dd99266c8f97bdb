"""`torseur check`: what a mechanism is, and what is doubtful about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torseur.cli.shared.options import JsonOption, SetOption, SourceArgument, ValuesOption
from torseur.cli.shared.robot_options import PartialOption, RobotOptions, with_robot_options
from torseur.errors import TorseurError, counted

if TYPE_CHECKING:
    from torseur.cli.shared.value_options import Values
    from torseur.computation.simulation.constrained.start.start_account import StartValue
    from torseur.description.mechanism import Mechanism
    from torseur.description.readers import RobotFile
    from torseur.presentation.report.compose.account import Account, Quantity
    from torseur.presentation.scene.bodies.body_masses import BodyMass


def check(
    source: SourceArgument,
    *,
    settings: SetOption = None,
    values: ValuesOption = None,
    robot: RobotOptions,
    partial: PartialOption = False,
    json: JsonOption = False,
) -> None:
    """Show what a mechanism is: bodies, joints, degrees of freedom, loops, parameters, initial state, warnings.

    Example: torseur check library:puma560
    """
    from torseur.cli.shared.console import print_json
    from torseur.cli.shared.sources import open_source
    from torseur.cli.shared.value_options import read_values
    from torseur.derivation.tree import build_tree
    from torseur.presentation.report.compose.account import account

    opened = open_source(with_robot_options(source, robot, partial=partial))
    tree = build_tree(opened.mechanism)
    given = read_values(tree, settings, None, values)
    summary = account(tree, given.parameters)
    start = _start(opened.mechanism, summary, given)
    if json:
        print_json(_document(summary) | start.document | _robot_document(opened.robot))
    else:
        _show(summary, start, opened.robot)
        _show_robot(opened.robot)


@dataclass(frozen=True)
class _Start:
    """Where each initial value comes from, what was forced, or why there is no start."""

    values: tuple[StartValue, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""

    @property
    def document(self) -> dict[str, object]:
        return {"start": self.values, "start_notes": self.notes, "start_fault": self.fault}


def _start(mechanism: Mechanism, one: Account, given: Values) -> _Start:
    from torseur.computation.simulation.simulate import initial_account

    # What has no value yet is in the warnings already, and laws are given to the motion.
    is_open = bool(one.undetermined) or any(q.value is None for q in (*one.parameters, *one.initial))
    if is_open:
        return _Start()
    try:
        start = initial_account(mechanism, given.parameters, given.initial)
    except TorseurError as error:
        return _Start(fault=str(error))
    return _Start() if start is None else _Start(start.account, start.notes)


def _document(one: Account) -> dict[str, object]:
    return {
        **{name: value for name, value in vars(one).items() if name != "bodies"},
        "degree_of_freedom": one.degree_of_freedom,
        "bodies": [{**vars(body), "principal_moments": body.principal} for body in one.bodies],
    }


def _robot_document(robot: RobotFile | None) -> dict[str, object]:
    if robot is None:
        return {}
    return {name: getattr(robot, name) for name in ("format", "findings", "limits", "controls", "armatures")}


def _show_robot(robot: RobotFile | None) -> None:
    """What the robot file gives beside the mechanism: limits, controls, shapes."""
    from torseur.cli.shared.console import say, show_table

    if robot is None:
        return
    show_table("Limits", ("joint", "from", "to", "speed", "force"), [
        (x.joint, *("" if v is None else f"{v:.6g}" for v in (x.lower, x.upper, x.speed, x.force)))
        for x in robot.limits
    ], numeric=(1, 2, 3, 4))  # fmt: skip
    if robot.controls:
        say(f"Controls: {', '.join(control.parameter for control in robot.controls)}")
    meshes = [shape.mesh for shape in robot.shapes if shape.mesh is not None]
    there = sum(mesh.is_there for mesh in meshes)
    say(f"Shapes: {len(robot.shapes)}, of which meshes {len(meshes)} ({there} found)")


def _omissions(robot: RobotFile | None) -> str:
    """How much of a robot file is not in the mechanism."""
    count = 0 if robot is None else sum(finding.count for finding in robot.findings_of("not modelled"))
    return f" ({counted(count, 'part')} of the file not modelled)" if count else ""


def _show(one: Account, start: _Start, robot: RobotFile | None) -> None:
    from torseur.cli.shared.console import console, escape_markup, say, show_table

    say(f"{one.name}" + (f": {one.meaning}" if one.meaning else "") + _omissions(robot))
    say(_freedom(one) + "\n")
    show_table(
        "Bodies",
        ("name", "mass", "mass centre [m]", "principal moments [kg m²]", "meaning"),
        [_body(b) for b in one.bodies],
    )
    show_table("Joints", ("name", "kind", "from", "to", "coordinates", ""), [
        (j.name, j.kind, j.parent, j.child, ", ".join(j.coordinates), "closes a loop" if j.closes_loop else "")
        for j in one.joints
    ])  # fmt: skip
    show_table("Parameters", ("name", "value", "unit", "meaning"), [_quantity(q) for q in one.parameters], numeric=(1,))
    rates = {q.name: f"{q.name}' = {q.formula}" if q.formula else "unknown, from its equation" for q in one.states}
    rows = [(q.name, _unit(q.unit), rates[q.name], q.meaning) for q in one.states]
    show_table("States beyond mechanics", ("name", "unit", "rate", "meaning"), rows)
    show_table("Stops, friction and contacts", ("name", "what"), list(one.switching))
    _show_start(one, start)
    if one.loads:
        say(f"Loads: {', '.join(one.loads)}")
    if one.undetermined:
        say(f"Undetermined functions: {', '.join(one.undetermined)}")
    say(f"Gravity: {_vector(one.gravity)} m/s²")
    for note in start.notes:
        say(f"Start: {note}")
    for warning in (*one.warnings, *([f"no motion starts: {start.fault}"] if start.fault else [])):
        console().print(f"[yellow]warning:[/] {escape_markup(warning)}", soft_wrap=True)


def _show_start(one: Account, start: _Start) -> None:
    """The initial state: as it is described, or as the constraints complete it, with the origin of each value."""
    from torseur.cli.shared.console import show_table
    from torseur.description.mechanism.quantities import per_second

    if not start.values:
        rows = [_quantity(q) for q in one.initial]
        show_table("Initial state", ("name", "value", "unit", "meaning"), rows, numeric=(1,))
        return
    # Rates of coordinates can be given beside quasi-velocities, and are no speeds of the state then.
    units = {f"{q.name}'": (per_second(q.unit), f"rate of {q.name}") for q in one.initial}
    units |= {q.name: (q.unit, q.meaning) for q in one.initial}
    show_table("Initial state", ("name", "value", "unit", "origin", "meaning"), [
        (v.name, f"{v.value:.9g}", _unit(units[v.name][0]), v.words, units[v.name][1]) for v in start.values
    ], numeric=(1,))  # fmt: skip


def _freedom(one: Account) -> str:
    if one.degree_of_freedom is not None:
        joints = counted(len(one.joints), "joint")
        return f"Degree of freedom {one.degree_of_freedom} (a tree of {joints}, without loops)."
    parts = []
    if one.loops:
        parts.append(f"loops closed by {', '.join(one.loops)}")
    if one.constraints:
        parts.append(f"constraints {', '.join(one.constraints)}")
    count = counted(len(one.speeds), "freedom")
    return f"{count} in the tree, fewer by {' and '.join(parts)}: `torseur loops` counts them."


def _body(body: BodyMass) -> tuple[str, ...]:
    mass = f"{body.mass:.6g} kg" if body.mass is not None else body.formula
    moments = ", ".join(f"{moment:.6g}" for moment in body.principal) if body.principal else "not given"
    centre = _vector(body.centre) if body.centre else "-" if body.mass == 0 else "not given"
    return body.name, mass, centre, moments, body.meaning


def _vector(components: tuple[float | None, ...]) -> str:
    return "[" + ", ".join("?" if c is None else f"{c + 0.0:.6g}" for c in components) + "]"


def _quantity(one: Quantity) -> tuple[str, str, str, str]:
    shown = "not given" if one.value is None else f"{one.value:.9g}"
    meaning = f"{one.meaning} (= {one.formula})" if one.formula else one.meaning
    return one.name, shown, _unit(one.unit), meaning


def _unit(unit: str) -> str:
    return unit if unit != "1" else ""
