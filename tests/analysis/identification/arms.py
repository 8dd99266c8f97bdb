"""Robots of the literature by modified Denavit-Hartenberg parameters, with inertias drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import torseur as ts


@dataclass(frozen=True)
class Row:
    """One joint: a, alpha, r, theta, and whether it slides."""

    a: float = 0.0
    alpha: float = 0.0
    r: float = 0.0
    theta: float = 0.0
    slides: bool = False


QUARTER = np.pi / 2
PUMA = [Row(), Row(alpha=-QUARTER, r=0.2435), Row(a=0.4318, r=-0.0934), Row(a=-0.0203, alpha=QUARTER, r=0.4331),
        Row(alpha=-QUARTER), Row(alpha=QUARTER)]  # fmt: skip
RX90 = [Row(), Row(alpha=QUARTER), Row(a=0.45), Row(alpha=-QUARTER, r=0.45), Row(alpha=QUARTER), Row(alpha=-QUARTER)]
STANFORD = [Row(), Row(alpha=-QUARTER, r=0.16), Row(alpha=QUARTER, slides=True), Row(), Row(alpha=-QUARTER),
            Row(alpha=QUARTER)]  # fmt: skip
SEVEN_R = [Row(), Row(alpha=-QUARTER), Row(alpha=QUARTER, r=0.42), Row(alpha=QUARTER), Row(alpha=-QUARTER, r=0.4),
           Row(alpha=-QUARTER), Row(alpha=QUARTER, r=0.13)]  # fmt: skip
TWO_R = [Row(), Row(a=0.5)]


def random_inertia(rng: np.random.Generator, scale: float = 1.0) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia at the centre of a cloud of points: always that of a real body."""
    masses = rng.uniform(0.2, 1.0, 6) * scale
    points = rng.uniform(-0.2, 0.2, (6, 3)) + rng.uniform(-0.15, 0.15, 3)
    centre = masses @ points / masses.sum()
    S = (points - centre).T @ ((points - centre) * masses[:, None])
    return float(masses.sum()), centre, np.trace(S) * np.eye(3) - S


def arm(
    rows: Sequence[Row], gravity: Sequence[float] = (0, 0, -9.81), seed: int = 0, name: str = "arm"
) -> ts.Mechanism:
    """A serial arm with random links."""
    rng = np.random.default_rng(seed)
    bodies, joints, before = [], [], None
    for k, row in enumerate(rows, 1):
        mass, centre, I = random_inertia(rng)
        matrix = ts.inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        link = ts.body(f"link{k}", mass=mass, centre=tuple(centre), inertia=matrix)
        joints.append(
            ts.denavit_hartenberg(
                f"joint{k}",
                before or ts.EARTH,
                link,
                f"q{k}",
                a=row.a,
                alpha=row.alpha,
                r=row.r,
                theta=row.theta,
                prismatic=row.slides,
            )
        )
        bodies.append(link)
        before = link
    return ts.Mechanism(name, bodies=bodies, joints=joints, gravity=gravity)


def true_parameters(mechanism: ts.Mechanism) -> np.ndarray:
    """Mass, first moment and inertia at the link's origin, ten per link, computed here by Huygens."""
    found = []
    for body in mechanism.bodies:
        m = float(body.mass)
        c = np.array([float(x) for x in body.iframe.position])
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.inertia.components)
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * (c @ c * np.eye(3) - np.outer(c, c))
        found += [m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    return np.array(found)
