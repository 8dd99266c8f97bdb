"""A still vector drawing of a scene: shown where a page cannot animate, and written as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torseur.presentation.scene.element_curves import coil, rope, sideways
from torseur.presentation.scene.orientation import rotation, screen_axes
from torseur.presentation.scene.overlays import Dots, Overlay
from torseur.presentation.scene.palette import Colour
from torseur.presentation.scene.scene import Array, Element, Scene, Trace
from torseur.presentation.scene.scene_data import ELEMENT_COLOUR, scene_colours
from torseur.presentation.scene.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Label,
    Line,
    Mesh,
    Paint,
    Ring,
    Shape,
    Sphere,
    Tube,
)
from torseur.presentation.typesetting.markup import Markup, element

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 0.08
AROUND = 24
EDGE = 0.62  # how much darker outlines are than what they surround
PISTON = 0.45  # where the cylinder of a damper sits between its ends


@dataclass(frozen=True, eq=False)
class Outline:
    """A shape in the picture: its points (n, 3), right, up and towards the viewer, and how it is drawn."""

    points: Array
    colour: str  # the name of a style variable
    paint: Paint | None
    width: float = 0.0  # of a stroke, in metres; a filled polygon has none
    filled: bool = False
    round: bool = True
    text: str = ""

    @property
    def depth(self) -> float:
        return float(self.points[:, 2].mean())


def poster(scene: Scene, time: float | None = None, inline: bool = False, width: float = WIDTH) -> Markup:
    """Orthographic SVG at an instant, the view's first by default, far shapes first.

    On a page its colours are the page's; `inline` writes them into the drawing.
    """
    sample = int(np.argmin(np.abs(scene.motion.times - (scene.view.start if time is None else time))))
    outlines = outlines_of(scene, sample)
    height = width * HEIGHT / WIDTH
    scale, middle = _fit(np.concatenate([_reach(outline) for outline in outlines]), width, height)
    # The painter's algorithm by mean depth: right for convex parts that do not interlock, which is what bodies are
    # made of.
    outlines.sort(key=lambda outline: outline.depth)
    colours = scene_colours(scene.bodies, scene.overlays) if inline else None
    artist = _Artist(scale, middle, np.array([width / 2, height / 2]), colours)
    return element(
        "svg",
        *(artist.draw(outline) for outline in outlines),
        class_="poster",
        xmlns="http://www.w3.org/2000/svg" if inline else None,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=f"{scene.title}, drawn at {scene.motion.times[sample]:.3g} s",
    )


def svg_picture(scene: Scene, time: float | None = None, width: float = WIDTH) -> str:
    """The scene at an instant as an SVG file of its own."""
    return str(poster(scene, time, inline=True, width=width))


def outlines_of(scene: Scene, sample: int) -> list[Outline]:
    """Everything that is drawn at a sample, in the axes of the view."""
    screen, motion = screen_axes(scene.view), scene.motion
    turns = [rotation(quaternion) for quaternion in motion.quaternions[sample]]
    outlines = []
    for number, body in enumerate(scene.bodies):
        for shape in body.shapes:
            flat = (points_of(shape) @ turns[number].T + motion.positions[sample, number]) @ screen.T
            outlines.append(_outline(shape, flat, f"--body-{number}"))
    for trace in scene.view.traces:
        if trace.shown:
            path = trace_line(scene, trace) @ screen.T
            outlines.append(Outline(path, f"--body-{scene.index(trace.body)}", trace.paint))
    for one in scene.elements:
        ends = [
            motion.positions[sample, scene.index(a.body)] + turns[scene.index(a.body)] @ np.array(a.point)
            for a in one.anchors
        ]
        outlines += [
            Outline(np.array(line) @ screen.T, ELEMENT_COLOUR, one.paint, 2 * radius)
            for line, radius in element_lines(one, ends)
        ]
    for number, overlay in enumerate(scene.overlays):
        outlines += [
            Outline(np.array(line) @ screen.T, f"--overlay-{number}", None, 2 * radius)
            for line, radius in _pieces(overlay, sample)
        ]
    return outlines


def _pieces(overlay: Overlay, sample: int) -> Iterator[tuple[list[Array], float]]:
    """The lines, with their radius, that an overlay is made of at a sample; a ball is a line of one point."""
    if isinstance(overlay, Dots):
        yield from (([place], overlay.radius) for place in overlay.positions[sample] if np.all(np.isfinite(place)))
        return
    for start, way in zip(overlay.starts[sample], overlay.vectors[sample], strict=True):
        length = float(np.linalg.norm(way))
        if np.isfinite(length) and length > 0 and np.all(np.isfinite(start)):
            axis, end = way / length, start + way
            head, aside = min(9 * overlay.radius, 0.6 * length), sideways(axis) * 3 * overlay.radius
            yield [start, end], overlay.radius
            yield [end - axis * head + aside, end, end - axis * head - aside], overlay.radius


def trace_line(scene: Scene, trace: Trace) -> Array:
    """Where a point of a body is at every sample."""
    number = scene.index(trace.body)
    turns = np.array([rotation(quaternion) for quaternion in scene.motion.quaternions[:, number]])
    line: Array = scene.motion.positions[:, number] + turns @ np.array(trace.point)
    return line


def element_lines(one: Element, ends: list[Array]) -> list[tuple[Array, float]]:
    """The lines, with their radius, that an element is made of when its anchors are at these points."""
    radii = [anchor.radius for anchor in one.anchors]
    start, end = ends[0], ends[-1]
    length = float(np.linalg.norm(end - start))
    match one.kind:
        case "coil":
            return [(coil(start, end, one.radius, one.turns), one.wire)]
        case "damper" if length > 0:
            half = min(3 * one.radius, 0.3 * length) / length
            low, high = (start + (end - start) * (PISTON + side * half) for side in (-1, 1))
            return [(np.stack([start, end]), one.wire), (np.stack([low, high]), one.radius)]
        case "arrow" if length > 0:
            axis = (end - start) / length
            head, aside = min(9 * one.wire, 0.6 * length), sideways(axis) * 3 * one.wire
            tip = np.stack([end - axis * head + aside, end, end - axis * head - aside])
            return [(np.stack([start, end]), one.wire), (tip, one.wire)]
        case "rope":
            return [(rope(ends, radii), one.wire)]
    return [(np.array(ends), one.wire)]


def points_of(shape: Shape) -> Array:
    """Points whose projection describes the shape: ends, centre, rim or corners."""
    match shape:
        case Capsule() | Cylinder() | Tube():
            return np.array([shape.start, shape.end])
        case Cone():
            axis = np.array(shape.end) - np.array(shape.start)
            length = float(np.linalg.norm(axis))
            turned = axis / length if length else np.array([0.0, 0.0, 1.0])
            return np.concatenate([_circle(np.array(shape.start), turned, shape.radius), [shape.end]])
        case Ring():
            return _circle(np.array(shape.centre), np.array(shape.axis), shape.radius)
        case Sphere() | Label():
            return np.array([shape.centre])
        case Line():
            return np.array(shape.points)
        case Mesh():
            return shape.vertices
        case Ellipsoid():
            return np.array(shape.centre) + globe() * np.array(shape.size) @ rotation(np.array(shape.turn)).T
        case Box():
            signs = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
            corners: Array = np.array(shape.centre) + signs * np.array(shape.size) @ rotation(np.array(shape.turn)).T
            return corners


def globe(rings: int = 8) -> Array:
    """Points of the unit ball by latitude and longitude."""
    latitudes = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
    a, b = np.meshgrid(latitudes, np.arange(AROUND) * 2 * np.pi / AROUND, indexing="ij")
    return np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=-1).reshape(-1, 3)


def _circle(centre: Array, axis: Array, radius: float) -> Array:
    across = sideways(axis)
    angles = np.linspace(0, 2 * np.pi, AROUND + 1)[:, None]
    rim: Array = centre + radius * (np.cos(angles) * across + np.sin(angles) * np.cross(axis, across))
    return rim


def _outline(shape: Shape, points: Array, colour: str) -> Outline:
    match shape:
        case Box() | Mesh() | Ellipsoid() | Cone():
            return Outline(points, colour, shape.paint, filled=True)
        case Capsule() | Cylinder() | Tube():
            return Outline(points, colour, shape.paint, 2 * shape.radius, round=isinstance(shape, Capsule))
        case Ring():
            return Outline(points, colour, shape.paint, 2 * shape.wire)
        case Sphere():
            return Outline(points, colour, shape.paint, 2 * shape.radius)
        case Label():
            return Outline(points, colour, shape.paint, shape.height, text=shape.text)
        case Line():
            return Outline(points, colour, shape.paint, 2 * shape.radius)


def _reach(outline: Outline) -> Array:
    """Corners of what an outline covers."""
    half = 0.0 if outline.text else outline.width / 2
    flat = outline.points[:, :2]
    return np.concatenate([flat - half, flat + half])


def _fit(points: Array, width: float, height: float) -> tuple[float, Array]:
    """Pixels per metre and the middle of the picture."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([width, height]) * (1 - 2 * MARGIN)
    return float(np.min(room / np.maximum(high - low, 1e-9))), (low + high) / 2


@dataclass(frozen=True, eq=False)
class _Artist:
    """Draws outlines at a scale about a middle; `colours` only where they are written into the drawing."""

    scale: float
    middle: Array
    centre: Array
    colours: dict[str, Colour] | None

    def draw(self, outline: Outline) -> Markup:
        flat = (outline.points[:, :2] - self.middle) * np.array([self.scale, -self.scale]) + self.centre
        fill, edge = self._style(outline, "fill"), self._style(outline, "stroke")
        if outline.text:
            size = max(outline.width * self.scale, 12.0)
            (x, y), style = flat[0], {"font-size": f"{size:.1f}", "text-anchor": "middle"}
            return element("text", outline.text, x=float(x), y=float(y), **style, **fill)
        if outline.filled:
            return element("polygon", points=_spell(hull(flat)), **fill)
        stroke = max(outline.width * self.scale, 1.5)
        if len(flat) == 1:
            return element("circle", cx=float(flat[0, 0]), cy=float(flat[0, 1]), r=stroke / 2, **fill)
        cap = {"stroke-linecap": "round" if outline.round else "butt", "stroke-linejoin": "round"}
        return element("polyline", points=_spell(flat), **{"stroke-width": f"{stroke:.2f}"}, **cap, **edge)

    def _style(self, outline: Outline, part: str) -> dict[str, str]:
        """The class of a page, or colours written out."""
        kind = "solid" if part == "fill" else "rod"
        if self.colours is None and outline.paint is None:
            return {"class": f"{kind} {class_of(outline.colour)}"}
        paint = outline.paint
        code = _hex(paint) if paint is not None else self.colours[outline.colour].light  # type: ignore[index]
        own = {part: code} | ({"fill": "none"} if part == "stroke" else {"stroke": darker(code), "stroke-width": "1"})
        return own if paint is None or not paint.transparency else own | {"opacity": f"{1 - paint.transparency:.3g}"}


def class_of(variable: str) -> str:
    """The class of a page whose elements have the colour of a style variable."""
    return variable.removeprefix("--").replace("body", "colour")


def _hex(paint: Paint) -> str:
    return "#" + "".join(f"{round(255 * c):02x}" for c in paint.rgb)


def darker(code: str) -> str:
    """A colour #rrggbb for the edges of what has it."""
    return "#" + "".join(f"{round(EDGE * int(code[k : k + 2], 16)):02x}" for k in (1, 3, 5))


def _spell(points: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def hull(points: Array) -> Array:
    """Convex hull in the plane, counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))

    def chain(candidates: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        kept: list[tuple[float, ...]] = []
        for point in candidates:
            while len(kept) > 1 and _turns_right(kept[-2], kept[-1], point):
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _turns_right(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0
