"""Rows of four-bar linkages in Exudyn (sparse direct solver) and MuJoCo, and the motion they must show.

While all linkages are squares, their uprights turn alike: the row moves as one pendulum, whose angle is the answer that
every engine is judged by.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

GRAVITY, LENGTH, MASS, SPEED = 9.81, 1.0, 1.0, 1.0
UNTIL = 0.5  # s: the row is then at some 40° and has not been flat yet


@dataclass(frozen=True)
class Run:
    """The angle of the first upright at the end (rad), and processor seconds of the motion alone."""

    angle: float
    seconds: float


def exact_acceleration(loops: int, angle: float) -> float:
    """θ'' of the uprights: θ'' (J_u + n m l²) = -m g l cos θ ((n + 1)/2 + n), with J_u = (n + 1) m l²/3."""
    pull = ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops) * GRAVITY / LENGTH
    return float(-pull * np.cos(angle))


def exact_angle(loops: int) -> float:
    """The angle of the uprights at the end, from their equation alone."""
    from scipy.integrate import solve_ivp

    run = solve_ivp(lambda t, y: [y[1], exact_acceleration(loops, y[0])], (0, UNTIL), [np.pi / 2, -SPEED], "DOP853",
                    rtol=1e-13, atol=1e-13)  # fmt: skip
    return float(run.y[0, -1])


def in_exudyn(loops: int) -> Iterator[Callable[[], Run]]:
    """Motions with more and more steps: rigid bodies in the plane, generalised alpha, modified Newton, EigenSparse."""
    import exudyn as exu
    from exudyn import utilities as u

    for steps in (32, 64, 125, 250, 500, 1000, 2000, 4000):

        def run(steps: int = steps) -> Run:
            system = exu.SystemContainer().AddSystem()
            first = _exudyn_row(system, loops, u)
            settings = exu.SimulationSettings()
            settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, UNTIL
            settings.timeIntegration.verboseMode = 0
            settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
            settings.timeIntegration.newton.useModifiedNewton = True
            settings.solutionSettings.writeSolutionToFile = False
            settings.linearSolverType = exu.LinearSolverType.EigenSparse
            begin = time.process_time()
            system.SolveDynamic(settings)
            seconds = time.process_time() - begin
            turned = system.GetNodeOutput(first, exu.OutputVariableType.Coordinates)[2]
            return Run(np.pi / 2 + float(turned), seconds)

        yield run


def _exudyn_row(system: object, loops: int, u: object) -> int:
    """Bodies by their mass centres and pins between them; the node of the first upright."""
    length, inertia = LENGTH, MASS * LENGTH**2 / 12
    ground = system.AddObject(u.ObjectGround())
    nodes = []

    def bar(x: float, y: float, angle: float, speeds: list[float]) -> int:
        nodes.append(system.AddNode(u.NodeRigidBody2D(referenceCoordinates=[x, y, angle], initialVelocities=speeds)))
        body = system.AddObject(u.ObjectRigidBody2D(nodeNumber=nodes[-1], physicsMass=MASS, physicsInertia=inertia))
        marker = system.AddMarker(u.MarkerBodyPosition(bodyNumber=body))
        system.AddLoad(u.Force(markerNumber=marker, loadVector=[0, -MASS * GRAVITY, 0]))
        return body

    def pin(one: int, at: list[float], other: int, there: list[float]) -> None:
        places = [u.MarkerBodyPosition(bodyNumber=b, localPosition=p) for b, p in ((one, at), (other, there))]
        ends = [system.AddMarker(place) for place in places]
        system.AddObject(u.RevoluteJoint2D(markerNumbers=ends))

    half, start = [length / 2, 0, 0], [-length / 2, 0, 0]
    uprights = [bar(k * length, length / 2, np.pi / 2, [SPEED / 2, 0, -SPEED]) for k in range(loops + 1)]
    beams = [bar((k + 0.5) * length, length, 0.0, [SPEED, 0, 0]) for k in range(loops)]
    for k, upright in enumerate(uprights):
        pin(ground, [k * length, 0, 0], upright, start)
    for k, beam in enumerate(beams):
        pin(uprights[k], half, beam, start)
        pin(beam, half, uprights[k + 1], half)
    system.Assemble()
    return nodes[0]


def in_mujoco(loops: int) -> Iterator[Callable[[], Run]]:
    """Motions with more and more steps: RK4, sparse Jacobian, Newton's solver, constraints as stiff as steps allow."""
    import mujoco

    for steps in (16, 32, 64, 125, 250, 500, 1000, 2000, 4000):

        def run(steps: int = steps) -> Run:
            model = mujoco.MjModel.from_xml_string(_mujoco_row(loops, UNTIL / steps))
            data = mujoco.MjData(model)
            for k in range(loops + 1):
                data.qpos[model.joint(f"a{k}").qposadr] = np.pi / 2
                data.qvel[model.joint(f"a{k}").dofadr] = -SPEED
            for k in range(1, loops + 1):
                data.qpos[model.joint(f"b{k}").qposadr] = -np.pi / 2
                data.qvel[model.joint(f"b{k}").dofadr] = SPEED
            begin = time.process_time()
            mujoco.mj_step(model, data, steps)
            return Run(float(data.qpos[model.joint("a0").qposadr][0]), time.process_time() - begin)

        yield run


def _mujoco_row(loops: int, step: float) -> str:
    across = MASS * LENGTH**2 / 12
    inertial = f'<inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" diaginertia="{across} {across} {across}"/>'
    bodies = []
    for k in range(loops + 1):
        hinge = f'<joint name="b{k + 1}" type="hinge" axis="0 0 1"/>'
        beam = f'<body name="beam{k + 1}" pos="{LENGTH} 0 0">{hinge}{inertial}</body>' if k < loops else ""
        joint = f'<joint name="a{k}" type="hinge" axis="0 0 1"/>'
        bodies.append(f'<body name="up{k}" pos="{k * LENGTH} 0 0">{joint}{inertial}{beam}</body>')
    # Time constant and damping of the constraints: the stiffest that MuJoCo keeps stable at this step.
    solver = f'solref="{2 * step} 1" solimp="0.9999 0.9999 0.001 0.5 2"'
    closures = [f'<connect body1="beam{k}" body2="up{k}" anchor="{LENGTH} 0 0" {solver}/>' for k in range(1, loops + 1)]
    option = f'gravity="0 -{GRAVITY} 0" timestep="{step}" jacobian="sparse" integrator="RK4" '
    option += 'solver="Newton" tolerance="1e-12"'
    return (f'<mujoco><option {option}/><size memory="2G"/><worldbody>{"".join(bodies)}</worldbody>'
            f'<equality>{"".join(closures)}</equality></mujoco>')  # fmt: skip
