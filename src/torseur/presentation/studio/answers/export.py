"""Files to take away: the report, source code, a study, and the text with the values of the sliders."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from torseur.computation.codegen.sources.generate_files import TARGETS
from torseur.computation.functions.generate_sources import generate
from torseur.derivation.equations import Equations
from torseur.description.language import to_text
from torseur.errors import TorseurError, unknown_name
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_content import Reproduction
from torseur.presentation.report.page.report_page import render
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, file_message, text_message

OPEN = "inverse_dynamics,forward_dynamics,mass_matrix,bias,energies"
CONSTRAINED = "mass_matrix,bias,loads,constraint_residuals,constraint_jacobian,constraint_gamma"
SPREAD = 0.1  # a study varies each parameter by this part of its value


def export(request: Request, folder: Path | None) -> Iterator[bytes]:
    """The file that `what` names."""
    try:
        if request.what not in MAKERS:
            raise TorseurError(unknown_name("export", request.what, MAKERS))
        model = model_of(request.text, folder)
        ending, kind, content = MAKERS[request.what](model, request)
        yield file_message(request.number, f"{_stem(model)}{ending}", kind, content)
    except TorseurError as problem:
        yield text_message("refusal", request.number, reason=str(problem))


Made = tuple[str, str, bytes]  # ending of the name, type, content


def _report(model: Model, request: Request) -> Made:
    values, initial = model.own(request.values), model.own_start(request.initial)
    name = f"{_stem(model)}.lsd"
    settings = [f"--set {key}={value!r}" for key, value in values.items()]
    settings += [f"--init {key}={value!r}" for key, value in initial.items()]
    command = " ".join(["torseur report", name, f"--until {request.until:g}", *settings])
    occasion = Occasion(
        request.until,
        request.formalism,
        values,
        initial,
        reproduction=Reproduction((command,), name, request.text),
        criteria=(request.criterion,) if request.criterion else (),
    )
    return ".html", "text/html", render(content_of(model.mechanism, occasion)).encode("utf-8")


def _code(model: Model, request: Request) -> Made:
    """The functions every mechanism of its kind has, in the language that `detail` names."""
    target = request.detail or "c"
    if target not in TARGETS:
        raise TorseurError(unknown_name("target", target, TARGETS))
    equations = model.equations()
    sources = generate(equations, _functions(equations), target, model.own(request.values))
    return f"_{target}.zip", "application/zip", _zip(sources)


def _functions(equations: Equations) -> str:
    return CONSTRAINED if equations.is_constrained else OPEN


def _study(model: Model, request: Request) -> Made:
    """The text and a study file that varies its parameters about their present values."""
    name = f"{_stem(model)}.lsd"
    known = model.page(request.values).numbers.by_symbol
    varied = {str(symbol.name): value for symbol, value in known.items() if value}
    if not varied:
        raise TorseurError("a study needs a parameter with a value other than 0 to vary.")
    lines = [f"mechanism = {json.dumps(name)}", f"until = {request.until!r}", "", "[values]"]
    lines += [f"{json.dumps(key)} = {value!r}" for key, value in model.own(request.values).items() if key not in varied]
    lines += [
        "",
        "[initial]",
        *(f"{json.dumps(k)} = {v!r}" for k, v in model.own_start(request.initial).items()),
        "",
        "[vary]",
    ]
    for key, value in varied.items():
        low, high = sorted((value * (1 - SPREAD), value * (1 + SPREAD)))
        lines.append(f"{json.dumps(key)} = {{ from = {low!r}, to = {high!r} }}")
    criterion = request.criterion or next(iter(model.tree.layout.coordinate_names), "energy")
    lines += [
        "",
        "[design]",
        'kind = "saltelli"',
        "count = 64",
        "",
        "[criteria]",
        f"criterion = {json.dumps(criterion)}",
        "",
    ]
    return "_study.zip", "application/zip", _zip({name: request.text, f"{_stem(model)}.toml": "\n".join(lines)})


def _text(model: Model, request: Request) -> Made:
    """The mechanism as text, the values of the sliders written into it."""
    return ".lsd", "text/plain", to_text(model.mechanism.with_values(**model.own(request.values))).encode("utf-8")


MAKERS: Mapping[str, Callable[[Model, Request], Made]] = {
    "report": _report,
    "code": _code,
    "study": _study,
    "text": _text,
}


def _stem(model: Model) -> str:
    return re.sub(r"[^\w-]", "_", model.mechanism.name)[:60] or "mechanism"


def _zip(files: Mapping[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), text)
    return held.getvalue()
