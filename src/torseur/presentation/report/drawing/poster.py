"""A still drawing of the mechanism, shown where the page cannot animate: no script, no WebGL, print."""

from __future__ import annotations

import numpy as np

from torseur.presentation.report.drawing.shapes import Box, Capsule, Cylinder, Line, Mesh, Shape, Sphere
from torseur.presentation.report.page.report_content import Array, Motion, ReportContent, View
from torseur.presentation.typesetting.markup import Markup, element

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 0.1
THIN_LINE = 0.006


def poster(content: ReportContent) -> Markup:
    """Orthographic SVG at the view's first instant, far shapes first."""
    motion = content.motion
    if motion is None or not any(body.shapes for body in content.bodies):
        return Markup()
    sample = int(np.argmin(np.abs(motion.times - content.view.start)))
    screen = screen_axes(content.view)
    outlines = [
        (
            number,
            shape,
            _points(shape) @ _turn(motion, sample, number).T @ screen.T + motion.positions[sample, number] @ screen.T,
        )
        for number, body in enumerate(content.bodies)
        for shape in body.shapes
    ]
    corners = np.concatenate([points for _, _, points in outlines])
    scale, middle = _fit(corners)
    # The painter's algorithm by mean depth: right for convex parts that do not interlock, which is what bodies are
    # made of.
    outlines.sort(key=lambda outline: float(outline[2][:, 2].mean()))
    shown = [_draw(shape, number, points, scale, middle) for number, shape, points in outlines]
    return element(
        "svg",
        *shown,
        class_="poster",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=f"{content.title}, drawn at {motion.times[sample]:.3g} s",
    )


def screen_axes(view: View) -> Array:
    """Rows right, up, towards the viewer, in world coordinates."""
    up = np.array(view.up) / np.linalg.norm(view.up)
    level = level_axes(up)
    out = (
        np.cos(view.azimuth) * np.cos(view.elevation) * level[0]
        + np.sin(view.azimuth) * np.cos(view.elevation) * level[1]
    )
    out = out + np.sin(view.elevation) * up
    right = np.cross(up, out)
    right = right / np.linalg.norm(right)
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


def _turn(motion: Motion, sample: int, body: int) -> Array:
    """Rotation matrix of a body."""
    quaternion = motion.quaternions[sample, body]
    return rotation(quaternion / np.linalg.norm(quaternion))


def rotation(quaternion: Array) -> Array:
    """Matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # R = 1 + 2 w r̃ + 2 r̃², r̃ the cross product with (x, y, z).
    turned: Array = np.eye(3) + 2 * w * cross + 2 * cross @ cross
    return turned


def _points(shape: Shape) -> Array:
    """Points whose projection describes the shape: ends, centre, or corners."""
    match shape:
        case Capsule() | Cylinder():
            return np.array([shape.start, shape.end])
        case Sphere():
            return np.array([shape.centre])
        case Line():
            return np.array(shape.points)
        case Mesh():
            return shape.vertices
        case Box():
            signs = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)])
            corners: Array = np.array(shape.centre) + signs * np.array(shape.size) @ rotation(np.array(shape.turn)).T
            return corners


def _fit(points: Array) -> tuple[float, Array]:
    """Pixels per metre and the middle of the picture."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    room = np.array([WIDTH, HEIGHT]) * (1 - 2 * MARGIN)
    return float(np.min(room / np.maximum(high - low, 1e-9))), (low + high) / 2


def _draw(shape: Shape, number: int, points: Array, scale: float, middle: Array) -> Markup:
    flat = (points[:, :2] - middle) * np.array([scale, -scale]) + np.array([WIDTH / 2, HEIGHT / 2])
    colour = f"colour-{number}"
    match shape:
        case Sphere():
            return element(
                "circle",
                cx=float(flat[0, 0]),
                cy=float(flat[0, 1]),
                r=shape.radius * scale,
                class_=f"solid {colour}",
            )
        case Box() | Mesh():
            return element("polygon", points=_spell(hull(flat)), class_=f"solid {colour}")
        case Capsule() | Cylinder():
            cap = "round" if isinstance(shape, Capsule) else "butt"
            return element(
                "polyline",
                points=_spell(flat),
                class_=f"rod {colour}",
                stroke_width=2 * shape.radius * scale,
                stroke_linecap=cap,
            )
        case Line():
            return element("polyline", points=_spell(flat), class_=f"rod {colour}", stroke_width=2.0)


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
