"""The curves of a wheel's suspension, following the text and the sliders of its hardpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from torseur.analysis.vehicles.suspension_curves import QUANTITIES, Curves, suspension_curves
from torseur.analysis.vehicles.wheel_travel import Suspension
from torseur.description.mechanism import EARTH_NAME
from torseur.errors import TorseurError
from torseur.presentation.report.drawing.curve_svg import FLUID, Series, curve_svg
from torseur.presentation.report.vehicles.suspension_page import SHOWN_AS
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, text_message
from torseur.presentation.typesetting.markup import Markup, element, join

SHOWN = ("camber", "toe", "half track", "roll centre height", "wheel rate")
TRAVELS = (0.08, 0.05, 0.02)  # m to both sides
PLACES = 17
EXPECTED = (
    "expected the frame of a wheel and its body, such as fl.hub in body, and 'in' only where it is not the ground"
)


def survey(request: Request, folder: Path | None) -> Iterator[bytes]:
    """Curves over the wheel's travel, as the text describes them and with the values of the sliders."""
    try:
        model = model_of(request.text, folder)
        found = re.fullmatch(r"([\w.']+)(?:\s+in\s+([\w.']+))?", request.suspension.strip())
        if found is None:
            raise TorseurError(f"'{request.suspension}': {EXPECTED}.")
        values = model.own(request.values)
        described = _suspension(model, found[1], found[2] or EARTH_NAME)
        variants = {"written": described}
        if values:
            variants["sliders"] = described.with_values(values)
        curves = _curves(variants)
    except TorseurError as problem:
        yield text_message("suspension", request.number, html="", reason=str(problem))
        return
    yield text_message("suspension", request.number, html=str(_drawn(curves)), reason="")


@lru_cache(maxsize=2)  # programs of one suspension serve all values of its parameters
def _suspension(model: Model, wheel: str, body: str) -> Suspension:
    return Suspension(model.mechanism, wheel, body)


def _curves(variants: Mapping[str, Suspension]) -> dict[str, Curves]:
    """Over the largest of some travels that all reach: a hardpoint that is dragged soon blocks the ends."""
    for travel in TRAVELS:
        try:
            places = np.linspace(-travel, travel, PLACES)
            return {name: suspension_curves(one, places) for name, one in variants.items()}
        except TorseurError:
            if travel == TRAVELS[-1]:
                raise
    raise AssertionError


def _drawn(curves: Mapping[str, Curves]) -> Markup:
    return join([_plot(name, curves) for name in SHOWN if all(name in c.values for c in curves.values())])


def _plot(name: str, curves: Mapping[str, Curves]) -> Markup:
    unit, scale = SHOWN_AS[QUANTITIES[name][0]]
    # One legend for all: the curve's name with its unit, then those of the variants.
    words = [f"{name} ({unit})" if unit else name, *list(curves)[1:]]
    lines = [Series(word, scale * c.values[name]) for word, c in zip(words, curves.values(), strict=True)]
    places = next(iter(curves.values())).places
    svg = curve_svg(Series("travel, upward", 1e3 * places), lines, "mm", "")
    return element("div", Markup(svg.replace(f' style="{FLUID}"', "", 1)), class_="crossplot")
