"""Rotations of bodies and of the view as matrices."""

from __future__ import annotations

import numpy as np

from torseur.presentation.scene.scene import Array, View


def rotation(quaternion: Array) -> Array:
    """Matrix of a quaternion (w, x, y, z)."""
    return rotations(np.asarray(quaternion)[None])[0]


def rotations(quaternions: Array) -> Array:
    """Matrices (T, 3, 3) of quaternions (T, 4)."""
    unit = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    cross = np.zeros((len(unit), 3, 3))
    x, y, z = unit[:, 1], unit[:, 2], unit[:, 3]
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -z, y, -x
    cross -= cross.transpose(0, 2, 1)
    # R = 1 + 2 w r̃ + 2 r̃², r̃ the cross product with (x, y, z).
    return np.asarray(np.eye(3) + 2 * unit[:, :1, None] * cross + 2 * cross @ cross)


def screen_axes(view: View) -> Array:
    """Rows right, up, towards the viewer, in world coordinates."""
    up = np.array(view.up) / np.linalg.norm(view.up)
    level = level_axes(up)
    ca, sa, ce, se = (f(a) for a in (view.azimuth, view.elevation) for f in (np.cos, np.sin))
    # The camera's own axes about the page's z, so that a view from straight above has them too.
    right = -sa * level[0] + ca * level[1]
    out = ca * ce * level[0] + sa * ce * level[1] + se * up
    return np.stack([right, np.cross(out, right), out])


def level_axes(up: Array) -> tuple[Array, Array]:
    """World directions that the page calls x and y: the shortest turn takes `up` to its z axis."""
    z = np.array([0.0, 0.0, 1.0])
    axis, cosine = np.cross(z, up), float(up @ z)
    # Upside down there is no shortest turn; half a turn about x is one of them.
    if cosine < -1 + 1e-9:
        return np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])
    # Rodrigues' formula for the turn that takes z to `up`: R e = e + a × e + a × (a × e) / (1 + cos), a = z × up.
    x, y = (e + np.cross(axis, e) + np.cross(axis, np.cross(axis, e)) / (1 + cosine) for e in np.eye(3)[:2])
    return x, y
