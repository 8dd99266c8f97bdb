"""Drawings: how bodies, the ground and what is between them look, apart from mass and motion.

A shape lies in a frame as a solid does: centred, or along z where it has a length. What stretches lies between frames.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import ExprLike, as_expr
from torseur.algebra.graph.expr import Expr
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import Frame
from torseur.errors import MechanismError, nearest, unknown_name

ON, BETWEEN, THROUGH, OF = "on", "between", "through", "of"


@dataclass(frozen=True)
class DrawingKind:
    """What can be drawn: where it lies, the sizes it needs there, and those it may have.

    `places` maps on (one frame), between (two), through (two or more) and of (one or more) to the sizes needed.
    `word` is what its string says, if it has one.
    """

    places: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    word: str = ""
    covers: bool = False  # whether it is the picture of its body, so that none is guessed

    @property
    def sizes(self) -> tuple[str, ...]:
        """All sizes it can have."""
        return tuple(dict.fromkeys([*(size for needed in self.places.values() for size in needed), *self.optional]))


def _solid(*sizes: str, **places: tuple[str, ...]) -> DrawingKind:
    return DrawingKind({ON: sizes, **places}, covers=True)


DRAWINGS: dict[str, DrawingKind] = {
    "box": _solid("x", "y", "z"),
    "sphere": _solid("radius"),
    "ellipsoid": _solid("x", "y", "z"),
    "cylinder": _solid("radius", "length", between=("radius",)),
    "capsule": _solid("radius", "length", between=("radius",)),
    "cone": _solid("radius", "length", between=("radius",)),
    "tube": _solid("radius", "thickness", "length", between=("radius", "thickness")),
    "ring": DrawingKind({ON: ("radius",)}, ("thickness",), covers=True),
    "hoop": DrawingKind({ON: ("radius",)}, ("thickness",), covers=True),
    "wheel": DrawingKind({ON: ("radius",)}, ("width",), covers=True),
    "plane": DrawingKind({ON: ("x", "y")}),
    "track": DrawingKind({ON: ("length",), BETWEEN: ()}, ("width",)),
    "mesh": DrawingKind({ON: ()}, ("scale", "scale_x", "scale_y", "scale_z"), "file", covers=True),
    "text": DrawingKind({ON: ()}, ("height",), "text"),
    "arrow": DrawingKind({ON: ("length",), BETWEEN: ()}, ("thickness",)),
    "polyline": DrawingKind({THROUGH: ()}, ("thickness",)),
    "rod": DrawingKind({BETWEEN: ()}, ("radius",)),
    "spring": DrawingKind({BETWEEN: ()}, ("radius", "turns", "thickness")),
    "damper": DrawingKind({BETWEEN: ()}, ("radius",)),
    "rope": DrawingKind({THROUGH: ()}, ("thickness",)),
    "path": DrawingKind({OF: ()}),
    "nothing": DrawingKind({ON: ()}, covers=True),
}
FACTORS = ("scale", "scale_x", "scale_y", "scale_z", "turns")  # sizes that are plain numbers; all others are lengths
MESH_FILES = (".stl", ".obj", ".dae", ".msh", ".ply", ".off", ".glb", ".gltf")


@dataclass(frozen=True)
class Drawing:
    """Something to be drawn: its kind (see DRAWINGS), the frames it lies on, and sizes as (name, value) pairs.

    `wound` gives a rope the radii of the pulleys at some of its frames, by their number. `text` is a text or the name
    of a mesh file. `colour` is a name of a web colour or #rrggbb, empty for that of the body; `transparency` goes from
    0 to 1. Sizes are formulas of parameters and have nothing to do with masses.
    """

    kind: str
    frames: tuple[Frame, ...]
    sizes: tuple[tuple[str, Expr], ...] = ()
    wound: tuple[tuple[int, Expr], ...] = ()
    text: str = ""
    colour: str = ""
    transparency: Expr | None = None

    def __post_init__(self) -> None:
        if self.kind not in DRAWINGS:
            raise MechanismError(unknown_name("drawing", self.kind, DRAWINGS))
        kind = DRAWINGS[self.kind]
        _check_sizes(self, kind)
        if kind.word and not self.text:
            raise MechanismError(f"a drawn {self.kind} needs a {kind.word}.")
        if self.text and not kind.word:
            raise MechanismError(f"a drawn {self.kind} has no text.")
        if self.wound and self.kind != "rope":
            raise MechanismError(f"a drawn {self.kind} is not wound about anything; a rope is.")
        if self.colour:
            rgb(self.colour)
        if self.transparency is not None and self.transparency.is_constant and not 0 <= self.transparency.value <= 1:
            raise MechanismError(f"transparency {self.transparency.value}: expected 0 (solid) to 1 (invisible).")

    @property
    def owner(self) -> str:
        """The words for it in messages."""
        return f"drawing of a {self.kind}" if self.kind != "nothing" else "drawing of nothing"


def _check_sizes(drawing: Drawing, kind: DrawingKind) -> None:
    place = place_of_frames(drawing.kind, len(drawing.frames))
    given = [name for name, _ in drawing.sizes]
    for name in given:
        if name not in kind.sizes:
            raise MechanismError(unknown_name("size", name, kind.sizes, f"a drawn {drawing.kind}: "))
    lacking = [name for name in kind.places[place] if name not in given]
    if lacking:
        raise MechanismError(f"a drawn {drawing.kind} needs {', '.join(kind.places[place])}; {lacking[0]} is missing.")
    needless = [name for name in given if name not in (*kind.places[place], *kind.optional)]
    if needless:
        raise MechanismError(f"a {drawing.kind} between two points has no {needless[0]}: the points say it.")


def place_of_frames(kind: str, count: int) -> str:
    """How a number of frames places a drawing."""
    places = DRAWINGS[kind].places
    fits = {ON: count == 1, BETWEEN: count == 2, THROUGH: count >= 2, OF: count >= 1}
    for place in places:
        if fits[place]:
            return place
    wanted = {ON: "one frame", BETWEEN: "two points", THROUGH: "two points or more", OF: "a point"}
    raise MechanismError(f"a drawn {kind} needs {' or '.join(wanted[place] for place in places)}; got {count}.")


def draw(
    kind: str,
    *frames: Frame | Body,
    text: str = "",
    colour: str = "",
    transparency: ExprLike | None = None,
    wound: Mapping[int, ExprLike] | None = None,
    **sizes: ExprLike,
) -> Drawing:
    """A drawing on a body or frame, or between points: draw("spring", EARTH, bob), draw("box", b, x=1, y=1, z=0.2).

    `text` is a text or the path of a mesh file; `wound` are radii of pulleys at points of a rope, by their number.
    """
    places = tuple(frame_of(frame, f"drawing of a {kind}") for frame in frames)
    pairs = tuple((name, as_expr(value)) for name, value in sizes.items())
    order = DRAWINGS[kind].sizes if kind in DRAWINGS else ()
    ordered = tuple(sorted(pairs, key=lambda pair: order.index(pair[0]) if pair[0] in order else len(order)))
    radii = tuple((number, as_expr(radius)) for number, radius in sorted((wound or {}).items()))
    for number, _ in radii:
        if not 0 < number < len(places) - 1:
            raise MechanismError(
                f"a rope is wound about points between its ends: 1 to {len(places) - 2}, not {number}."
            )
    seen_through = None if transparency is None else as_expr(transparency)
    return Drawing(kind, places, ordered, radii, text, colour, seen_through)


def drawing_formulas(drawing: Drawing) -> list[Expr]:
    """The formulas of a drawing's sizes."""
    extra: list[Any] = [] if drawing.transparency is None else [drawing.transparency]
    return [*(value for _, value in drawing.sizes), *(value for _, value in drawing.wound), *extra]


def rgb(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, from 0 to 1, of a web colour's name or of #rrggbb."""
    code = WEB_COLOURS.get(colour.lower(), colour.lower().removeprefix("#") if colour.startswith("#") else "")
    if not re.fullmatch("[0-9a-f]{6}", code):
        guess = nearest(colour, WEB_COLOURS)
        hint = f" Did you mean '{guess}'?" if guess else ""
        raise MechanismError(f"'{colour}' is not a colour: give a web colour such as 'steelblue', or #rrggbb.{hint}")
    red, green, blue = (int(code[k : k + 2], 16) / 255 for k in (0, 2, 4))
    return red, green, blue


# The named colours of CSS Color Module Level 4.
_CSS = """
aliceblue=f0f8ff antiquewhite=faebd7 aqua=00ffff aquamarine=7fffd4 azure=f0ffff beige=f5f5dc bisque=ffe4c4
black=000000 blanchedalmond=ffebcd blue=0000ff blueviolet=8a2be2 brown=a52a2a burlywood=deb887 cadetblue=5f9ea0
chartreuse=7fff00 chocolate=d2691e coral=ff7f50 cornflowerblue=6495ed cornsilk=fff8dc crimson=dc143c cyan=00ffff
darkblue=00008b darkcyan=008b8b darkgoldenrod=b8860b darkgray=a9a9a9 darkgreen=006400 darkgrey=a9a9a9
darkkhaki=bdb76b darkmagenta=8b008b darkolivegreen=556b2f darkorange=ff8c00 darkorchid=9932cc darkred=8b0000
darksalmon=e9967a darkseagreen=8fbc8f darkslateblue=483d8b darkslategray=2f4f4f darkslategrey=2f4f4f
darkturquoise=00ced1 darkviolet=9400d3 deeppink=ff1493 deepskyblue=00bfff dimgray=696969 dimgrey=696969
dodgerblue=1e90ff firebrick=b22222 floralwhite=fffaf0 forestgreen=228b22 fuchsia=ff00ff gainsboro=dcdcdc
ghostwhite=f8f8ff gold=ffd700 goldenrod=daa520 gray=808080 green=008000 greenyellow=adff2f grey=808080
honeydew=f0fff0 hotpink=ff69b4 indianred=cd5c5c indigo=4b0082 ivory=fffff0 khaki=f0e68c lavender=e6e6fa
lavenderblush=fff0f5 lawngreen=7cfc00 lemonchiffon=fffacd lightblue=add8e6 lightcoral=f08080 lightcyan=e0ffff
lightgoldenrodyellow=fafad2 lightgray=d3d3d3 lightgreen=90ee90 lightgrey=d3d3d3 lightpink=ffb6c1
lightsalmon=ffa07a lightseagreen=20b2aa lightskyblue=87cefa lightslategray=778899 lightslategrey=778899
lightsteelblue=b0c4de lightyellow=ffffe0 lime=00ff00 limegreen=32cd32 linen=faf0e6 magenta=ff00ff maroon=800000
mediumaquamarine=66cdaa mediumblue=0000cd mediumorchid=ba55d3 mediumpurple=9370db mediumseagreen=3cb371
mediumslateblue=7b68ee mediumspringgreen=00fa9a mediumturquoise=48d1cc mediumvioletred=c71585
midnightblue=191970 mintcream=f5fffa mistyrose=ffe4e1 moccasin=ffe4b5 navajowhite=ffdead navy=000080
oldlace=fdf5e6 olive=808000 olivedrab=6b8e23 orange=ffa500 orangered=ff4500 orchid=da70d6 palegoldenrod=eee8aa
palegreen=98fb98 paleturquoise=afeeee palevioletred=db7093 papayawhip=ffefd5 peachpuff=ffdab9 peru=cd853f
pink=ffc0cb plum=dda0dd powderblue=b0e0e6 purple=800080 rebeccapurple=663399 red=ff0000 rosybrown=bc8f8f
royalblue=4169e1 saddlebrown=8b4513 salmon=fa8072 sandybrown=f4a460 seagreen=2e8b57 seashell=fff5ee
sienna=a0522d silver=c0c0c0 skyblue=87ceeb slateblue=6a5acd slategray=708090 slategrey=708090 snow=fffafa
springgreen=00ff7f steelblue=4682b4 tan=d2b48c teal=008080 thistle=d8bfd8 tomato=ff6347 turquoise=40e0d0
violet=ee82ee wheat=f5deb3 white=ffffff whitesmoke=f5f5f5 yellow=ffff00 yellowgreen=9acd32
"""
WEB_COLOURS = {name: code for name, _, code in (one.partition("=") for one in _CSS.split())}
