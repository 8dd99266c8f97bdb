"""Drawings as text."""

from __future__ import annotations

from torseur.description.language.formulas.dimensions import LENGTH, NUMBER
from torseur.description.language.writing.words import meaning_text
from torseur.description.language.writing.writing_context import Place, Script
from torseur.description.mechanism import Drawing
from torseur.description.mechanism.drawings import BETWEEN, FACTORS, ON, place_of_frames
from torseur.errors import UnsupportedError


def drawing_text(drawing: Drawing, script: Script) -> str:
    """draw box x = 1 m, ... on body ;"""
    place = Place("drawing")
    points = [script.point(frame, place) for frame in drawing.frames]
    items = [
        f"{name} = {script.formula(value, NUMBER if name in FACTORS else LENGTH, place)}"
        for name, value in drawing.sizes
    ]
    items += [_wound(drawing, number, points, script) for number, _ in drawing.wound]
    if drawing.colour:
        items.append(f"colour ={meaning_text(drawing.colour)}")
    if drawing.transparency is not None:
        items.append(f"transparency = {script.formula(drawing.transparency, NUMBER, place)}")
    word = place_of_frames(drawing.kind, len(points))
    where = " and ".join(points) if word == BETWEEN else points[0] if word == ON else ", ".join(points)
    head = f"draw {drawing.kind}{meaning_text(drawing.text)}"
    return " ".join([head, *([", ".join(items)] if items else []), f"{word} {where} ;"])


def _wound(drawing: Drawing, number: int, points: list[str], script: Script) -> str:
    if "@" in points[number]:
        raise UnsupportedError("the pulley of a drawn rope has no name: make its frame one of the mechanism's frames.")
    radius = script.formula(dict(drawing.wound)[number], LENGTH, Place("drawing"))
    return f"radius({points[number]}) = {radius}"
