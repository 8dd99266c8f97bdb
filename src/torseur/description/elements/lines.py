"""Lines under tension: through via points and over spheres and cylinders, with their length, its rate and their pull.

A line leaves a surface along tangents. Over a sphere of radius R, its ends at distances a and b from the centre and
at the angle φ seen from there,

    L = √(a² - R²) + √(b² - R²) + R (φ - acos(R/a) - acos(R/b))     while the bracket is positive, else |p - s|

Over a cylinder this holds in the plane across the axis, and the line is a helix: √(L² + Δz²). The tension T pulls an
end p with -T ∂L/∂p; the surface takes the opposite of both pulls, for the line itself has no mass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from torseur.algebra.graph import Expr, ExprLike, as_expr, gradient, substitute, symbol
from torseur.algebra.graph.scalar import acos, atan2, sqrt, where
from torseur.algebra.spatial import Vec3
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import EARTH, Frame, Sensor
from torseur.description.mechanism.loads import AppliedWrench, Load
from torseur.errors import MechanismError

COMPONENTS = "xyz"
_P = tuple(symbol(f"end {c} of a line", "m") for c in COMPONENTS)
_S = tuple(symbol(f"other end {c} of a line", "m") for c in COMPONENTS)


@dataclass(frozen=True)
class Wrap:
    """A sphere, or a cylinder about the z axis, at a frame, over which a line passes the shorter way."""

    kind: str
    frame: Frame
    radius: Expr


def sphere_wrap(frame: Frame | Body, radius: ExprLike) -> Wrap:
    """A sphere about the origin of a frame, for a line to pass over."""
    return Wrap("sphere", frame_of(frame, "sphere_wrap"), as_expr(radius))


def cylinder_wrap(frame: Frame | Body, radius: ExprLike) -> Wrap:
    """A cylinder about the z axis of a frame, for a line to pass over."""
    return Wrap("cylinder", frame_of(frame, "cylinder_wrap"), as_expr(radius))


@dataclass(frozen=True)
class Pull:
    """What a tension of 1 N does at a frame, along the axes of another."""

    on: Frame
    force: tuple[Expr, Expr, Expr]
    moment: tuple[Expr, Expr, Expr]
    axes: Frame


@dataclass(frozen=True)
class Line:
    """A line with its length (m), its rate, and the sensors that both are made of."""

    name: str
    sensors: tuple[Sensor, ...]
    length: Expr
    rate: Expr
    pulls: tuple[Pull, ...]

    def loads(self, tension: ExprLike, name: str = "", fresh: Callable[[str], str] = str) -> list[Load]:
        """The forces of a tension (N) on all that the line passes; of a compression where it is negative."""
        force = as_expr(tension)
        return [
            AppliedWrench(
                fresh(f"{name or self.name}.{k}"), pull.on, _scale(force, pull.force), _scale(force, pull.moment),
                pull.axes,
            )
            for k, pull in enumerate(self.pulls, 1)
        ]  # fmt: skip


def line(name: str, through: Sequence[Frame | Body | Wrap], divisors: Sequence[float] = ()) -> Line:
    """A line from the first to the last of frames, with a wrap between two frames where it passes over a surface.

    line("biceps", [origin, ts.cylinder_wrap(elbow, 0.02), insertion]). Of `divisors`, one for each stretch between two
    frames, one stretch counts as its length divided by it, as behind a pulley; with 0 it is no part of the line.
    """
    parts = [part if isinstance(part, Wrap) else frame_of(part, f"line '{name}'") for part in through]
    ends = [k for k, part in enumerate(parts) if isinstance(part, Frame)]
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != len(parts) - 1 or any(b - a > 2 for a, b in pairwise(ends)):
        raise MechanismError(f"line '{name}': it goes from frame to frame, with one surface at most between two.")
    measured = _Measured(name)
    length, rate, pulls = as_expr(0), as_expr(0), []
    for number, (a, b) in enumerate(pairwise(ends)):
        share = divisors[number] if divisors else 1.0
        if share == 0.0:
            continue
        first, second = parts[a], parts[b]
        wrap = parts[a + 1] if b - a == 2 else None
        assert isinstance(first, Frame) and isinstance(second, Frame) and not isinstance(wrap, Frame)
        stretch = _Stretch(first, second, wrap, measured)
        length, rate = length + stretch.length / share, rate + stretch.rate / share
        pulls += [_divide(pull, share) for pull in stretch.pulls]
    return Line(name, tuple(measured.sensors.values()), as_expr(length), as_expr(rate), tuple(pulls))


class _Measured:
    """Sensors by what they measure, each once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sensors: dict[tuple[str, Frame, str, Frame], Sensor] = {}

    def vector(self, kind: str, of: Frame, axes: Frame) -> Vec3:
        return Vec3(*(self._component(kind, of, c, axes) for c in COMPONENTS))

    def _component(self, kind: str, of: Frame, component: str, axes: Frame) -> Expr:
        key = (kind, of, component, axes)
        if key not in self.sensors:
            self.sensors[key] = Sensor(f"{self.name}.{kind}_{len(self.sensors) + 1}", kind, of, component, axes)
        return self.sensors[key].symbol


class _Stretch:
    """A piece of a line between two frames, in the axes of the surface it may pass over, else of the earth."""

    def __init__(self, first: Frame, second: Frame, wrap: Wrap | None, measured: _Measured) -> None:
        axes = EARTH if wrap is None else wrap.frame
        place, speed = partial(measured.vector, "position", axes=axes), partial(measured.vector, "velocity", axes=axes)
        p, s, dp, ds = place(first), place(second), speed(first), speed(second)
        if wrap is not None and wrap.frame.body != EARTH.body:
            centre, drift, turn = place(axes), speed(axes), measured.vector("rotation", axes, axes)
            p, s = p - centre, s - centre
            dp, ds = dp - drift - turn.cross(p), ds - drift - turn.cross(s)
        elif wrap is not None:
            p, s = p - place(axes), s - place(axes)
        formula = _straight() if wrap is None else _wrapped_length(wrap)
        values = dict(zip((*_P, *_S), (*p, *s), strict=True))
        self.length, *derivatives = substitute([formula, *gradient(formula, [*_P, *_S])], values)
        along_p, along_s = Vec3(*derivatives[:3]), Vec3(*derivatives[3:])
        self.rate = as_expr(along_p.dot(dp) + along_s.dot(ds))
        zero = as_expr(0)
        nothing = (zero, zero, zero)
        self.pulls = [Pull(first, _tuple(-along_p), nothing, axes), Pull(second, _tuple(-along_s), nothing, axes)]
        if wrap is not None:
            moment = p.cross(along_p) + s.cross(along_s)
            self.pulls.append(Pull(axes, _tuple(along_p + along_s), _tuple(moment), axes))


def _straight() -> Expr:
    gap = Vec3(*_S) - Vec3(*_P)
    return as_expr(sqrt(gap.dot(gap)))


def _wrapped_length(wrap: Wrap) -> Expr:
    """The length over a surface about the origin, by the components of both ends."""
    p, s, r = Vec3(*_P), Vec3(*_S), wrap.radius
    if wrap.kind == "cylinder":
        rise = s.z - p.z
        p, s = Vec3(p.x, p.y, as_expr(0)), Vec3(s.x, s.y, as_expr(0))
    across = p.cross(s)
    a, b, gap = sqrt(p.dot(p)), sqrt(s.dot(s)), s - p
    round_ = atan2(sqrt(across.dot(across)), p.dot(s)) - acos(r / a) - acos(r / b)
    over = sqrt(a * a - r * r) + sqrt(b * b - r * r) + r * round_
    # An end inside the surface has no tangent: then nothing is a number, and no straight line is taken for one.
    plane = where(round_ <= 0, sqrt(gap.dot(gap)), over)
    return as_expr(sqrt(plane * plane + rise * rise) if wrap.kind == "cylinder" else plane)


def _tuple(vector: Vec3) -> tuple[Expr, Expr, Expr]:
    x, y, z = (as_expr(c) for c in vector)
    return x, y, z


def _scale(force: Expr, vector: tuple[Expr, Expr, Expr]) -> tuple[Expr, Expr, Expr]:
    x, y, z = (as_expr(force * c) for c in vector)
    return x, y, z


def _divide(pull: Pull, share: float) -> Pull:
    if share == 1.0:
        return pull
    factor = as_expr(1 / share)
    return Pull(pull.on, _scale(factor, pull.force), _scale(factor, pull.moment), pull.axes)
