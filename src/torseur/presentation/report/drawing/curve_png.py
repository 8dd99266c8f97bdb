"""A plot as pixels: the few elements that `curve_svg` writes, drawn with Pillow."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from torseur.errors import UnsupportedError
from torseur.extras import install_command

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

SCALE = 3  # pixels per unit of the drawing
INK, PAPER, FAINT = "#1c2126", "#ffffff", "#dfe3e6"
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png_of(svg: str) -> bytes:
    """The drawing of a plot as PNG, on white paper."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as problem:
        raise UnsupportedError(f"PNG needs Pillow: {install_command('pictures')}, or write .svg.") from problem
    root = ET.fromstring(svg)
    width, height = float(root.get("width", "560")), float(root.get("height", "220"))
    large = 2 * SCALE  # drawn twice as large, then reduced: lines without steps
    image = Image.new("RGB", (round(large * width), round(large * height)), PAPER)
    _draw(ImageDraw.Draw(image), root, 0.0, large)
    file = io.BytesIO()
    image.resize((round(SCALE * width), round(SCALE * height)), Image.Resampling.LANCZOS).save(file, "PNG")
    return file.getvalue()


def _draw(canvas: ImageDraw, node: ET.Element, down: float, scale: float) -> None:
    """An element and what is in it; plots within a drawing stand one below the other."""
    match node.tag.rpartition("}")[2]:
        case "svg":
            for child in node:
                _draw(canvas, child, down + float(node.get("y", "0")), scale)
        case "line":
            ends = [
                scale * (float(node.get(k, "0")) + (down if k[0] == "y" else 0.0)) for k in ("x1", "y1", "x2", "y2")
            ]
            colour = FAINT if node.get("stroke-opacity") else _colour(node.get("stroke"))
            canvas.line(ends, fill=colour, width=round(scale * float(node.get("stroke-width", "1"))))
        case "path":
            _path(canvas, node, down, scale)
        case "text":
            place = (scale * float(node.get("x", "0")), scale * (float(node.get("y", "0")) + down))
            canvas.text(
                place,
                node.text or "",
                fill=INK,
                font=_font(11 * scale),
                anchor=ANCHORS[node.get("text-anchor", "start")],
            )


def _path(canvas: ImageDraw, node: ET.Element, down: float, scale: float) -> None:
    colour, wide = _colour(node.get("stroke")), scale * float(node.get("stroke-width", "1"))
    for stroke in re.findall(r"M[^M]*", node.get("d", "")):
        numbers = [float(x) for x in re.findall(r"-?[\d.]+", stroke.replace("h0", ""))]
        points = [(scale * x, scale * (y + down)) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        if len(points) > 1:
            canvas.line(points, fill=colour, width=round(wide), joint="curve")
        else:
            (x, y), r = points[0], wide / 2
            canvas.ellipse([x - r, y - r, x + r, y + r], fill=colour)


def _colour(text: str | None) -> str:
    return INK if text in (None, "currentColor") else str(text)


def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)
