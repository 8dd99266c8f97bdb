"""The nearest triangle at every pixel, against one pixel and one triangle after the other."""

from __future__ import annotations

import numpy as np

from torseur.presentation.scene.pictures.depth_buffer import DepthBuffer, Faces, paint_faces


def nearest(corners, nearness, width, height):
    """Oracle: for every pixel, the barycentric coordinates of its middle in every triangle, solved as a system."""
    face = np.full((height, width), -1)
    depth = np.full((height, width), -np.inf)
    for k, (corner, near) in enumerate(zip(corners, nearness, strict=True)):
        system = np.vstack([corner.T, np.ones(3)])
        if abs(np.linalg.det(system)) < 1e-9:
            continue
        for row in range(height):
            for column in range(width):
                weights = np.linalg.solve(system, [column + 0.5, row + 0.5, 1.0])
                if weights.min() >= 0 and weights @ near > depth[row, column]:
                    face[row, column], depth[row, column] = k, weights @ near
    return face, depth


def test_the_nearest_triangle_is_seen_also_where_they_cross():
    random = np.random.default_rng(5)
    corners = random.uniform(-6, 34, (14, 3, 2))  # some outside of the picture, of either orientation
    corners[3] = corners[3, 0]  # a point
    nearness = random.uniform(-1, 1, (14, 3))
    width, height = 27, 19  # no multiples of the tiles
    buffer = DepthBuffer.empty(width, height)
    buffer.draw(corners[:6], nearness[:6])
    buffer.draw(corners[6:], nearness[6:])
    face, depth = nearest(corners, nearness, width, height)
    np.testing.assert_allclose(buffer.nearness.reshape(height, width), depth, atol=1e-12)
    assert np.array_equal(buffer.face.reshape(height, width)[face >= 6] + 6, face[face >= 6])


def test_what_one_sees_through_mixes_with_what_lies_behind_alone():
    """Oracle: half of the clear triangle's colour and half of the one behind; nothing of it behind the opaque one."""
    square = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]])
    faces = Faces(
        np.stack([square, square, square]),
        np.array([[0.0] * 3, [1.0] * 3, [-1.0] * 3]),
        np.array([[200.0, 0, 0, 1.0], [0, 100.0, 0, 0.5], [0, 0, 250.0, 0.5]]),
    )
    pixels = np.full((64, 3), 9.0)
    paint_faces(pixels, faces, (8, 8))
    assert np.array_equal(pixels, np.tile([100.0, 50.0, 0.0], (64, 1)))
