"""Profiles of cams against eccentric circles, whose lifts, normals and radii are known."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts

THETA = ts.symbol("theta", "rad")
RADIUS, ECCENTRIC = 0.05, 0.012


def eccentric(radius, offset):
    """The height of a follower on a circle about a point that turns: the circle's centre is at ε (cos θ, sin θ)."""
    aside = offset - ECCENTRIC * ts.cos(THETA)
    return ECCENTRIC * ts.sin(THETA) + ts.sqrt(radius**2 - aside**2)


@pytest.mark.parametrize("offset", [0.0, 0.007, -0.01])
def test_a_circle_about_another_point_comes_back_as_that_circle(offset):
    roller, base = 0.009, 0.04
    lift = eccentric(RADIUS + roller, offset) - np.sqrt((base + roller) ** 2 - offset**2)
    cam = ts.cam_profile(lift, THETA, base, roller_radius=roller, offset=offset)
    centre = np.array([ECCENTRIC, 0.0])
    assert np.linalg.norm(cam.profile - centre, axis=1) == pytest.approx(np.full(721, RADIUS), abs=1e-12)
    assert cam.curvature_radius == pytest.approx(np.full(721, RADIUS), rel=1e-9)
    assert cam.pitch_curvature_radius == pytest.approx(np.full(721, RADIUS + roller), rel=1e-9)
    # The force goes through the centre of the circle.
    aside = offset - ECCENTRIC * np.cos(cam.angles)
    assert np.abs(cam.pressure_angle) == pytest.approx(np.abs(np.arcsin(aside / (RADIUS + roller))), abs=1e-9)
    assert not cam.is_undercut


def test_under_a_flat_face_a_circle_comes_back_too():
    cam = ts.cam_profile(ECCENTRIC * ts.sin(THETA), THETA, RADIUS, flat=True)
    assert np.linalg.norm(cam.profile - [ECCENTRIC, 0.0], axis=1) == pytest.approx(np.full(721, RADIUS), abs=1e-12)
    assert cam.curvature_radius == pytest.approx(np.full(721, RADIUS), rel=1e-9)
    assert cam.largest_pressure_angle == 0


def test_undercut_begins_where_the_roller_is_as_large_as_the_pitch_curve_bends():
    """Oracle: at the top of r - h cos(nθ) the radius is (r + h)²/(r + h + h n²)."""
    n, h = 4, 0.006
    for base, roller in ((0.03, 0.004), (0.03, 0.03)):
        r = base + roller + h
        cam = ts.cam_profile(h - h * ts.cos(n * THETA), THETA, base, roller_radius=roller)
        top = (r + h) ** 2 / (r + h + h * n * n)
        assert np.min(cam.pitch_curvature_radius[cam.pitch_curvature_radius > 0]) == pytest.approx(top, rel=1e-3)
        assert cam.is_undercut == (top <= roller)
        # A profile that cuts into itself turns back there: its steps go against those of the pitch curve.
        back = np.sum(np.diff(cam.profile, axis=0) * np.diff(cam.pitch, axis=0), axis=1) < 0
        assert back.any() == cam.is_undercut
        assert str(cam).endswith(", undercut") == cam.is_undercut


@pytest.mark.parametrize(
    ("options", "words"),
    [({"base_radius": -1.0}, "positive base radius"), ({"base_radius": 0.01, "offset": 0.02}, "misses the base circle"),
     ({"base_radius": 0.01, "flat": True, "offset": 0.001}, "flat follower")],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(ts.TorseurError, match=words):
        ts.cam_profile(0.01 * ts.sin(THETA), THETA, **options)


def test_a_law_of_something_else_is_refused():
    with pytest.raises(ts.TorseurError, match="depends on 'h' besides"):
        ts.cam_profile(ts.symbol("h", "m") * ts.sin(THETA), THETA, 0.02)
