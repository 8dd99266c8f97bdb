"""The text with the values of the sliders written into it, everything else left as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from torseur.description.language.description_errors import Report, Source
from torseur.description.language.syntax.parser import parse_statements
from torseur.description.language.syntax.syntax_nodes import Expression, InitialIs, Number, ParameterIs
from torseur.description.mechanism.units import parse_unit
from torseur.errors import TorseurError
from torseur.presentation.studio.answers.text_model import Model, model_of
from torseur.presentation.studio.messages import Request, text_message


def inscribe(request: Request, folder: Path | None) -> Iterator[bytes]:
    """The text with its numbers replaced where they are defined; a start that nobody has given yet is added."""
    try:
        model = model_of(request.text, folder)
        values, initial = model.own(request.values), model.own_start(request.initial)
        text = inscribe_values(model, request.text, values, initial)
        model_of(text, folder)
        yield text_message("inscribed", request.number, text=text)
    except TorseurError as problem:
        yield text_message("refusal", request.number, reason=str(problem))


def inscribe_values(model: Model, text: str, values: Mapping[str, float], initial: Mapping[str, float]) -> str:
    """A text in which parameters and initial values have other numbers."""
    units = _units(model)
    places: list[tuple[int, int, str]] = []
    source = Source(text)
    for statement in parse_statements(source, Report(source)).statements:
        if isinstance(statement, ParameterIs) and statement.declared.name.text in values:
            name = statement.declared.name
            places.append(_place(statement.value, name.end, values[name.text], units[name.text]))
        elif isinstance(statement, InitialIs):
            named = statement.of.name + "'" * statement.of.primes
            if named in initial:
                places.append(_place(statement.value, statement.of.end, initial[named], units[named]))
                initial = {other: value for other, value in initial.items() if other != named}
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    added = ", ".join(f"{name} = {_number(value, units[name])}" for name, value in initial.items())
    return f"{text.rstrip()}\ninit {added} ;\n" if added else text


def _units(model: Model) -> dict[str, str]:
    layout = model.tree.layout
    return {str(x.name): x.data.unit for x in (*layout.parameters, *layout.coordinates, *layout.speeds)}


def _place(old: Expression | None, behind: int, value: float, unit: str) -> tuple[int, int, str]:
    """What to replace and by what; the unit that was written stays."""
    if old is None:
        return behind, behind, f" = {_number(value, unit)}"
    written = old.unit if isinstance(old, Number) else None
    return old.start, old.end, _number(value, written or unit)


def _number(value: float, unit: str) -> str:
    """A value in SI, written in a unit."""
    number = f"{value / parse_unit(unit)[0]:.10g}"
    return number if unit in ("1", "rad") else f"{number} {unit}"
