"""modelDescription.xml: the variables of an FMU with their units, roles and start values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from torseur.computation.codegen.targets.fmu.fmu_model import TOLERANCE, BaseUnit, FmuModel, Variable

SOURCES = ("fmi2.c", "task.c")
_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def model_description(model: FmuModel, guid: str) -> str:
    """The document, complete."""
    root = Xml.Element("fmiModelDescription", {
        "fmiVersion": "2.0", "modelName": text_of(model.name), "guid": guid, "description": text_of(model.description),
        "generationTool": "torseur", "variableNamingConvention": "flat", "numberOfEventIndicators": "0",
    })  # fmt: skip
    for kind, abilities in (
        ("ModelExchange", {}),
        ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"}),
    ):
        able = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true", **abilities}
        if model.has_tangent:
            able["providesDirectionalDerivative"] = "true"
        element = Xml.SubElement(root, kind, {"modelIdentifier": model.identifier, **able})
        files = Xml.SubElement(element, "SourceFiles")
        for name in SOURCES:
            Xml.SubElement(files, "File", {"name": name})
    _add_units(root, model)
    Xml.SubElement(root, "DefaultExperiment", {"startTime": "0", "stopTime": "1", "tolerance": repr(TOLERANCE)})
    variables = Xml.SubElement(root, "ModelVariables")
    for number, element in enumerate(_variables(model)):
        element.set("valueReference", str(number))
        variables.append(element)
    _add_structure(root, model)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def text_of(text: str) -> str:
    """The text with what XML cannot hold, and line breaks, replaced; escaping is left to the writer."""
    return "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "_" for c in text)


def _add_units(root: Xml.Element, model: FmuModel) -> None:
    used = [v.unit for v in (*model.states, *model.parameters, *model.inputs, *model.outputs)]
    known = model.units or {}
    names = [name for name in dict.fromkeys(_with_rates(used, model)) if name in known]
    if not names:
        return
    definitions = Xml.SubElement(root, "UnitDefinitions")
    for name in names:
        unit = Xml.SubElement(definitions, "Unit", {"name": text_of(name)})
        Xml.SubElement(unit, "BaseUnit", _base_unit(known[name]))


def _with_rates(used: Iterable[str], model: FmuModel) -> Iterator[str]:
    yield from used
    yield from (rate_unit(state.unit) for state in model.states)


def _base_unit(unit: BaseUnit) -> dict[str, str]:
    powers = {base: str(power) for base in _BASE if (power := (unit.powers or {}).get(base, 0))}
    return powers if unit.factor == 1.0 else {**powers, "factor": repr(unit.factor)}


def rate_unit(unit: str) -> str:
    """The unit of a derivative by time."""
    if unit == "1":
        return "1/s"
    return f"{unit[:-2]}/s^2" if unit.endswith("/s") else f"{unit}/s"


@dataclass(frozen=True)
class _Role:
    """What the environment may do with a variable."""

    causality: str
    variability: str = "continuous"
    initial: str | None = None


def _variables(model: FmuModel) -> Iterator[Xml.Element]:
    """States, their derivatives, parameters, inputs, outputs: the order of the value references."""
    names = _Unique()
    state_role = _Role("output", initial="approx" if model.has_manifold else "exact")
    for state in model.states:
        yield _variable(names(state.name), state, state_role, model, start=state.start)
    for number, state in enumerate(model.states):
        rate = Variable(f"der({state.name})", rate_unit(state.unit), f"derivative of {state.name}")
        yield _variable(names(rate.name), rate, _Role("local", initial="calculated"), model, derivative=number + 1)
    for one in model.parameters:
        yield _variable(names(one.name), one, _Role("parameter", "tunable", "exact"), model, start=one.start)
    for one in model.inputs:
        yield _variable(names(one.name), one, _Role("input"), model, start=one.start)
    for one in model.outputs:
        yield _variable(names(one.name), one, _Role("output", initial="calculated"), model)


class _Unique:
    """Names that no two variables share."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        plain = candidate = text_of(name) or "_"
        number = 1
        while candidate in self._taken:
            number += 1
            candidate = f"{plain} ({number})"
        self._taken.add(candidate)
        return candidate


def _variable(name: str, variable: Variable, role: _Role, model: FmuModel, **values: float) -> Xml.Element:
    element = Xml.Element("ScalarVariable", {"name": name, "valueReference": ""})
    element.set("causality", role.causality)
    element.set("variability", role.variability)
    if variable.meaning:
        element.set("description", text_of(variable.meaning))
    if role.initial is not None:
        element.set("initial", role.initial)
    real = Xml.SubElement(element, "Real", {key: repr(value).replace("nan", "NaN") for key, value in values.items()})
    if variable.unit in (model.units or {}):
        real.set("unit", text_of(variable.unit))
    return element


def _add_structure(root: Xml.Element, model: FmuModel) -> None:
    """Which variables are outputs, derivatives, and unknown at the start, by their number from 1."""
    # Order of the variables, counted from 1 (FMI 2.0, section 2.2.8):
    #     [ states 1..n | derivatives n+1..2n | parameters | inputs | outputs ]
    n = len(model.states)
    first_output = 2 * n + len(model.parameters) + len(model.inputs) + 1
    states, rates = range(1, n + 1), range(n + 1, 2 * n + 1)
    outputs = range(first_output, first_output + len(model.outputs))
    structure = Xml.SubElement(root, "ModelStructure")
    unknown = [*(states if model.has_manifold else ()), *rates, *outputs]
    for kind, numbers in (("Outputs", [*states, *outputs]), ("Derivatives", rates), ("InitialUnknowns", unknown)):
        if numbers:
            element = Xml.SubElement(structure, kind)
            for number in numbers:
                Xml.SubElement(element, "Unknown", {"index": str(number)})
