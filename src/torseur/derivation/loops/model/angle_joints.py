"""Joints that turn about a point by three angles: where two of their axes coincide, rates of angles hide a motion.

With axes a_1, a_2, a_3 the angular velocity is E q', and det E = a_1 · (a_2 x R(a_2, q_2) a_3) depends on the middle
angle alone. Where it vanishes, angles move while the body rests: that belongs to the angles, not to the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.joint_chains import number_slots
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at, state_at
from torseur.derivation.loops.model.skeleton import TURN, Edge
from torseur.derivation.loops.rank.numerical_rank import ranks

_ROUNDING = 1e-9
_ALIGNED = 1e-4  # of det E, at a configuration that Newton's method or bisection found
_ASIDE = 1e-4  # rad, by which angles are turned off alignment; of signs of determinants nothing else changes
_AROUND = 0.05


@dataclass(frozen=True)
class AngleJoint:
    """A joint with three angles as freedoms; the amount of the middle turn stands in a slot."""

    freedoms: tuple[int, int, int]
    slot: int
    cosine: float
    sine: float

    def volume(self, system: LoopSystem, x: Array) -> Array:
        """det E of states (B, n)."""
        middle = system.amounts.values(x)[:, self.slot]
        volumes: Array = self.cosine * np.cos(middle) + self.sine * np.sin(middle)
        return volumes

    def off_alignment(self, system: LoopSystem, state: State) -> State:
        """The states with the middle angle turned a little where two axes coincide."""
        aligned = np.abs(self.volume(system, state.x)) < _ASIDE
        x = state.x.copy()
        x[:, self.freedoms[1]] += np.where(aligned, 2 * _ASIDE, 0.0)
        return State(x, state.balls)


def angle_joints(system: LoopSystem) -> list[AngleJoint]:
    """The joints of a system whose three angles are freedoms of their own."""
    step = number_slots(system.frame).step
    return [joint for e, edge in enumerate(system.edges) for k in range(len(edge.steps) - 2)
            if (joint := _angle_joint(edge, k, step[e, k + 1])) is not None]  # fmt: skip


def _angle_joint(edge: Edge, first: int, slot: int) -> AngleJoint | None:
    """Three turns from a step on, about neighbouring axes at right angles through one point; None for other steps."""
    three = edge.steps[first : first + 3]
    if any(s.kind != TURN or len(s.freedoms) != 1 for s in three) or len({s.freedoms for s in three}) < 3:
        return None
    axes = [np.array([float(c) for c in s.axis]) for s in three]
    moved = [np.array([float(c) for c in s.before.position]) for s in three[1:]]
    turned = [np.array([[float(c) for c in row] for row in s.before.rotation.matrix.rows]) for s in three[1:]]
    together = max(*(np.abs(p).max() for p in moved), *(np.abs(r - np.eye(3)).max() for r in turned)) < _ROUNDING
    if not together or max(abs(axes[0] @ axes[1]), abs(axes[1] @ axes[2])) > _ROUNDING:
        return None
    across = np.cross(axes[1], axes[2])
    freedoms = (three[0].freedoms[0], three[1].freedoms[0], three[2].freedoms[0])
    return AngleJoint(freedoms, slot, float(axes[0] @ across), float(axes[0] @ np.cross(axes[1], across)))


def is_of_the_mechanism(system: LoopSystem, state: State, resting: Sequence[int] = ()) -> bool:
    """Whether a configuration found singular is so itself, not the angles of a joint, which are singular by themselves.

    `resting` are freedoms of inputs or outputs that are at rest in it. Where they are among the singular angles, their
    rates tell nothing.
    """
    aligned = [joint for joint in angle_joints(system) if abs(float(joint.volume(system, state.x)[0])) < _ALIGNED]
    if not aligned:
        return True
    if any(set(joint.freedoms) & set(resting) for joint in aligned):
        return False
    names = [system.frame.freedoms[k].name for k in resting]
    turning = loop_system(system.frame.mechanism, system.time, system.length, names)
    here = state_at(turning, coordinates_at(system, state))
    around = turning.move(here.repeat(6), _AROUND * np.random.default_rng(0).normal(size=(6, turning.n)))
    closed = project(turning, around, steps=100)
    near = closed.state.lanes(closed.gap < turning.open_limit(CLOSED))
    rows = np.eye(turning.n)[[[f.name for f in turning.frame.freedoms].index(name) for name in names]]
    both = State(np.concatenate([here.x, near.x]), np.concatenate([here.balls, near.balls]))
    counts = ranks(np.stack([np.vstack([jacobian, rows]) for jacobian in turning.linearise(both)[1]]))
    return bool(counts[0] < np.max(counts))
