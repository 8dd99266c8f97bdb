"""An arm under four controllers at a sampling period, each one function of time and state."""

import tempfile
from pathlib import Path

import numpy as np
from scipy.linalg import expm, solve_discrete_are

import torseur as ts

LINK = (
    '<link name="{}"><inertial><origin xyz="0.2 0 0"/><mass value="{}"/>'
    '<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/>'
    '<axis xyz="0 1 0"/></joint>'
)
ARM = f"""<robot name="arm"><link name="base"/>{LINK.format("upper", 2)}{LINK.format("fore", 1.5)}<link name="hand"/>
{JOINT.format("shoulder", "base", "upper", 0)}{JOINT.format("elbow", "upper", "fore", 0.4)}
<joint name="wrist" type="fixed"><parent link="fore"/><child link="hand"/><origin xyz="0.4 0 0"/></joint></robot>"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "arm.urdf"
    path.write_text(ARM)
    robot = ts.Robot(path)

# A motor along each joint: its force is the parameter tau_JOINT, which the controllers set.
arm = ts.with_motors(robot.mechanism)
motors = ["tau_shoulder", "tau_elbow"]
goal = np.array([0.6, -0.8])
still = np.zeros(2)


def pd_with_gravity(t, state):
    q, v = state[:2], state[2:]
    return robot.gravity(q) + 60 * (goal - q) - 12 * v


def computed_torque(t, state):
    """Accelerations that are wanted, turned into forces by inverse dynamics."""
    q, v = state[:2], state[2:]
    return robot.rnea(q, v, 100 * (goal - q) - 20 * v)


def operational_space(t, state, place):
    """The hand drawn to a place: forces J^T of a task inertia times the acceleration wanted of it."""
    q, v = state[:2], state[2:]
    x, jacobian = robot.fk("hand", q)[[0, 2], 3], robot.jacobian("hand", q)[[0, 2]]
    drift = robot.jacobian_rate("hand", q, v)[[0, 2]] @ v
    wanted = 100 * (place - x) - 20 * jacobian @ v - drift
    task_inertia = np.linalg.inv(jacobian @ np.linalg.solve(robot.crba(q), jacobian.T))
    return jacobian.T @ task_inertia @ wanted + robot.rnea(q, v, still), place


# A linear-quadratic regulator about the goal, by the discrete Riccati equation of the held and sampled small motions.
period = 0.01
hold = robot.gravity(goal)
point = {"shoulder": goal[0], "elbow": goal[1]}
small = ts.linearise(arm, at=point, parameters=dict(zip(motors, hold, strict=True)))
A, B = small.state_matrix, small.input_matrix  # inputs are forces along the speeds
block = expm(period * np.block([[A, B], [np.zeros((2, 6))]]))
Ad, Bd = block[:4, :4], block[:4, 4:]
P = solve_discrete_are(Ad, Bd, np.diag([100.0, 100, 1, 1]), 0.01 * np.eye(2))
gain = np.linalg.solve(0.01 * np.eye(2) + Bd.T @ P @ Bd, Bd.T @ P @ Ad)


def regulator(t, state):
    return hold - gain @ (state - np.concatenate([goal, still]))


place = robot.fk("hand", goal)[[0, 2], 3]
controllers = [
    ts.Controller(pd_with_gravity, 0.002, motors, name="PD with gravity"),
    ts.Controller(computed_torque, 0.002, motors, delay=0.001, name="computed torque"),
    ts.Controller(operational_space, 0.002, motors, memory=place, name="operational space"),
    ts.Controller(regulator, period, motors, name="LQR"),
]
for controller in controllers:
    motion = ts.simulate(arm, 3.0, samples=4, initial={"shoulder": 0.2, "elbow": -0.3}, controllers=[controller])
    away = np.hypot(motion["shoulder"] - goal[0], motion["elbow"] - goal[1])
    print(f"{controller.name}: away from the goal by {', '.join(f'{value:.2e}' for value in away)} rad")
    assert away[-1] < 1e-2
