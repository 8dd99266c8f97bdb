"""A mechanism with markers as rows of numbers, for other programs: every elementary motion a joint of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.analysis.biomechanics import MarkerModel


@dataclass(frozen=True, eq=False)
class MarkedPerson:
    """Joints (parent, slides, axis, rotation, position), markers (joint, place), and our coordinate of each joint.

    Parents and joints count from 1; 0 is the earth.
    """

    joints: list[tuple[int, bool, np.ndarray, np.ndarray, np.ndarray]]
    markers: list[tuple[int, np.ndarray]]
    slots: list[int]

    @staticmethod
    def of(model: MarkerModel) -> MarkedPerson:
        tree, names = model.equations.tree, model.layout.coordinate_names
        bound = dict(zip(model.layout.parameter_names, model.parameters.tolist(), strict=True))
        now = tree.with_parameters(bound).at([0.0] * len(names), None)
        joints, slots, ends = [], [], {-1: 0}
        for i, link in enumerate(tree.links):
            place, parent = now.evaluate(link.base), ends[link.parent]
            R, r = np.array([[float(x) for x in row] for row in place.rotation.matrix.rows]), _vector(place.position)
            for motion in link.joint.motions:
                sign, name = _amount(motion)
                joints.append((parent, motion.kind == "translation", sign * _vector(motion.axis), R, r))
                slots.append(names.index(name))
                parent, R, r = len(joints), np.eye(3), np.zeros(3)
            ends[i] = parent
        placed = [now.place(frame) for frame in model.equations.places.values()]
        return MarkedPerson(joints, [(ends[link], _vector(place.position)) for link, place in placed], slots)

    @property
    def text(self) -> str:
        """One line per joint and per marker."""
        rows = [f"{len(self.joints)} {len(self.markers)}"]
        for parent, slides, *numbers in self.joints:
            rows.append(
                f"{parent} {int(slides)} " + " ".join(repr(float(x)) for part in numbers for x in part.reshape(-1))
            )
        rows += [f"{joint} " + " ".join(repr(float(x)) for x in place) for joint, place in self.markers]
        return "\n".join(rows) + "\n"


def _amount(motion) -> tuple[float, str]:
    """Plus or minus a coordinate."""
    amount = motion.amount
    return (1.0, str(amount.name)) if amount.op == "symbol" else (-1.0, str(amount.args[-1].name))


def _vector(components) -> np.ndarray:
    return np.array([float(x) for x in components])
