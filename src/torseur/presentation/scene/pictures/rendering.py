"""Shaded pictures of a scene at any instant, drawn triangle by triangle without a graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.errors import UnsupportedError
from torseur.extras import install_command
from torseur.presentation.scene.bodies.body_poses import point
from torseur.presentation.scene.bodies.drawn_shapes import arrow
from torseur.presentation.scene.orientation import rotation, screen_axes
from torseur.presentation.scene.overlays import Arrows, Dots, Overlay
from torseur.presentation.scene.palette import Colour
from torseur.presentation.scene.pictures.depth_buffer import Faces, paint_faces
from torseur.presentation.scene.pictures.poster import element_lines, trace_line
from torseur.presentation.scene.pictures.triangles import Surface, surface_of, wire
from torseur.presentation.scene.scene import Array, Scene
from torseur.presentation.scene.scene_data import ELEMENT_COLOUR, scene_colours
from torseur.presentation.scene.shapes import Label, Paint, Shape, Sphere

if TYPE_CHECKING:
    from PIL.Image import Image

SMOOTH = 2  # pixels drawn per pixel shown, each way
MARGIN = 0.1
SKY, GROUND, GRID, SHADOW = (250, 251, 252), (232, 235, 239), (203, 209, 216), (60, 66, 74)
LIGHT = np.array([0.45, 0.55, 0.7]) / np.linalg.norm([0.45, 0.55, 0.7])  # right, up, towards the viewer
AMBIENT, LAMP = 0.62, 0.5
SHADE_OF_FLOOR = 0.22
DARKER = tuple(round(light + SHADE_OF_FLOOR * (dark - light)) for light, dark in zip(GROUND, SHADOW, strict=True))
FIELD_OF_VIEW = 0.6  # as the viewer's camera
SAMPLES = 40
LONG_WAY = 1.5  # sizes of the mechanism beyond which the camera goes along
THIN = 0.004


@dataclass(frozen=True, eq=False)
class _Part:
    """A surface fixed in a body, with its colour and opacity."""

    body: int
    surface: Surface
    rgb: Array
    opacity: float


class Renderer:
    """Draws a scene at its samples, seen from where the scene is first seen, as large as the whole motion allows.

    A `still` is as large as its one instant allows.
    """

    def __init__(self, scene: Scene, width: int, height: int, still: float | None = None) -> None:
        self.scene, self.width, self.height = scene, width, height
        times = scene.motion.times
        self._instants = np.linspace(times[0], times[-1], SAMPLES) if still is None else np.array([still])
        self.axes = screen_axes(scene.view)
        self._colours = scene_colours(scene.bodies, scene.overlays)

    def frame(self, time: float) -> Image:
        """The picture at an instant."""
        image_module, draw_module = _pillow()
        size = (SMOOTH * self.width, SMOOTH * self.height)
        image = self._backdrop(image_module, draw_module, size)
        faces, shadows = self._faces(time)
        canvas = draw_module.Draw(image)
        for corners in (corners for shadow in shadows for corners in shadow.tolist()):
            # Triangles of one shadow overlap and would add up: they are drawn opaque, in a darker grey of the floor.
            canvas.polygon([(x, y) for x, y in corners], fill=DARKER)
        pixels = np.asarray(image).reshape(-1, 3).astype(float)
        paint_faces(pixels, faces, size)
        image = image_module.fromarray(pixels.round().astype(np.uint8).reshape(size[1], size[0], 3), "RGB")
        small = image.resize((self.width, self.height), image_module.Resampling.LANCZOS)
        self._write_labels(draw_module.Draw(small), time)
        return small

    # What is drawn

    @cached_property
    def _parts(self) -> list[_Part]:
        thin = THIN * self._reach
        parts = []
        for number, body in enumerate(self.scene.bodies):
            base = colour_values(self._colours[f"--body-{number}"])
            for shape in body.shapes:
                surface = surface_of(shape, thin)
                if surface is not None and len(surface.triangles):
                    paint = shape.paint
                    colour = np.array(paint.rgb) if paint is not None else np.minimum(1.0, base * shape.shade)
                    parts.append(_Part(number, surface, colour, 1.0 if paint is None else 1 - paint.transparency))
        return parts

    def _poses(self, time: float) -> tuple[Array, list[Array]]:
        """Positions and rotation matrices of all bodies, interpolated between samples."""
        motion = self.scene.motion
        k = int(np.clip(np.searchsorted(motion.times, time) - 1, 0, len(motion.times) - 2))
        weight = float(np.clip((time - motion.times[k]) / (motion.times[k + 1] - motion.times[k]), 0, 1))
        one, other = motion.quaternions[k], motion.quaternions[k + 1]
        same = np.where(np.sum(one * other, axis=1) < 0, -1.0, 1.0)[:, None]
        turns = (1 - weight) * one + weight * same * other
        places = (1 - weight) * motion.positions[k] + weight * motion.positions[k + 1]
        carried = (1 - weight) * self._way[k] + weight * self._way[k + 1]
        return places - carried, [rotation(turn) for turn in turns]

    @cached_property
    def _way(self) -> Array:
        """How far the camera has moved at each sample: with the bodies where they go a long way, else not at all."""
        positions = self.scene.motion.positions
        turning = np.any(np.ptp(self.scene.motion.quaternions, axis=0) > 1e-9, axis=1)
        moving = np.any(np.ptp(positions, axis=0) > 1e-9, axis=1) | turning
        if not np.any(moving):
            return np.zeros((len(positions), 3))
        middle = positions[:, moving].mean(axis=1)
        way = middle - middle[0]
        local = np.ptp((positions[:, moving] - way[:, None]).reshape(-1, 3), axis=0)
        own = [float(np.linalg.norm(np.ptp(box, axis=0))) for box in self._boxes if len(box)]
        size = max(float(np.linalg.norm(local)), max(own, default=0.0))
        return way if float(np.linalg.norm(np.ptp(way, axis=0))) > LONG_WAY * size else np.zeros_like(way)

    def _surfaces(self, time: float) -> Iterator[tuple[Surface, Array, float]]:
        """Everything at an instant in the axes of the view, with colour and opacity."""
        places, turns = self._poses(time)
        for part in self._parts:
            moved = (part.surface.vertices @ turns[part.body].T + places[part.body]) @ self.axes.T
            yield Surface(moved, part.surface.triangles), part.rgb, part.opacity
        grey = colour_values(self._colours[ELEMENT_COLOUR])
        for one in self.scene.elements:
            numbers = [self.scene.index(anchor.body) for anchor in one.anchors]
            ends = [places[n] + turns[n] @ np.array(a.point) for n, a in zip(numbers, one.anchors, strict=True)]
            colour = grey if one.paint is None else np.array(one.paint.rgb)
            for line, radius in element_lines(one, ends):
                surface = wire(np.array(line), radius)
                yield Surface(surface.vertices @ self.axes.T, surface.triangles), colour, _opacity(one.paint)
        for path, rgb in self._paths:
            yield path, rgb, 0.6
        for number, overlay in enumerate(self.scene.overlays):
            rgb = colour_values(self._colours[f"--overlay-{number}"])
            for shape in self._pieces(overlay, time):
                solid = surface_of(shape, 0.0)
                if solid is not None:
                    yield Surface(solid.vertices @ self.axes.T, solid.triangles), rgb, 1.0

    def _pieces(self, overlay: Overlay, time: float) -> Iterator[Shape]:
        """Balls and arrows of an overlay at the nearest sample."""
        k = int(np.argmin(np.abs(self.scene.motion.times - time)))
        if isinstance(overlay, Dots):
            places = overlay.positions[k] - self._way[k]
            yield from (Sphere(point(p), overlay.radius) for p in places if np.all(np.isfinite(p)))
            return
        for start, way in zip(overlay.starts[k] - self._way[k], overlay.vectors[k], strict=True):
            if np.all(np.isfinite(way)) and np.all(np.isfinite(start)):
                yield from arrow(start, start + way, 2 * overlay.radius)

    @cached_property
    def _paths(self) -> list[tuple[Surface, Array]]:
        """The paths that are drawn, in the axes of the view."""
        paths = []
        for trace in self.scene.view.traces:
            if trace.shown:
                number = self.scene.index(trace.body)
                line = trace_line(self.scene, trace) - self._way
                own = colour_values(self._colours[f"--body-{number}"])
                surface = wire(line @ self.axes.T, 0.7 * THIN * self._reach, 5)
                paths.append((surface, own if trace.paint is None else np.array(trace.paint.rgb)))
        return paths

    # Where it goes in the picture

    @cached_property
    def _extent(self) -> tuple[Array, Array]:
        """Least and greatest coordinates, in the axes of the view, of everything that is framed."""
        points, first = [], 0.0
        for time in self._instants:
            places, turns = self._poses(float(time))
            for number, corners in enumerate(self._boxes):
                if len(corners):
                    points.append((corners @ turns[number].T + places[number]) @ self.axes.T)
            held = [a for one in self.scene.elements for a in one.anchors]
            if held:
                numbers = [self.scene.index(anchor.body) for anchor in held]
                ends = [places[n] + turns[n] @ np.array(a.point) for n, a in zip(numbers, held, strict=True)]
                points.append(np.array(ends) @ self.axes.T)
            k = int(np.argmin(np.abs(self.scene.motion.times - time)))
            tips = [o.starts[k] + o.vectors[k] - self._way[k] for o in self.scene.overlays if isinstance(o, Arrows)]
            points += [tip[np.isfinite(tip).all(axis=1)] @ self.axes.T for tip in tips]
            size = float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))
            first = first or size
            if size > 3 * first:  # what flies apart is framed as it begins
                break
        whole = np.concatenate(points)
        return whole.min(axis=0), whole.max(axis=0)

    @cached_property
    def _boxes(self) -> list[Array]:
        """Corners of the box around each body's shapes, in its frame."""
        boxes = []
        for body in self.scene.bodies:
            surfaces = [surface_of(shape, 0.0) for shape in body.shapes if not isinstance(shape, Label)]
            known = [s.vertices for s in surfaces if s is not None and len(s.vertices)]
            if not known:
                boxes.append(np.zeros((0, 3)))
                continue
            low, high = np.concatenate(known).min(axis=0), np.concatenate(known).max(axis=0)
            boxes.append(np.array(list(product(*zip(low, high, strict=True)))))
        return boxes

    @cached_property
    def _reach(self) -> float:
        low, high = self._extent
        return float(np.linalg.norm(high - low)) or 1.0

    @cached_property
    def _camera(self) -> tuple[Array, float, float]:
        """The point in the middle, pixels per metre there, and the distance of the eye (infinite when seen flat)."""
        low, high = self._extent
        middle = (low + high) / 2
        room = np.array([self.width, self.height]) * (1 - 2 * MARGIN) * SMOOTH
        span = np.maximum(high - low, 1e-9 * self._reach + 1e-12)
        scale = float(np.min(room / span[:2]))
        if self.scene.view.flat:
            return middle, scale, np.inf
        distance = SMOOTH * self.height / (2 * np.tan(FIELD_OF_VIEW / 2) * scale) + span[2] / 2
        return middle, scale * distance / (distance + span[2] / 2), distance

    def _project(self, points: Array) -> Array:
        """Pixels of points in the axes of the view."""
        middle, scale, distance = self._camera
        off = points - middle
        ones = np.ones(len(off))
        nearer = ones if np.isinf(distance) else distance / np.maximum(distance - off[:, 2], 0.05 * distance)
        flat: Array = off[:, :2] * scale * nearer[:, None]
        return flat * np.array([1.0, -1.0]) + np.array([self.width, self.height]) * SMOOTH / 2

    def _faces(self, time: float) -> tuple[Faces, list[Array]]:
        """Triangles that face the viewer, shaded, and their shadows on the floor."""
        corners, colours, nearness, shadows = [], [], [], []
        for surface, rgb, opacity in self._surfaces(time):
            flat = self._project(surface.vertices)[surface.triangles]
            solid = surface.vertices[surface.triangles]
            turn = (flat[:, 1, 0] - flat[:, 0, 0]) * (flat[:, 2, 1] - flat[:, 0, 1])
            turn -= (flat[:, 1, 1] - flat[:, 0, 1]) * (flat[:, 2, 0] - flat[:, 0, 0])
            seen = turn < 0  # pixels count downward
            normal = np.cross(solid[:, 1] - solid[:, 0], solid[:, 2] - solid[:, 0])[seen]
            size = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
            light = AMBIENT + LAMP * np.maximum(normal @ LIGHT / size, 0.0)
            shaded = np.clip(255 * rgb * light[:, None], 0, 255)
            corners.append(flat[seen])
            colours.append(np.concatenate([shaded, np.full((len(shaded), 1), opacity)], axis=1))
            nearness.append(self._nearness(surface.vertices)[surface.triangles][seen])
            if self._floor is not None:
                shadows.append(self._project(self._shadow(surface.vertices))[surface.triangles][seen])
        return Faces(np.concatenate(corners), np.concatenate(nearness), np.concatenate(colours)), shadows

    def _nearness(self, points: Array) -> Array:
        """What grows towards the viewer, and is linear on the screen."""
        middle, _, distance = self._camera
        off = points[:, 2] - middle[2]
        return np.asarray(off if np.isinf(distance) else 1.0 / np.maximum(distance - off, 0.05 * distance))

    # Floor and backdrop

    @cached_property
    def _up(self) -> Array:
        """Upward in the axes of the view."""
        up = np.array(self.scene.view.up) / np.linalg.norm(self.scene.view.up)
        return np.asarray(self.axes @ up)

    @cached_property
    def _floor(self) -> float | None:
        """The height of the floor; None where it is not seen."""
        view = self.scene.view
        if view.flat or not view.floor or view.elevation <= 0.05:
            return None
        if view.level is not None:
            return view.level
        return min(float(spot @ self._up) for spot in self._lowest()) - 0.02 * self._reach

    def _lowest(self) -> list[Array]:
        points = []
        for time in self._instants:
            places, turns = self._poses(float(time))
            for number, corners in enumerate(self._boxes):
                if len(corners):
                    moved = (corners @ turns[number].T + places[number]) @ self.axes.T
                    points.append(moved[np.argmin(moved @ self._up)])
        return points

    def _shadow(self, points: Array) -> Array:
        """Points moved along the light onto the floor."""
        assert self._floor is not None
        way = LIGHT + 1.2 * self._up
        fall = (points @ self._up - self._floor) / float(way @ self._up)
        return np.asarray(points - fall[:, None] * way)

    def _backdrop(self, image_module: Any, draw_module: Any, size: tuple[int, int]) -> Image:
        blend = np.linspace(0, 1, size[1])[:, None, None]
        rows = (1 - blend) * np.array(SKY) + blend * np.array(GROUND)
        image: Image = image_module.fromarray(np.repeat(rows, size[0], axis=1).round().astype(np.uint8), "RGB")
        canvas = draw_module.Draw(image)
        for start, end in self._grid():
            canvas.line([tuple(start), tuple(end)], fill=GRID, width=1)
        return image

    def _grid(self) -> Iterator[tuple[Array, Array]]:
        """Lines of the grid: in the plane of the picture when seen flat, else on the floor."""
        cell = _round_length(self._reach / 8)
        middle, scale, _ = self._camera
        if self.scene.view.flat:
            half = np.array([self.width, self.height]) * SMOOTH / (2 * scale)
            low, high = middle[:2] - half, middle[:2] + half
            for axis, other in ((0, 1), (1, 0)):
                for k in range(int(np.ceil(low[axis] / cell)), int(high[axis] // cell) + 1):
                    ends = np.tile(middle, (2, 1))
                    ends[:, axis], ends[:, other] = k * cell, np.array([low[other], high[other]])
                    start, end = self._project(ends)
                    yield start, end
            return
        if self._floor is None:
            return
        up = self._up
        level = np.array([1.0, 0.0, 0.0]) - up * up[0]
        along = level / np.linalg.norm(level)
        beside = np.cross(up, along)
        centre = middle - up * (middle @ up - self._floor)
        wide = 6
        for k in range(-wide, wide + 1):
            for one, across in ((along, beside), (beside, along)):
                ends = np.stack([centre + one * k * cell + across * side * wide * cell for side in (-1, 1)])
                start, end = self._project(ends)
                yield start, end

    def _write_labels(self, canvas: Any, time: float) -> None:
        places, turns = self._poses(time)
        for number, body in enumerate(self.scene.bodies):
            for shape in body.shapes:
                if isinstance(shape, Label):
                    point = (turns[number] @ np.array(shape.centre) + places[number]) @ self.axes.T
                    x, y = self._project(point[None])[0] / SMOOTH
                    own = colour_values(self._colours[f"--body-{number}"])
                    rgb = np.array(shape.paint.rgb) if shape.paint is not None else own
                    canvas.text((x, y), shape.text, fill=tuple((255 * rgb).round().astype(int).tolist()), anchor="mm")


def _opacity(paint: Paint | None) -> float:
    return 1.0 if paint is None else 1 - paint.transparency


def colour_values(colour: Colour) -> Array:
    """Red, green and blue, from 0 to 1, of a colour's light variant."""
    return np.array([int(colour.light[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def _round_length(length: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda step: abs(step - length / power)))


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import Image, ImageDraw
    except ModuleNotFoundError:
        command = install_command("pictures")
        raise UnsupportedError(
            f"PNG and animations need Pillow; SVG and GLB go without. Install it: {command}"
        ) from None
    return Image, ImageDraw
