"""The profile of a disc cam from the lift of its follower, with pressure angle, curvature and undercut.

The cam turns by θ about the origin, the follower moves along y at x = e (the offset). In the axes of the earth, with
s' and s'' by θ, a point (x, y) of the follower moves over the cam with the velocity (x', y') - (-y, x) per radian:

    roller: centre (e, S), S = √(R² - e²) + s    velocity (S, u), u = s' - e       R: base circle of the centre
            its change                           acceleration (s' + u, s'' - S)
    flat:   contact (s', h), h = r + s           velocity (s'' + h, 0)             r: base circle of the cam

so that tan φ = u / S is the pressure angle, and the pitch curve has the radius of curvature
(S² + u²)^(3/2) / (S² - S s'' + u (s' + u)), positive where it is convex. Under a flat follower it is h + s''.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, as_expr, evaluate, gradient, symbols_of
from torseur.errors import TorseurError, list_names


@dataclass(frozen=True, repr=False)
class CamProfile:
    """A cam over angles θ (rad): points of its profile and of the pitch curve (K, 2) in its own axes (m).

    `pressure_angle` (rad) is that between the follower's way and the force on it, 0 under a flat follower.
    `curvature_radius` (m) is that of the profile, `pitch_curvature_radius` that of the path of the roller's centre;
    negative where they are concave.
    """

    angles: Array
    lift: Array
    pitch: Array
    profile: Array
    pressure_angle: Array
    curvature_radius: Array
    pitch_curvature_radius: Array
    roller_radius: float
    is_flat: bool = False

    def __repr__(self) -> str:
        follower = "flat follower" if self.is_flat else f"roller of radius {self.roller_radius:.6g} m"
        parts = [f"{follower}, lift {np.ptp(self.lift):.6g} m",
                 f"radius {np.min(np.linalg.norm(self.profile, axis=1)):.6g} m at least",
                 f"pressure angle up to {np.degrees(self.largest_pressure_angle):.4g} deg",
                 f"curvature radius {np.min(np.abs(self.curvature_radius)):.6g} m at least",
                 "undercut" if self.is_undercut else "not undercut"]  # fmt: skip
        return f"CamProfile: {', '.join(parts)}"

    @property
    def is_undercut(self) -> bool:
        """Whether the profile would cut into itself, so that the follower could not do what the law asks."""
        radius = self.pitch_curvature_radius
        # A roller follows a convex pitch curve of its own radius at best; a flat follower needs a convex cam.
        if self.is_flat:
            return bool(np.any(radius <= 0))
        return bool(np.any((radius > 0) & (radius <= self.roller_radius)))

    @property
    def largest_pressure_angle(self) -> float:
        """Of all angles of the cam (rad)."""
        return float(np.max(np.abs(self.pressure_angle)))


def cam_profile(
    lift: Expr, angle: Expr, base_radius: float, *, roller_radius: float = 0.0, offset: float = 0.0,
    flat: bool = False, samples: int = 721,
) -> CamProfile:  # fmt: skip
    """The disc cam that lifts a follower by a formula (m) of its angle (rad), over a whole turn.

    `base_radius` (m) is that of the cam where the lift is zero. The follower ends in a roller, in a point
    (`roller_radius` 0), or in a `flat` face across its way; `offset` is the distance of its way from the axis.
    """
    law = as_expr(lift)
    _require(law, angle, base_radius, roller_radius, offset, flat)
    theta = np.linspace(0.0, 2 * np.pi, samples)
    (first,) = gradient(law, [angle])
    (second,) = gradient(first, [angle])
    values = evaluate([law, first, second], {angle: theta})
    s, ds, dds = (np.broadcast_to(np.asarray(v, float), theta.shape) for v in values)
    if flat:
        return _under_flat_face(theta, base_radius, s, ds, dds)
    reach = base_radius + roller_radius
    far = np.sqrt(reach**2 - offset**2) + s
    u = ds - offset
    size = np.hypot(far, u)
    bend = far**2 - far * dds + u * (ds + u)
    with np.errstate(divide="ignore"):
        radius = size**3 / bend
    normal = np.stack([-u, far], axis=1) / size[:, None]
    centre = np.stack([np.full_like(far, offset), far], axis=1)
    pitch, profile = (_in_cam_axes(theta, p) for p in (centre, centre - roller_radius * normal))
    return CamProfile(theta, s, pitch, profile, np.arctan2(u, far), radius - roller_radius, radius, roller_radius)


def _under_flat_face(theta: Array, base_radius: float, s: Array, ds: Array, dds: Array) -> CamProfile:
    height = base_radius + s
    profile = _in_cam_axes(theta, np.stack([ds, height], axis=1))
    radius = height + dds
    return CamProfile(theta, s, profile, profile, np.zeros_like(theta), radius, radius, 0.0, is_flat=True)


def _in_cam_axes(theta: Array, points: Array) -> Array:
    """Points of the earth seen from the cam, which has turned by θ."""
    c, s = np.cos(theta), np.sin(theta)
    return np.stack([c * points[:, 0] + s * points[:, 1], c * points[:, 1] - s * points[:, 0]], axis=1)


def _require(law: Expr, angle: Expr, base_radius: float, roller_radius: float, offset: float, flat: bool) -> None:
    others = [str(x.name) for x in symbols_of([law]) if x is not angle]
    if others:
        raise TorseurError(f"cam: the lift depends on {list_names(others)} besides the angle of the cam; give numbers.")
    if base_radius <= 0 or roller_radius < 0:
        raise TorseurError(
            f"cam: expected a positive base radius and a roller radius of 0 or more, got {base_radius:g} and "
            f"{roller_radius:g} m."
        )
    if abs(offset) >= base_radius + roller_radius:
        raise TorseurError(
            f"cam: the follower's line of motion is {abs(offset):g} m from the axis and misses the base circle of "
            f"{base_radius + roller_radius:g} m; choose a smaller offset."
        )
    if flat and (roller_radius or offset):
        raise TorseurError("cam: a flat follower has no roller, and its shape does not depend on an offset.")
