"""The report as one HTML file: no link leaves it, no text in it can run, and it works without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from posixpath import dirname, join, normpath

import numpy as np

from torseur.presentation.report.drawing import stage
from torseur.presentation.report.page import examination_view as influences
from torseur.presentation.report.page import sections
from torseur.presentation.report.page.equation_content import EquationBlock
from torseur.presentation.report.page.equation_view import Index, equation_text
from torseur.presentation.report.page.examination_view import branch_motions, loops
from torseur.presentation.report.page.report_content import ReportContent, ReportError
from torseur.presentation.report.page.sections import certificate, convergence
from torseur.presentation.scene.packing import pack_course, pack_floats, pack_motion
from torseur.presentation.scene.palette import SERIES, Colour
from torseur.presentation.scene.pictures.poster import class_of
from torseur.presentation.scene.scene_data import scene_colours, scene_data
from torseur.presentation.typesetting.markup import Markup, element

MAIN = "page.js"  # the module that starts the page and, by its imports, names all others
IMPORT = re.compile(r'^import .*?from "([\w/.]+)";\n', re.MULTILINE | re.DOTALL)


def write_report(content: ReportContent, path: str | Path, overwrite: bool = False) -> Path:
    """Write the report and return where; an existing file is kept unless `overwrite`."""
    target = Path(path)
    if target.exists() and not overwrite:
        raise ReportError(f"report: '{target}' exists; choose another name or allow it to be overwritten.")
    if not target.parent.is_dir():
        raise ReportError(f"report: the folder '{target.parent}' does not exist; create it first.")
    target.write_text(render(content), encoding="utf-8")
    return target


def render(content: ReportContent) -> str:
    """The page as text."""
    index = Index(
        {body.name: number for number, body in enumerate(content.bodies)},
        {joint.name: number for number, joint in enumerate(content.joints)},
    )
    style, code = stylesheet(content), script()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        _policy(style, code),
        *_meta(content),
        element("style", Markup(style)),
    )
    data = element("script", Markup(_json(page_data(content, index))), type="application/json", id="data")
    body = element(
        "body",
        *([] if content.alone else [_header(content)]),
        element("main", stage.stage(content)) if content.alone else _main(content, index),
        element("div", id="tip", role="tooltip", hidden=True),
        data,
        element("script", Markup(code), type="module"),
        class_="viewer" if content.alone else None,
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en")


def page_data(content: ReportContent, index: Index) -> dict[str, object]:
    """What the script needs, as plain data; names are text and nothing else."""
    return {
        "title": content.title,
        "joints": [[index.bodies[j.parent], index.bodies[j.child]] for j in content.joints],
        "motion": pack_motion(content.motion) if content.motion is not None else None,
        **scene_data(content.bodies, content.elements, content.overlays, content.view),
        "plots": _plots(content, index),
        "terms": _term_values(content),
        "copies": _copies(content),
        "branches": branch_motions(content.loops),
    }


def stylesheet(content: ReportContent) -> str:
    """The page's style, with the font and the colours of this report's bodies."""
    font = base64.b64encode(_asset("font", "stix-two-math-subset.woff2").read_bytes()).decode("ascii")
    face = f'@font-face{{font-family:"Report Math";src:url(data:font/woff2;base64,{font}) format("woff2")}}\n'
    return face + colour_rules(_colours(content)) + _asset("style.css").read_text(encoding="utf-8")


def colour_rules(colours: Mapping[str, Colour]) -> str:
    """Style rules that define colours by variable, light and dark, and a class for each."""
    light = "".join(f"{name}:{colour.light};" for name, colour in colours.items())
    dark = "".join(f"{name}:{colour.dark};" for name, colour in colours.items())
    themes = (
        f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
    return themes + "".join(f".{class_of(name)}{{--c:var({name})}}\n" for name in colours)


@cache
def script() -> str:
    """All modules in one, each after those it imports, without their imports and exports."""
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        module = _asset("js", *name.split("/")).read_text(encoding="utf-8")
        for path in IMPORT.findall(module):
            if (imported := normpath(join(dirname(name), path))) not in texts:
                add(imported)
        texts[name] = merge(module)

    add(MAIN)
    return "\n".join(texts.values())


def merge(module: str) -> str:
    """A module's text to stand in one script with the others: no imports, no export keywords, no types, no comments."""
    without_types = re.sub(r"^ */\*\*.*?\*/\n", "", module, flags=re.MULTILINE | re.DOTALL)
    without_types = re.sub(r"/\*\* @type \{.*?\*/ ?", "", without_types)
    without_remarks = re.sub(r"^ *//.*\n| +(?=//(?! eslint)[^\"'`\n]*$)//.*$", "", without_types, flags=re.MULTILINE)
    # Neither indentation nor empty lines mean anything to a browser, templates of shaders included.
    without_remarks = re.sub(r"^[ \n]+", "", without_remarks, flags=re.MULTILINE)
    without_imports = IMPORT.sub("", without_remarks)
    return re.sub(r"^export (?=(async )?function|class|const|let)", "", without_imports, flags=re.MULTILINE)


def _asset(*names: str) -> Traversable:
    return files("torseur.presentation.report").joinpath("assets", *names)


def _colours(content: ReportContent) -> dict[str, Colour]:
    scene = scene_colours(content.bodies, content.overlays)
    return scene | {f"--series-{number}": colour for number, colour in enumerate(SERIES)}


def _policy(style: str, code: str) -> Markup:
    """Content security policy: only this very script and style, nothing from outside."""
    rules = (
        f"default-src 'none'; script-src {_digest(code)}; style-src {_digest(style)}; font-src data:; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return element("meta", http_equiv="Content-Security-Policy", content=rules)


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def _meta(content: ReportContent) -> list[Markup]:
    return [
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="torseur"),
        element("title", content.title),
    ]


def _header(content: ReportContent) -> Markup:
    summary = element("p", *(element("span", fact) for fact in content.summary), class_="summary")
    theme = element("button", "Light / dark", type="button", id="theme")
    return element("header", element("h1", content.title), summary, theme, class_="top")


def _main(content: ReportContent, index: Index) -> Markup:
    text = element(
        "div",
        sections.mechanism(content),
        sections.freedom(content.freedom),
        loops(content),
        sections.equations(content, index),
        sections.parameters(content.parameters, index),
        sections.tables(content.tables),
        convergence(content.convergence),
        sections.crossplots(content.crossplots),
        influences.sensitivities(content.influences, content.influences_note),
        sections.checks(content.checks),
        certificate(content.certificate),
        sections.reproduction(content.reproduction),
        class_="text",
    )
    pictures = stage.stage(content) + stage.plots(content, index)
    side = element("aside", Markup(pictures), class_="side") if pictures else Markup()
    return element("main", side, text, class_="with-side" if pictures else "alone")


def _plots(content: ReportContent, index: Index) -> list[dict[str, object]]:
    return [
        {
            "title": plot.title,
            "unit": plot.unit,
            "times": pack_floats(plot.times),
            "across": plot.across,
            "clock": plot.clock,
            "curves": [
                {
                    "label": curve.label,
                    "colour": stage.curve_colour(curve, series, index),
                    "dashed": curve.dashed,
                    "values": pack_floats(curve.values),
                    "band": None if curve.band is None else pack_floats(curve.band),
                }
                for curve, series in zip(plot.curves, stage.series_numbers(plot), strict=True)
            ],
        }
        for plot in content.plots
    ]


def _term_values(content: ReportContent) -> list[tuple[float, str] | None]:
    """Samples of every term in the order of the page, where they are known."""
    return [
        None if term.values is None or not np.isfinite(term.values).all() else pack_course(term.values)
        for one in content.equations
        for line in one.equations + one.folded
        for term in line.all_terms
    ]


def _copies(content: ReportContent) -> dict[str, str]:
    copies = {f"equations-{number}": _copy_text(one) for number, one in enumerate(content.equations)}
    return copies | {
        "commands": "\n".join(content.reproduction.commands),
        "source": content.reproduction.source,
    }


def _copy_text(one: EquationBlock) -> str:
    return one.copy_text or "\n".join(equation_text(line) for line in one.equations + one.folded)


def _json(data: dict[str, object]) -> str:
    """JSON that cannot end its script element or start a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
