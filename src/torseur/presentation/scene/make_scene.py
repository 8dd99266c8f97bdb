"""From a mechanism, a robot or a motion straight to its scene, and to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torseur.computation.simulation import Output, Trajectory, simulate
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism
from torseur.description.readers import RobotFile
from torseur.errors import SimulationError, TorseurError, UnsupportedError
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.robot_looks import looks_of
from torseur.presentation.scene.bodies.vectors import arrow_kinds, quantities_for
from torseur.presentation.scene.compose_scene import Composition
from torseur.presentation.scene.pictures.picture_files import Shot, write_picture
from torseur.presentation.scene.scene import Scene
from torseur.presentation.scene.still_position import stand_ins, start_position

PER_SECOND, LEAST, MOST = 40, 100, 2000


@dataclass(frozen=True)
class Take:
    """Which motion a scene shows: how long (s), with which values (SI) of parameters and of the start.

    `arrows` are the kinds of arrows along it: "velocity" of mass centres, "force" of loads, "reaction" of joints, each
    also with the metres that stand for one of its unit: "force=0.002".
    """

    until: float = 10.0
    parameters: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)
    arrows: tuple[str, ...] = ()


def scene_of(subject: Mechanism | RobotFile, trajectory: Trajectory | None = None, take: Take | None = None) -> Scene:
    """The scene of a mechanism or robot along a trajectory, or along the motion that follows from its description.

    Where there is no motion it shows a position and says why.
    """
    robot = subject if isinstance(subject, RobotFile) else None
    mechanism = subject.mechanism if isinstance(subject, RobotFile) else subject
    taken = take or Take()
    tree, reason, arrows = build_tree(mechanism), "", arrow_kinds(taken.arrows)
    if trajectory is None:
        trajectory, reason = _motion(mechanism, taken)
    if trajectory is None or trajectory.time[-1] == trajectory.time[0]:
        trajectory = start_position(tree, recursive_equations(mechanism), taken.parameters, taken.initial)
        reason, arrows = reason or "The motion has no length.", ()
    numbers = Numbers(tree, {**stand_ins(tree, taken.parameters), **taken.parameters})
    gravity = tuple(numbers.value(component) or 0.0 for component in mechanism.gravity)
    looks = looks_of(robot) if robot is not None else {}
    title = mechanism.meaning[:1].upper() + mechanism.meaning[1:] if mechanism.meaning else mechanism.name
    scene = Composition(numbers, trajectory, looks, gravity=gravity, arrows=arrows).scene(title, reason)
    if scene is None:
        raise TorseurError(f"mechanism '{mechanism.name}' has no picture: a position has no value.")
    return scene


def recursive_equations(mechanism: Mechanism) -> Equations | None:
    """The equations that close loops; None where there are none."""
    try:
        return derive(mechanism, "recursive")
    except UnsupportedError:
        return None


def _motion(mechanism: Mechanism, take: Take) -> tuple[Trajectory | None, str]:
    samples = int(min(MOST, max(LEAST, PER_SECOND * take.until)))
    try:
        given, start = dict(take.parameters), dict(take.initial)
        outputs = [Output(name) for name in quantities_for(mechanism, arrow_kinds(take.arrows))]
        return simulate(
            mechanism, take.until, samples=samples, rtol=1e-7, parameters=given, initial=start, outputs=outputs
        ), ""
    except SimulationError as problem:
        partial = problem.trajectory
        if isinstance(partial, Trajectory) and len(partial) > 1:
            return partial, ""
        return None, f"No motion: {problem}"
    except TorseurError as problem:
        return None, f"No motion: {problem}"


def arrow_quantities(mechanism: Mechanism, arrows: Sequence[str]) -> list[str]:
    """The quantities that arrows are made of, for `simulate(outputs=...)`: of "velocity", "force", "reaction"."""
    return quantities_for(mechanism, arrow_kinds(arrows))


def animate(
    subject: Mechanism | RobotFile,
    path: str | Path,
    trajectory: Trajectory | None = None,
    *,
    take: Take | None = None,
    shot: Shot | None = None,
) -> Path:
    """Writes a motion as .mp4, .webm, .gif or .glb, or one instant of it as .png or .svg, and returns where.

    Without a trajectory the mechanism moves as its description says, for `take.until` seconds.
    A robot of `ts.read_robot(path)` brings its shapes and meshes; a mechanism of `ts.load(path)` has its mechanics
    only, and its bodies are drawn as guessed.
    """
    return write_picture(scene_of(subject, trajectory, take), path, shot)
