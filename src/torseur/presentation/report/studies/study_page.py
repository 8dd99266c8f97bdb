"""One HTML file for a study: no link leaves it, and it works without a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from torseur.errors import TorseurError
from torseur.presentation.report.page.report_content import DataTable
from torseur.presentation.report.page.sections import section, tables
from torseur.presentation.scene.palette import SERIES
from torseur.presentation.typesetting.markup import Markup, element, join

THEME = """
const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
document.getElementById("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
const listings = document.querySelectorAll(".copy");
listings.forEach((button) => button.addEventListener("click", async () => {
  await navigator.clipboard?.writeText(button.parentElement.querySelector("code").textContent);
  button.textContent = "Copied";
}));
window.report = {};
"""


def page(title: str, summary: Sequence[str], parts: Sequence[Markup]) -> str:
    """The page as text."""
    style = stylesheet()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="torseur"),
        element("title", title),
        element("style", Markup(style)),
    )
    facts = element("p", *(element("span", fact) for fact in summary), class_="summary")
    theme = element("button", "Light / dark", type="button", id="theme")
    top = element("header", element("h1", title), facts, theme, class_="top")
    main = element("main", element("div", *parts, class_="text"), class_="alone study-page")
    body = element("body", top, main, element("script", Markup(THEME), type="module"))
    return "<!doctype html>\n" + element("html", head, body, lang="en")


def write(text: str, path: str | Path) -> Path:
    """The page in a file, which it replaces whole."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as problem:
        beside.unlink(missing_ok=True)
        raise TorseurError(f"report: '{target}': {problem.strerror or problem}.") from problem
    return target


def stylesheet() -> str:
    """The style of all reports, and that of the plots of studies."""
    light = "".join(f"--series-{k}:{colour.light};" for k, colour in enumerate(SERIES))
    dark = "".join(f"--series-{k}:{colour.dark};" for k, colour in enumerate(SERIES))
    themes = (
        f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
    classes = "".join(f".series-{k}{{--c:var(--series-{k})}}\n" for k in range(len(SERIES)))
    assets = files("torseur.presentation.report").joinpath("assets")
    return (
        themes + classes + "".join(assets.joinpath(n).read_text(encoding="utf-8") for n in ("style.css", "studies.css"))
    )


def _policy(style: str) -> str:
    return (
        f"default-src 'none'; script-src {_digest(THEME)}; style-src {_digest(style)}; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def gallery(identifier: str, title: str, note: str, figures: Sequence[Markup]) -> Markup:
    """Drawings side by side under one title; nothing without drawings."""
    if not figures:
        return Markup()
    words = [element("p", note, class_="note")] if note else []
    return section(identifier, title, *words, element("div", join(figures), class_="gallery"))


def table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int], note: str = ""
) -> Markup:
    """A table under its title; nothing without rows."""
    given = DataTable(title, tuple(headings), tuple(tuple(row) for row in rows), note=note, numeric=tuple(numeric))
    return tables((given,)) if rows else Markup()


def how_to_reproduce(command: str, text: str, name: str, what: str = "the study file") -> Markup:
    """The command, the study file, and with what it was made."""
    try:
        made = f"Made with torseur {version('torseur')}."
    except PackageNotFoundError:
        made = "Made with torseur."
    head = element("summary", element("span", name), element("small", what))
    source = element("details", head, element("div", _listing(text)), class_="card block")
    return section("reproduce", "How to reproduce", _listing(command), source, element("p", made, class_="note"))


def _listing(text: str) -> Markup:
    button = element("button", "Copy", type="button", class_="copy")
    return element("div", element("pre", element("code", text), tabindex=0), button, class_="listing")
