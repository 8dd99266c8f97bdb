"""Scenes as files: what they hold, read back by other programs."""

from __future__ import annotations

import json
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.presentation.scene.make_scene import Take, scene_of
from torseur.presentation.scene.orientation import rotation
from torseur.presentation.scene.pictures.glb import glb_file
from torseur.presentation.scene.pictures.picture_files import Shot, write_picture
from torseur.presentation.scene.pictures.rendering import Renderer
from torseur.presentation.scene.pictures.triangles import surface_of, wire
from torseur.presentation.scene.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Ring, Sphere, Tube

PENDULUM = """mechanism swing ; gravity = [0, 0, -9.81] m/s^2 ;
let rod = body mass = 0, inertia = 0 end ;
let bob = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and rod with revolute(theta) about [0, 1, 0] end ;
join rod and bob as slide with prismatic(r) along [0, 0, -1] stiffness = 40 N/m, rest = 1 m end ;
init theta = 0.5, r = 1.3 m ;
draw sphere radius = 0.1 m, colour = "#ff0000" on bob ;
draw text "bob" on bob ;
draw path of bob ;
"""


@pytest.fixture(scope="module")
def scene():
    return scene_of(ts.parse(PENDULUM), take=Take(until=1.0))


VOLUMES = {
    "box": (Box((1, 2, 3), (2, 3, 4)), 24.0),
    "sphere": (Sphere((0, 1, 0), 2.0), 4 / 3 * np.pi * 8),
    "ellipsoid": (Ellipsoid((0, 1, 0), (1, 2, 3)), 4 / 3 * np.pi * 6),
    "cylinder": (Cylinder((0, 0, 1), (3, 0, 1), 0.5), np.pi * 0.25 * 3),
    "cone": (Cone((0, 0, 1), (0, 3, 1), 0.5), np.pi * 0.25),
    "capsule": (Capsule((0, 0, 1), (0, 3, 1), 0.5), np.pi * 0.25 * 3 + np.pi / 6),
    "tube": (Tube((0, 0, 1), (0, 3, 1), 1.0, 0.8), np.pi * 0.36 * 3),
    "ring": (Ring((0, 0, 1), (0, 1, 0), 2.0, 0.3), 2 * np.pi**2 * 2 * 0.09),
}


def volume(surface) -> float:
    """What a closed surface encloses, positive when its triangles face outward (Gauss)."""
    a, b, c = np.moveaxis(surface.vertices[surface.triangles], 1, 0)
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize("kind", VOLUMES)
def test_surfaces_enclose_the_volume_of_their_shape(kind):
    """Oracle: volumes in closed form; inscribed polyhedra are a little smaller."""
    shape, expected = VOLUMES[kind]
    assert 0.9 * expected < volume(surface_of(shape, 0.0)) <= expected * (1 + 1e-12)


def test_a_wire_encloses_its_length_times_its_section():
    angles = np.linspace(0, np.pi, 50)
    bent = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    section = 0.05**2 * 7 / 2 * np.sin(2 * np.pi / 7)  # of a heptagon
    assert volume(wire(bent, 0.05)) == pytest.approx(section * np.pi, rel=0.02)


def test_a_glb_moves_its_bodies_as_the_motion_does(scene):
    """Oracle: the file's own numbers, read by the format's rules, against the poses of the scene."""
    data = glb_file(scene)
    magic, version, total, length = struct.unpack("<4sIII", data[:16])
    assert (magic, version, total) == (b"glTF", 2, len(data))
    content = json.loads(data[20 : 20 + length])
    binary = data[20 + length + 8 :]

    def read(number: int) -> np.ndarray:
        accessor = content["accessors"][number]
        view = content["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        return np.frombuffer(binary, "<f4", accessor["count"] * width, view["byteOffset"]).reshape(-1, width)

    (animation,) = content["animations"]
    tracks = {}
    for channel in animation["channels"]:
        node = content["nodes"][channel["target"]["node"]]["name"]
        tracks[node, channel["target"]["path"]] = read(animation["samplers"][channel["sampler"]]["output"])
    bob = scene.index("bob")
    np.testing.assert_allclose(tracks["bob", "translation"], scene.motion.positions[:, bob], atol=1e-6)
    # The spring's mesh, along z, ends at the bob whatever its length.
    turn, size = tracks["slide.spring", "rotation"][:, [3, 0, 1, 2]], tracks["slide.spring", "scale"][:, 2]
    ends = np.array([rotation(q)[:, 2] for q in turn.astype(float)]) * size[:, None] * 1.3
    np.testing.assert_allclose(ends, scene.motion.positions[:, bob], atol=1e-5)
    assert any(
        material["pbrMetallicRoughness"]["baseColorFactor"] == [1.0, 0.0, 0.0, 1.0] for material in content["materials"]
    )


def test_a_rendered_ball_is_where_it_is_and_has_its_colour(scene):
    """Oracle: red pixels are those of the bob; their middle moves down and inward with it in a picture seen flat."""
    pytest.importorskip("PIL")
    renderer = Renderer(scene, 320, 240)

    def spot(time: float) -> np.ndarray:
        pixels = np.asarray(renderer.frame(time).convert("RGB")).astype(int)
        rows, columns = np.nonzero((pixels[..., 0] > 140) & (pixels[..., 1] < 70) & (pixels[..., 2] < 70))
        assert len(rows) > 50
        return np.array([columns.mean(), rows.mean()])

    times = scene.motion.times
    seen = np.array([spot(times[k]) for k in (0, 30, 60)])
    places = scene.motion.positions[[0, 30, 60], scene.index("bob")][:, [0, 2]] * [1, -1]
    moved, expected = np.diff(seen, axis=0), np.diff(places, axis=0)
    scale = np.linalg.norm(moved, axis=1) / np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(moved / scale[:, None], expected, atol=0.02)
    assert scale[0] == pytest.approx(scale[1], rel=0.03)


def test_an_svg_holds_shapes_texts_and_paths(scene, tmp_path):
    file = write_picture(scene, tmp_path / "swing.svg")
    tags = [child.tag.rpartition("}")[2] for child in ET.parse(file).getroot()]
    assert {"circle", "polyline", "text"} <= set(tags)
    assert 'class="rod' not in file.read_text()


@pytest.mark.slow
def test_a_gif_has_the_frames_asked_for(scene, tmp_path):
    image = pytest.importorskip("PIL.Image")
    file = write_picture(scene, tmp_path / "swing.gif", Shot(96, 64, 10.0))
    with image.open(file) as film:
        assert (film.n_frames, film.size) == (10, (96, 64))


def test_a_gif_keeps_the_colours_of_small_bodies(tmp_path):
    """Oracle: the rendered frame of the same instant, which has all colours."""
    image = pytest.importorskip("PIL.Image")
    double = scene_of(ts.library.load("double_pendulum"), take=Take(until=1.0))
    rendered = Renderer(double, 160, 120).frame(0.0).convert("RGB")
    with image.open(write_picture(double, tmp_path / "double.gif", Shot(160, 120, 3.0))) as film:
        difference = np.abs(np.asarray(film.convert("RGB"), dtype=float) - np.asarray(rendered, dtype=float))
    coloured = np.ptp(np.asarray(rendered, dtype=float), axis=2) > 60
    assert coloured.sum() > 50
    assert difference[coloured].mean() < 6 and difference[coloured].max() < 40


@pytest.mark.slow
def test_a_film_is_written(scene, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    file = write_picture(scene, tmp_path / "swing.mp4", Shot(97, 65, 5.0))
    assert file.read_bytes()[4:8] == b"ftyp"


def test_what_cannot_be_written_is_refused(scene, tmp_path):
    with pytest.raises(ts.TorseurError, match=r"\.mp4.*not as '\.mpeg'"):
        write_picture(scene, tmp_path / "swing.mpeg")
    still = scene_of(ts.parse(PENDULUM.replace("stiffness = 40 N/m", "stiffness = ?k")))
    assert "must be given" in still.reason or "no value" in still.reason
    with pytest.raises(ts.TorseurError, match="nothing to animate.*No motion"):
        write_picture(still, Path(tmp_path) / "swing.gif")
