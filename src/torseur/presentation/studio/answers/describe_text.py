"""What a text says: its faults where they stand, its bodies and joints, its parameters, and its equations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torseur.description.language import LanguageError
from torseur.errors import TorseurError
from torseur.presentation.report.compose.account import Quantity
from torseur.presentation.report.compose.compose_report import Page, unit_text
from torseur.presentation.report.drawing.diagram import diagram
from torseur.presentation.report.page.equation_view import math
from torseur.presentation.studio.answers.equation_answers import equation_cards
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, text_message
from torseur.presentation.typesetting.formula import formula
from torseur.presentation.typesetting.read_graph import read_name


def describe(request: Request, folder: Path | None) -> Iterator[bytes]:
    """Faults first; without any, what the mechanism is, then its equations at the level asked for."""
    try:
        model = model_of(request.text, folder)
    except TorseurError as problem:
        yield text_message("faults", request.number, faults=_faults(problem))
        return
    yield text_message("faults", request.number, faults=[])
    page = model.page({})
    yield text_message("outline", request.number, **_outline(model, page))
    for kind, content in equation_cards(model, page, request.formalism, request.level, request.criterion):
        yield text_message(kind, request.number, **content)


def _faults(problem: TorseurError) -> list[dict[str, Any]]:
    """Places and messages; a fault of the whole text has line 0."""
    if not isinstance(problem, LanguageError):
        return [{"line": 0, "column": 0, "end": 0, "message": str(problem), "hint": ""}]
    return [
        {"line": d.line, "column": d.column, "end": d.end_column, "message": d.message, "hint": d.hint}
        for d in problem.diagnostics
    ]


def _outline(model: Model, page: Page) -> dict[str, Any]:
    """The mechanism without its motion: title, warnings, drawing of bodies and joints, parameters, start."""
    one = page.account
    follows = {q.name for q in one.parameters if q.formula}
    return {
        "name": model.mechanism.name,
        "title": page.title(),
        "summary": list(page.summary()),
        "warnings": list(one.warnings),
        "bodies": [body.name for body in page.named_bodies()],
        "joints": [joint.name for joint in page.joints()],
        "graph": diagram(page.named_bodies(), page.joints()),
        "parameters": [_quantity(q) | {"formula": q.formula} for q in one.parameters if q.name not in follows],
        "following": [_quantity(q) | {"formula": q.formula} for q in one.parameters if q.name in follows],
        "start": [_quantity(q) for q in one.initial],
        "coordinates": list(one.coordinates),
        "undetermined": list(one.undetermined),
        "criteria": [*one.coordinates, "kinetic_energy", "potential_energy", "energy"],
        "loops": len(one.loops),
        "closed": bool(one.loops or one.constraints),
    }


def _quantity(one: Quantity) -> dict[str, Any]:
    written = formula(read_name(one.name))
    return {
        "name": one.name,
        "value": one.value,
        "unit": unit_text(one.unit),
        "meaning": one.meaning,
        "symbol": math(written.markup(), aria_hidden="true"),
    }
