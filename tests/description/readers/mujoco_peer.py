"""MuJoCo as an oracle for models in MJCF: states, forces and loads in the coordinates of our mechanisms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import torseur.derivation.dynamics as td
from torseur.derivation.tree import build_tree
from torseur.description.readers import read_robot

FREE, BALL = 0, 1
SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")


class Peer:
    """A model file loaded by MuJoCo and read by us."""

    def __init__(self, path: Path, seed: int = 0) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        # MuJoCo keeps a coordinate for joints that are tied to others, and ties them by forces.
        self.robot = read_robot(path, mimic=False)
        self.rng = np.random.default_rng(seed)

    def draw(self) -> None:
        """A random state in both worlds: `q` by coordinate, `v` and `a` by speed, `turn` from our speeds to MuJoCo's.

        MuJoCo gives the velocity of a free body along the world's axes, we along the body's.
        """
        model, n = self.model, self.model.nv
        joints = [j for j in self.robot.mechanism.joints if j.coordinates and j.role != "loop"]
        assert len(joints) == model.njnt
        self.q, self.slots, self.turn = {}, {}, np.eye(n)
        speeds, accelerations, carried = *self.rng.normal(size=(2, n)), np.zeros(n)
        positions = np.array(model.qpos0)
        for j, joint in enumerate(joints):
            at, slot, kind = model.jnt_qposadr[j], model.jnt_dofadr[j], model.jnt_type[j]
            count = len(joint.coordinates)
            drawn = self.rng.normal(size=count)
            if kind in (FREE, BALL):
                drawn[-4:] /= np.linalg.norm(drawn[-4:])
                names = [f"{joint.name}.{s}" for s in (SPEEDS if kind == FREE else SPEEDS[3:])]
            else:
                names = [f"{joint.coordinates[0].name}'"]
            positions[at : at + count] = drawn
            self.q |= {c.name: float(x) for c, x in zip(joint.coordinates, drawn, strict=True)}
            self.slots |= {name: slot + k for k, name in enumerate(names)}
            if kind == FREE:
                matrix = np.zeros(9)
                self.mujoco.mju_quat2Mat(matrix, drawn[-4:])
                rotation = matrix.reshape(3, 3)
                self.turn[slot : slot + 3, slot : slot + 3] = rotation
                carried[slot : slot + 3] = rotation @ np.cross(speeds[slot + 3 : slot + 6], speeds[slot : slot + 3])
        self._draw_activations()
        self.v, self.a = speeds, accelerations
        self.data.qpos[:], self.data.qvel[:] = positions, self.turn @ speeds
        self.acceleration = self.turn @ accelerations + carried
        self.mujoco.mj_forward(model, self.data)

    def _draw_activations(self) -> None:
        """Activations of actuators, which are states of ours after the coordinates, in the order of the actuators."""
        states = [state.name for state in self.robot.mechanism.states]
        unmodelled = sum("not modelled: actuators" in str(finding) for finding in self.robot.findings)
        slots = [int(at) for at in self.model.actuator_actadr if at >= 0]
        if unmodelled and not states:
            return  # their activations are zero, and so are their forces
        assert len(states) == len(slots), "an actuator with an activation is not modelled"
        drawn = self.rng.uniform(0, 1, len(slots))
        self.data.act[slots] = drawn
        self.q |= dict(zip(states, drawn.tolist(), strict=True))

    def mass_matrix(self) -> np.ndarray:
        """M without rotors of balls and free bodies, which have none here."""
        matrix = np.zeros((self.model.nv, self.model.nv))
        # The order of arguments changed with version 4.
        given = (matrix, self.data.qM) if int(self.mujoco.__version__.split(".")[0]) < 4 else (self.data, matrix)
        self.mujoco.mj_fullM(self.model, *given)
        single = np.isin(self.model.jnt_type[self.model.dof_jntid], (FREE, BALL))
        return matrix - np.diag(self.model.dof_armature * single)

    def error_of_inverse_dynamics(self, mechanism=None) -> float:
        """The largest relative difference of joint forces in a few random states."""
        tree = _bound(mechanism or self.robot.mechanism)
        errors = [0.0]
        for _ in range(2 if self.model.nv else 0):
            self.draw()
            order = [self.slots[name] for name in tree.layout.speed_names]
            theirs = (self.turn.T @ (self.mass_matrix() @ self.acceleration + self.data.qfrc_bias))[order]
            q = [self.q[name] for name in tree.layout.coordinate_names]
            ours = np.array(td.inverse_dynamics(tree, q, list(self.v[order]), list(self.a[order])), float)
            errors.append(float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
        return max(errors)

    def error_of_loads(self) -> float:
        """The largest relative difference of springs, dampers and actuators, dry friction left aside."""
        if not self.model.nv:
            return 0.0
        mechanism = self.robot.mechanism
        loads = tuple(load for load in mechanism.loads if not load.name.endswith(".friction"))
        tree = build_tree(replace(mechanism, loads=loads))
        ranges = np.where(self.model.actuator_ctrllimited[:, None], self.model.actuator_ctrlrange, [-1.0, 1.0])
        self.data.ctrl[:] = self.rng.uniform(*ranges.T)
        self.draw()
        values = {c.parameter: self.data.ctrl[c.number] for c in self.robot.controls}
        tree = tree.with_parameters({**_values(mechanism), **values})
        order = [self.slots[name] for name in tree.layout.speed_names]
        theirs = (self.turn.T @ (self.data.qfrc_passive + self.data.qfrc_actuator))[order]
        q = [self.q[name] for name in tree.layout.coordinate_names]
        ours = np.array(td.generalised_loads(tree, q, list(self.v[order])), float)
        return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def _values(mechanism) -> dict[str, float]:
    """Values of the parameters that a file has, such as the ratios of rotors."""
    return {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}


def _bound(mechanism):
    tree = build_tree(mechanism)
    known = _values(mechanism)
    return tree.with_parameters({name: known[name] for name in tree.layout.parameter_names if name in known})
