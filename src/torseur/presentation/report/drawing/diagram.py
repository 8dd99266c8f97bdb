"""The mechanism as a drawing: boxes for bodies, circles for joints, in layers from the ground; loops dashed.

A mechanism too deep or too wide for boxes is drawn as rails, and so is every one on a narrow screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.presentation.report.drawing.layers import Layers, arrange, joint_pairs
from torseur.presentation.report.drawing.rails import NARROW, describe_joint, rails, shorten
from torseur.presentation.report.page.report_content import Joint
from torseur.presentation.scene.scene import Body
from torseur.presentation.typesetting.markup import Markup, element

MAX_LAYERS, MAX_RANKS = 4, 5
BOX_HEIGHT, ROW, MARGIN = 50.0, 92.0, 4.0
BOX_MIN, BOX_MAX, GAP_MIN = 108.0, 170.0, 96.0
LETTER_WIDTH, SMALL_WIDTH = 7.8, 6.1
GLYPH_RADIUS = 13.0
ABOVE, BELOW = 28.0, 32.0  # how far the texts of a joint reach from its circle's middle
FARTHER = 0.66  # of the way to the fuller layer,
ASIDE = 0.12  # which is so much of the gap beside its middle


@dataclass(frozen=True)
class Sheet:
    """Measures of one drawing."""

    box: float
    gap: float
    layers: Layers

    @property
    def height(self) -> float:
        """Room for the fullest layer, and for the texts above and below a joint."""
        return max(self.layers.widest * ROW, 84.0)

    @property
    def width(self) -> float:
        """From the left edge of the ground to the right edge of the last layer."""
        count = len(self.layers.layers)
        return count * self.box + (count - 1) * self.gap + 2 * MARGIN

    def ranks(self, x: float) -> int:
        """Number of boxes in the layer that lies there."""
        return len(self.layers.layers[round((x - MARGIN - self.box / 2) / (self.box + self.gap))])

    def centre(self, depth: int, rank: int) -> tuple[float, float]:
        """Middle of a box."""
        ranks = len(self.layers.layers[depth])
        x = MARGIN + self.box / 2 + depth * (self.box + self.gap)
        return (x, self.height / 2 + (rank - (ranks - 1) / 2) * ROW)


def diagram(bodies: Sequence[Body], joints: Sequence[Joint]) -> Markup:
    """The drawing as SVG: boxes where they fit with rails for narrow screens, otherwise rails alone."""
    layers = arrange(bodies, joints)
    if len(layers.layers) > MAX_LAYERS or layers.widest > MAX_RANKS or joints_collide(bodies, joints, layers):
        return element("div", rails(bodies, joints), rails(bodies, joints, NARROW), class_="diagram")
    return element("div", boxes(bodies, joints, layers), rails(bodies, joints, NARROW), class_="diagram")


def joints_collide(bodies: Sequence[Body], joints: Sequence[Joint], layers: Layers) -> bool:
    """Whether circles of joints, with their texts, would lie on each other or on boxes of bodies."""
    sheet = Sheet(_box_width(bodies), _gap_width(joints), layers)
    place = {body: sheet.centre(*slot) for body, slot in layers.place().items()}
    edges = joint_pairs(bodies, joints)
    taken = [(x - sheet.box / 2, x + sheet.box / 2, y - BOX_HEIGHT / 2, y + BOX_HEIGHT / 2) for x, y in place.values()]
    for number, joint in enumerate(joints):
        start, end = sorted((place[edges[number][0]], place[edges[number][1]]))
        _, (x, y) = _curve(sheet, start, end, _parallel_offset(edges, number))
        longest = max(len(joint.name), len(joint.detail)) * SMALL_WIDTH
        half = max(GLYPH_RADIUS, min(longest, sheet.gap * (1 - 2 * ASIDE)) / 2)
        own = (x - half, x + half, y - ABOVE, y + (BELOW if joint.detail else GLYPH_RADIUS))
        if any(_overlap(own, other) for other in taken):
            return True
        taken.append(own)
    return False


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def boxes(bodies: Sequence[Body], joints: Sequence[Joint], layers: Layers) -> Markup:
    """Layered drawing with boxes."""
    sheet = Sheet(_box_width(bodies), _gap_width(joints), layers)
    place = {body: sheet.centre(*slot) for body, slot in layers.place().items()}
    edges = joint_pairs(bodies, joints)
    shown = [_joint(sheet, joint, number, place, edges) for number, joint in enumerate(joints)]
    drawn = [_box(sheet, body, number, place[number]) for number, body in enumerate(bodies)]
    size = f"0 0 {sheet.width:.0f} {sheet.height:.0f}"
    return element(
        "svg",
        *shown,
        *drawn,
        class_="boxes wide",
        viewBox=size,
        width=sheet.width,
        role="group",
        aria_label="Bodies and joints",
    )


def _box_width(bodies: Sequence[Body]) -> float:
    longest = max((max(len(b.name) * LETTER_WIDTH, len(b.detail) * SMALL_WIDTH) for b in bodies), default=0.0)
    return min(max(longest + 24, BOX_MIN), BOX_MAX)


def _gap_width(joints: Sequence[Joint]) -> float:
    longest = max((max(len(j.name), len(j.detail)) * SMALL_WIDTH for j in joints), default=0.0)
    return min(max(longest + 30, GAP_MIN), BOX_MAX)


def _box(sheet: Sheet, body: Body, number: int, centre: tuple[float, float]) -> Markup:
    x, y = centre
    frame = element("rect", x=x - sheet.box / 2, y=y - BOX_HEIGHT / 2, width=sheet.box, height=BOX_HEIGHT, rx=8)
    lift = 1 if body.detail else -5
    name = element("text", shorten(body.name, sheet.box - 12, LETTER_WIDTH), x=x, y=y - lift)
    detail = element("text", shorten(body.detail, sheet.box - 8, SMALL_WIDTH), class_="small", x=x, y=y + 15)
    full = element("title", f"{body.name} {body.detail}".strip())
    return element("g", full, frame, name, detail, class_=f"body colour-{number}", data_body=number, tabindex=0)


def _joint(
    sheet: Sheet,
    joint: Joint,
    number: int,
    place: dict[int, tuple[float, float]],
    edges: list[tuple[int, int]],
) -> Markup:
    start, end = sorted((place[edges[number][0]], place[edges[number][1]]))
    path, middle = _curve(sheet, start, end, _parallel_offset(edges, number))
    line = element("path", d=path, class_="loop" if joint.closes_loop else None)
    return element(
        "g",
        element("title", describe_joint(joint)),
        line,
        *_glyph(sheet, joint, middle),
        class_="joint",
        data_joint=number,
        tabindex=0,
    )


def _glyph(sheet: Sheet, joint: Joint, middle: tuple[float, float]) -> tuple[Markup, ...]:
    x, y = middle
    room = sheet.gap * (1 - 2 * ASIDE)
    return (
        element("circle", cx=x, cy=y, r=GLYPH_RADIUS),
        element("text", joint.letter, class_="letter", x=x, y=y + 4.5),
        element("text", shorten(joint.name, room, SMALL_WIDTH), class_="small halo", x=x, y=y - 20),
        element("text", shorten(joint.detail, room, SMALL_WIDTH), class_="small halo", x=x, y=y + 29),
    )


def _parallel_offset(edges: list[tuple[int, int]], number: int) -> float:
    """Bend that keeps several joints between the same two bodies apart; zero for a single one."""
    same = [n for n, edge in enumerate(edges) if set(edge) == set(edges[number])]
    return (same.index(number) - (len(same) - 1) / 2) * 70


def _curve(
    sheet: Sheet, start: tuple[float, float], end: tuple[float, float], bend: float
) -> tuple[str, tuple[float, float]]:
    """Path between two boxes, left one first, and the point where the joint's circle sits.

    Circles lie nearer to the layer with more boxes, where paths are farther apart and their texts have room.
    """
    (x1, y1), (x2, y2) = start, end
    if abs(x1 - x2) < 1:
        return f"M{x1:.1f} {y1:.1f}V{y2:.1f}", (x1 + bend, (y1 + y2) / 2)
    left, right = x1 + sheet.box / 2, x2 - sheet.box / 2
    half = (right - left) / 2
    middle = left + half
    path = f"M{left:.1f} {y1:.1f}C{middle:.1f} {y1 + bend:.1f} {middle:.1f} {y2 + bend:.1f} {right:.1f} {y2:.1f}"
    more = sheet.ranks(x2) - sheet.ranks(x1)
    t = 0.5 if not more else FARTHER if more > 0 else 1 - FARTHER
    x = middle + half * (t**3 - (1 - t) ** 3)
    return path, (x, y1 + (y2 - y1) * (3 - 2 * t) * t**2 + 3 * t * (1 - t) * bend)
