"""One colour per body, the same in every view, in a light and a dark variant that stand out from the page."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """Hex colours for the light and the dark theme."""

    light: str
    dark: str


GROUND = Colour("#7a838c", "#8d97a1")
ELEMENT = Colour("#55606b", "#aab4be")  # springs, ropes and rods between bodies
VELOCITY, FORCE, REACTION = Colour("#0b7d4f", "#4fd39b"), Colour("#c0392b", "#ff8577"), Colour("#6c3fb5", "#b99cf5")
CONTACT = Colour("#c2410c", "#ff8a5c")
# Chosen by eye for the first bodies: far apart in hue, none near the burnt orange that marks "selected, now".
FIRST = (
    Colour("#2f6db3", "#6aa7e8"),
    Colour("#0f8a72", "#3fc3a4"),
    Colour("#8a5fb0", "#b996de"),
    Colour("#a8740f", "#e0ab55"),
    Colour("#b0416f", "#ea86ab"),
    Colour("#557a1f", "#9dc25c"),
    Colour("#1f7f9c", "#59bedb"),
    Colour("#6a5fc4", "#a39bf2"),
)
# Curves that belong to no body: energies, multipliers.
SERIES = (
    Colour("#8a5fb0", "#b996de"),
    Colour("#b7791f", "#e0ab55"),
    Colour("#444c55", "#c3cad1"),
    Colour("#0f8a72", "#3fc3a4"),
    Colour("#b0416f", "#ea86ab"),
    Colour("#2f6db3", "#6aa7e8"),
)
GOLDEN_ANGLE = 137.508
# Hues (degrees) kept free for the accent colour.
ACCENT_HUES = (30.0, 62.0)


def body_colour(index: int) -> Colour:
    """The colour of the n-th moving body; beyond the chosen ones, hues a golden angle apart."""
    if index < len(FIRST):
        return FIRST[index]
    # Multiples of the golden angle stay apart, however many bodies there are.
    hue = (index * GOLDEN_ANGLE + 20) % 360
    if ACCENT_HUES[0] < hue < ACCENT_HUES[1]:
        hue += ACCENT_HUES[1] - ACCENT_HUES[0]
    tier = 0.05 if index % 2 else 0.0
    return Colour(oklch(0.50 + tier, 0.11, hue), oklch(0.72 + tier, 0.11, hue))


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """Hex colour from perceptual lightness, chroma and hue in degrees (Ottosson's Oklab, 2020)."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(channel)):02x}" for channel in linear)


def _gamma(channel: float) -> float:
    clipped = min(max(channel, 0.0), 1.0)
    return 12.92 * clipped if clipped <= 0.0031308 else 1.055 * clipped ** (1 / 2.4) - 0.055
