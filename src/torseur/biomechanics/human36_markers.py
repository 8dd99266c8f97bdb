"""The markers of Human36: where they sit on its segments, in the frames of the segments.

Four on each long segment, so that every segment's rotation follows from its own markers. Labels on the right begin with
R, on the left with L. Distances are parts of the segment's length, or of stature across it: a model set, to be replaced
by the places that a standing trial of the person gives.
"""

from __future__ import annotations

from collections.abc import Iterator

# label: segment, forward, up, right; "L" stands for the segment's length, "H" for stature.
_MIDDLE = {
    "C7": ("trunk", "-0.045*H", "L", "0"),
    "T10": ("trunk", "-0.065*H", "0.42*L", "0"),
    "CLAV": ("trunk", "0.045*H", "0.84*L", "0"),
    "STRN": ("trunk", "0.068*H", "0.48*L", "0"),
}
_PAIRS = {
    "FHD": ("head", "0.055*H", "0.72*L", "0.042*H"),
    "BHD": ("head", "-0.05*H", "0.72*L", "0.042*H"),
    "SHO": ("trunk", "0", "0.92*L", "0.105*H"),
    "ASI": ("pelvis", "0.055*H", "0.62*L", "0.07*H"),
    "PSI": ("pelvis", "-0.062*H", "0.68*L", "0.028*H"),
    "UPA": ("upper_arm", "0.02*H", "-0.35*L", "0.02*H"),
    "UPB": ("upper_arm", "-0.028*H", "-0.6*L", "0.01*H"),
    "ELB": ("upper_arm", "0", "-0.98*L", "0.024*H"),
    "ELM": ("upper_arm", "0", "-0.98*L", "-0.024*H"),
    "FRA": ("forearm", "0.022*H", "-0.4*L", "0.012*H"),
    "FRB": ("forearm", "-0.02*H", "-0.55*L", "0.01*H"),
    "WRA": ("forearm", "0", "-0.98*L", "0.018*H"),
    "WRB": ("forearm", "0", "-0.98*L", "-0.018*H"),
    "FIN": ("hand", "-0.01*H", "-0.5*L", "0"),
    "HNA": ("hand", "-0.008*H", "-0.4*L", "0.02*H"),
    "HNB": ("hand", "-0.008*H", "-0.4*L", "-0.02*H"),
    "THI": ("thigh", "0.03*H", "-0.45*L", "0.035*H"),
    "THB": ("thigh", "-0.03*H", "-0.65*L", "0.03*H"),
    "KNE": ("thigh", "0", "-0.99*L", "0.032*H"),
    "KNM": ("thigh", "0", "-0.99*L", "-0.032*H"),
    "TIB": ("shank", "0.025*H", "-0.4*L", "0.022*H"),
    "TBB": ("shank", "-0.028*H", "-0.6*L", "0.02*H"),
    "ANK": ("shank", "0", "-0.99*L", "0.022*H"),
    "ANM": ("shank", "0", "-0.99*L", "-0.022*H"),
    "HEE": ("foot", "-0.25*L", "-0.02*H", "0"),
    "TOE": ("foot", "0.5*L", "-0.018*H", "0"),
    "MT5": ("foot", "0.38*L", "-0.03*H", "0.026*H"),
    "MT1": ("foot", "0.42*L", "-0.026*H", "-0.024*H"),
}
_CENTRAL = ("head", "trunk", "pelvis")


def marker_lines() -> Iterator[str]:
    """Named frames of the mechanism, one a line."""
    for label, (segment, *place) in _MIDDLE.items():
        yield _line(label, segment, place)
    for side, sign in (("r", ""), ("l", "-")):
        for label, (segment, x, y, z) in _PAIRS.items():
            name = segment if segment in _CENTRAL else f"{side}_{segment}"
            yield _line(side.upper() + label, name, [x, y, z if z == "0" else _signed(sign, z)])


def _signed(sign: str, text: str) -> str:
    return text.removeprefix("-") if sign and text.startswith("-") else sign + text


def _line(label: str, segment: str, place: list[str]) -> str:
    spelled = ", ".join(part.replace("L", f"{segment}_length").replace("H", "height") for part in place)
    return f"let {label} = [{spelled}] ++ 1 @ {segment} ;"
