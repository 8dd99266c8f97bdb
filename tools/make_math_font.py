"""Make the report's math font: STIX Two Math cut down to the characters equations use.

    python tools/make_math_font.py [OUTPUT.woff2]

Needs fonttools, brotli and ziamath (which ships the complete font). The copyright, trademark and licence
records stay in the file; the licence text lies beside it as OFL.txt.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from string import ascii_letters

from fontTools import subset

OUTPUT = Path(__file__).parents[1] / "src/torseur/presentation/report/assets/font/stix-two-math-subset.woff2"
KEPT_NAME_RECORDS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14]
# Script-size alternates (ssty) would double the file for a difference hard to see at screen sizes.
MATH_FEATURES = ["dtls", "ccmp"]

UPRIGHT = "0123456789.,:;!?'%()[]{}|/+-=<> " + ascii_letters
GREEK = "".join(map(chr, [*range(0x391, 0x3AA), *range(0x3B1, 0x3CA), 0x3D1, 0x3D5, 0x3F5]))
OPERATORS = "−±∓×·⋅÷≈≠≤≥≡∝→←⇒∂∇∑∏∫√∞′″‴…⋯⋮⋱∥⊤°ℓℏ∈⟨⟩\u2061\u2062"
ACCENTS = "˙¨\u20db^~¯"
ITALIC = range(0x1D434, 0x1D468)
BOLD = range(0x1D400, 0x1D434)
GREEK_BOLD = range(0x1D6C2, 0x1D6DB)
GREEK_ITALIC = range(0x1D6E2, 0x1D71C)
ITALIC_H = 0x210E


def characters() -> list[int]:
    """Every code point that an equation of a report may contain."""
    plain = [ord(c) for c in UPRIGHT + GREEK + OPERATORS + ACCENTS]
    return [*plain, *ITALIC, *BOLD, *GREEK_BOLD, *GREEK_ITALIC, ITALIC_H]


def make(output: Path) -> int:
    """Size in bytes of the written font."""
    options = subset.Options(flavor="woff2", layout_features=MATH_FEATURES, name_IDs=KEPT_NAME_RECORDS)
    options.drop_tables += ["DSIG", "GPOS"]
    options.hinting = False
    source = str(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=characters())
    cutter.subset(font)
    subset.save_font(font, str(output), options)
    return output.stat().st_size


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    print(f"{target}: {make(target)} bytes")
