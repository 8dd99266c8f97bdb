"""What moves in the animation without being a body: points such as markers, arrows such as forces."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.errors import TorseurError
from torseur.presentation.scene.palette import Colour

Array = NDArray[np.float64]
STEPS, MISSING = 32766, -32768


@dataclass(frozen=True, eq=False)
class Dots:
    """Points by sample (samples, points, 3) in m, drawn as balls; NaN where a point is not there."""

    label: str
    positions: Array
    names: tuple[str, ...]
    radius: float
    colour: Colour


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows by sample, where they start and how far they go, (samples, arrows, 3) in m; NaN where none is."""

    label: str
    starts: Array
    vectors: Array
    names: tuple[str, ...]
    radius: float
    colour: Colour


Overlay = Dots | Arrows


def check_overlays(overlays: Iterable[Overlay], samples: int) -> None:
    """Refuses overlays whose arrays do not fit their names and the samples of the motion."""
    for overlay in overlays:
        expected = (samples, len(overlay.names), 3)
        for values in (overlay.positions,) if isinstance(overlay, Dots) else (overlay.starts, overlay.vectors):
            if values.shape != expected:
                raise TorseurError(f"report, {overlay.label}: shape {values.shape}, expected {expected}.")


def overlay_data(overlay: Overlay, colour: int | str) -> dict[str, object]:
    """An overlay as plain data for the page's script, its places in sixteen bits a number.

    `colour` is what the page calls its colour: the number of the overlay, or its kind.
    """
    shared = {
        "label": overlay.label, "names": overlay.names, "radius": overlay.radius, "colour": f"--overlay-{colour}",
    }  # fmt: skip
    if isinstance(overlay, Dots):
        return {"kind": "dots", **shared, "places": pack_places(overlay.positions)}
    ends = overlay.starts + overlay.vectors
    return {"kind": "arrows", **shared, "starts": pack_places(overlay.starts), "ends": pack_places(ends)}


def pack_places(places: Array) -> dict[str, object]:
    """Places (samples, points, 3) as integers of one step; MISSING stands for what is not there."""
    known = places[np.isfinite(places).all(axis=2)]
    low, high = (known.min(axis=0), known.max(axis=0)) if len(known) else (np.zeros(3), np.ones(3))
    origin, scale = (low + high) / 2, float(np.max(high - low)) / (2 * STEPS) or 1.0
    steps = np.rint((np.nan_to_num(places) - origin) / scale)
    steps[~np.isfinite(places).all(axis=2)] = MISSING
    packed = base64.b64encode(np.ascontiguousarray(steps).astype("<i2").tobytes()).decode("ascii")
    return {"count": places.shape[1], "origin": origin.tolist(), "scale": scale, "steps": packed}
