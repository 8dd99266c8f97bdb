"""The library's car on discs that slide with friction, here and in Exudyn: the same bodies, joints, springs.

Exudyn's compiled tyre is a rolling disc on an elastic road; a Magic Formula would call Python in each of its steps. So
both programs have the disc, with Exudyn's friction: (2 - x) x of the load at x of the speed of full friction. Anti-roll
bars, brakes and differential, which Exudyn has no element for, are left out.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable

import numpy as np

RADIUS, STIFFNESS, FRICTION, ZONE = 0.32, 200e3, 1.0, 3.2  # of a disc: m, N/m, 1, m/s of sliding at full friction
SPEED, STEER, GAIN, BEGIN, RISE, GRAVITY = 20.0, 0.6, 8e-3, 0.5, 0.1, 9.81

DISC = f"""
part disc() attach carrier, wheel
    let left = [0, 1, 0] m @ carrier ;
    let a_x = (left.position.x - carrier.position.x) / 1 m ;
    let a_y = (left.position.y - carrier.position.y) / 1 m ;
    let lean = (left.position.z - carrier.position.z) / 1 m ;
    let level = sqrt(a_x^2 + a_y^2) ;
    let p_x = {RADIUS} m * lean * a_x / level ;
    let p_y = {RADIUS} m * lean * a_y / level ;
    let p_z = -{RADIUS} m * level ;
    let N = max(-{STIFFNESS} N/m * (carrier.position.z + p_z), 0 N) ;
    let s_x = wheel.velocity.x + wheel.rotation.y*p_z - wheel.rotation.z*p_y ;
    let s_y = wheel.velocity.y + wheel.rotation.z*p_x - wheel.rotation.x*p_z ;
    let s = sqrt(s_x^2 + s_y^2 + 1e-12 m^2/s^2) ;
    let grip = {FRICTION} * N * (2 - min(s / ({ZONE} m/s), 1)) / max(s, {ZONE} m/s) ;
    let F_x = -grip*s_x ;
    let F_y = -grip*s_y ;
    apply force [F_x, F_y, N], torque [p_y*N - p_z*F_y, p_z*F_x - p_x*N, p_x*F_y - p_y*F_x] on wheel as road ;
end ;
"""


def text(car: str) -> str:
    """The library's car on discs, without bars, brakes and differential, its rack without mass."""
    lines = [line for line in car.splitlines() if not re.match(r"use (anti_roll_bar|brake|differential) ", line)]
    disc = r"use disc as \1_tyre attach carrier to \1.hub, wheel to \1.wheel ;"
    lines = [re.sub(r"use magic_tyre as (..)_tyre.*", disc, line) for line in lines]
    lines = [line.replace("place = front)", "place = front, m = 1 mg)") for line in lines]
    head = next(k for k, line in enumerate(lines) if line.startswith("gravity"))
    return "\n".join([*lines[:head], DISC, *lines[head:]])


def exudyn_car(points: dict[str, float]) -> Callable[[float, int], tuple[np.ndarray, float]]:
    """A motion (end, number of steps) -> yaw rate at a hundred places, processor time; hardpoints as in the library."""
    import exudyn as exu
    from exudyn import utilities as u

    def move(until: float, steps: int) -> tuple[np.ndarray, float]:
        mbs = exu.SystemContainer().AddSystem()
        racks, chassis = _build(mbs, u, points)
        mbs.Assemble()
        seen: list[tuple[float, float]] = []

        def before_step(system: object, t: float) -> bool:
            travel = -GAIN * STEER * (1 + math.tanh((t - BEGIN) / RISE)) / 2
            for marker, place in racks:
                mbs.SetMarkerParameter(marker, "localPosition", [place[0], place[1] + travel, place[2]])
            if not seen or t >= len(seen) * until / 100 - 1e-9:  # steps that fail are repeated shorter
                seen.append((t, mbs.GetObjectOutputBody(chassis, exu.OutputVariableType.AngularVelocityLocal)[2]))
            return True

        mbs.SetPreStepUserFunction(before_step)
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, until
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.linearSolverType = exu.LinearSolverType.EigenSparse
        begin = time.process_time()
        mbs.SolveDynamic(settings)
        seconds = time.process_time() - begin
        return np.interp(np.arange(100) * until / 100, *np.array(seen).T), seconds

    return move


def _build(mbs: object, u: object, points: dict[str, float]) -> tuple[list[tuple[int, np.ndarray]], int]:
    """Bodies in their places at first; markers of the inner ends of the tie rods, and the chassis."""
    ground = mbs.CreateGround()

    def body(mass: float, centre: np.ndarray, inertia: np.ndarray, spin: float = 0.0) -> int:
        inertia = u.RigidBodyInertia(mass=mass, inertiaTensor=inertia, inertiaTensorAtCOM=True)
        return mbs.CreateRigidBody(referencePosition=list(centre), initialVelocity=[SPEED, 0, 0], inertia=inertia,
                                   initialAngularVelocity=[0, spin, 0], gravity=[0, 0, -GRAVITY])  # fmt: skip

    middle = np.array([0, 0, 0.55])
    tensor = np.array([[450.0, 0, -30], [0, 1800, 0], [-30, 0, 2000]]) + np.diag([0.1, 0.001, 0.1])
    chassis, racks, half = body(1180.0, middle, tensor), [], 0.74
    for ahead, side, k, c, load in ((1.25, 1, 62e3, 4.2e3, 5.1e3), (1.25, -1, 62e3, 4.2e3, 5.1e3),
                                    (-1.3, 1, 56e3, 4e3, 4.9e3), (-1.3, -1, 56e3, 4e3, 4.9e3)):  # fmt: skip

        def at(name: str, ahead: float = ahead, side: int = side) -> np.ndarray:
            x, y, z = (points[f"{name}_{axis}"] for axis in "xyz")
            return np.array([ahead + x, side * (half + y), 0.3 + z])

        hub = np.array([ahead, side * half, 0.3])
        arms = {}
        for arm, mass, inertia in (("lower", 6.0, (0.06, 0.03, 0.09)), ("upper", 3.0, (0.03, 0.02, 0.045))):
            centre = (at(f"{arm}_front") + at(f"{arm}_rear")) / 4 + at(f"{arm}_outer") / 2
            arms[arm] = (body(mass, centre, np.diag(inertia)), centre)
        knuckle = hub + np.array([0, -0.07 * side, 0])
        upright = body(20.0, knuckle, np.diag([0.5, 0.4, 0.3]))
        wheel = body(25.0, hub, np.diag([0.6, 1.2, 0.6]), spin=SPEED / 0.3)
        for arm, (part, _) in arms.items():
            pivot = at(f"{arm}_front") - at(f"{arm}_rear")
            mbs.CreateRevoluteJoint(itemNumbers=[chassis, part], position=at(f"{arm}_rear"), axis=pivot, show=False)
            mbs.CreateSphericalJoint(itemNumbers=[part, upright], position=at(f"{arm}_outer"), show=False)
        mbs.CreateRevoluteJoint(itemNumbers=[upright, wheel], position=hub, axis=[0, 1, 0], show=False)
        inner, outer = at("rod_inner"), at("rod_outer")
        ends = [mbs.AddMarker(u.MarkerBodyPosition(bodyNumber=b, localPosition=list(p)))
                for b, p in ((chassis, inner - middle), (upright, outer - knuckle))]  # fmt: skip
        mbs.AddObject(u.DistanceConstraint(markerNumbers=ends, distance=float(np.linalg.norm(inner - outer))))
        if ahead > 0:
            racks.append((ends[0], inner - middle))
        lower, centre = arms["lower"]
        mbs.CreateSpringDamper(
            itemNumbers=[chassis, lower], localPosition0=at("strut_top") - middle,
            localPosition1=at("strut_foot") - centre, stiffness=k, damping=c, force=-load,
        )  # fmt: skip
        under = [mbs.AddMarker(u.MarkerBodyRigid(bodyNumber=b)) for b in (ground, wheel)]
        data = mbs.AddNode(u.NodeGenericData(initialCoordinates=[0, 0, 0], numberOfDataCoordinates=3))
        mbs.AddObject(u.ObjectConnectorRollingDiscPenalty(
            markerNumbers=under, nodeNumber=data, discRadius=RADIUS, discAxis=[0, 1, 0], planeNormal=[0, 0, 1],
            dryFriction=[FRICTION] * 2, dryFrictionProportionalZone=ZONE, contactStiffness=STIFFNESS, contactDamping=0,
            rollingViscousFriction=0))  # fmt: skip
    return racks, chassis
