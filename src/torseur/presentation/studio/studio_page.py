"""The page as the browser first gets it, its colours, and what it must know of the language and the library."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from torseur.derivation.formalisms import FORMALISMS
from torseur.description.library import entries
from torseur.presentation.levels.levels import LEVELS
from torseur.presentation.report.compose.derivation_cards import FORMALISM_TITLES
from torseur.presentation.report.page.report_page import colour_rules
from torseur.presentation.scene.palette import ELEMENT, GROUND, SERIES, body_colour
from torseur.presentation.scene.scene_data import ELEMENT_COLOUR

MOST_BODIES = 800


@cache
def index() -> str:
    """The page, empty; the word NONCE stands for what lets the editor bring its style."""
    return files("torseur.presentation.studio").joinpath("assets", "studio.html").read_text(encoding="utf-8")


@cache
def colours() -> str:
    """The colours of bodies, of what stretches between them and of curves, light and dark; body 0 is the earth."""
    bodies = {f"--body-{k}": GROUND if k == 0 else body_colour(k - 1) for k in range(MOST_BODIES)}
    series = {f"--series-{k}": colour for k, colour in enumerate(SERIES)}
    return colour_rules(bodies | {ELEMENT_COLOUR: ELEMENT} | series)


@cache
def knowledge() -> dict[str, Any]:
    """What the page offers: formalisms, levels, ready mechanisms, languages of code, and words to colour in a text."""
    from torseur.computation.codegen.sources.generate_files import TARGETS
    from torseur.description.language.syntax.grammar import grammar

    return {
        "formalisms": {name: FORMALISM_TITLES[name] for name in FORMALISMS},
        "levels": list(LEVELS),
        "library": [{"name": one.name, "use": one.usage.partition(":")[2], "title": one.title} for one in entries()],
        "targets": list(TARGETS),
        "words": sorted(grammar().keywords),
    }
