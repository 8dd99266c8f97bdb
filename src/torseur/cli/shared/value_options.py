"""Values, laws and contacts from the command line and from files.

`--set 'r2=500 mm'`, `--init q1=45deg`, `--init 'q2 about 20 deg'`,
`--law 'bras.fs(x, v) = -3*x - 0.1*v'`, `--contact 'z >= 0'`, `--values study.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, UndeterminedFunction, live_nodes
from torseur.cli.shared.exits import USAGE, CommandError
from torseur.derivation.tree import Tree
from torseur.derivation.tree.flatten import flatten
from torseur.description.language.formulas.quantities_with_units import quantity
from torseur.description.mechanism import Guess, Law, Mechanism, in_si
from torseur.description.mechanism.units import kind_of, parse_unit
from torseur.edges.budgets import bounded_text, parsed_json, parsed_toml
from torseur.errors import nearest, unknown_name

if TYPE_CHECKING:
    from torseur.computation.simulation import Impact

TABLES = ("parameters", "initial", "laws")
_CALL = re.compile(r"\s*([\w.]+)\s*\(([^()]*)\)\s*")  # name(arguments)
_GUESSED = re.compile(r"^\s*([^=]+?)\s+about\s+")  # coordinate before a guess
_BOUND = re.compile(r"\s*(.+?)\s*(>=|<=)\s*(.+?)\s*")  # coordinate, relation, limit


@dataclass(frozen=True)
class Values:
    """Parameters and initial state in SI by name, and the formulas of undetermined functions as written."""

    parameters: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)


def read_values(tree: Tree, settings: Iterable[str] | None, starts: Iterable[str] | None, file: Path | None) -> Values:
    """Values for a mechanism: those of the file, then those of the command line."""
    tables = _tables(file) if file is not None else {}
    typed = _pairs("--set", settings)
    begun = _start_texts(starts)
    parameters = {**tables.get("parameters", {}), **typed}
    initial = {**tables.get("initial", {}), **begun}
    units = {str(p.name): p.data.unit for p in tree.layout.parameters}
    layout = tree.layout
    states = {str(x.name): x.data.unit for x in (*layout.coordinates, *layout.rates, *layout.speeds)}
    _refuse_dependent(tree, parameters)
    return Values(
        {
            name: _si_value("parameter", name, value, units, "--set" if name in typed else "--values")
            for name, value in parameters.items()
        },
        {
            name: _start_value(name, value, states, "--init" if name in begun else "--values")
            for name, value in initial.items()
        },
    )


def names_of_start(starts: Iterable[str] | None, file: Path | None) -> tuple[str, ...]:
    """What initial values are given for, in the file or on the command line."""
    return (*(_tables(file).get("initial", {}) if file is not None else {}), *_start_texts(starts))


def _start_texts(starts: Iterable[str] | None) -> dict[str, str]:
    return _pairs("--init", [_GUESSED.sub(r"\1 = about ", text) for text in starts or ()])


def law_formulas(given: Iterable[str] | None, file: Path | None) -> dict[str, str]:
    """Formulas by the call they define: {"fs(x, v)": "-3*x"}."""
    listed = _tables(file).get("laws", {}) if file is not None else {}
    return {**{name: str(formula) for name, formula in listed.items()}, **_pairs("--law", given)}


def _pairs(option: str, texts: Iterable[str] | None) -> dict[str, str]:
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise CommandError(f"{option} {text}: expected NAME=VALUE, such as {option} 'm1=4 kg'.", USAGE)
        pairs[name.replace("`", "").strip()] = value.strip()  # quoted as in a description, or plain
    return pairs


def _tables(file: Path) -> dict[str, dict[str, Any]]:
    """The tables of a TOML or JSON file."""
    try:
        document = _document(file)
    except (ValueError, UnicodeDecodeError) as problem:
        kind = "JSON" if file.suffix == ".json" else "TOML"
        raise CommandError(f"'{file}' cannot be read as {kind}: {problem}.") from problem
    if not isinstance(document, dict) or not all(isinstance(table, dict) for table in document.values()):
        raise CommandError(f"'{file}': expected tables {', '.join(TABLES)}, such as [parameters] with m1 = \"4 kg\".")
    for name in document:
        if name not in TABLES:
            raise CommandError(unknown_name("table", name, TABLES, f"'{file}': "))
    return document


def _document(file: Path) -> Any:
    if not file.is_file():
        raise CommandError(f"there is no file '{file}'.")
    if file.suffix == ".json":
        return parsed_json(bounded_text(file))
    return parsed_toml(bounded_text(file))


def _refuse_dependent(tree: Tree, parameters: Mapping[str, Any]) -> None:
    for symbol, formula in tree.definitions.items():
        if symbol.name in parameters:
            raise CommandError(f"parameter '{symbol.name}' follows from others ({formula}) and cannot be set alone.")


def _si_value(kind: str, name: str, given: Any, units: Mapping[str, str], option: str) -> float:
    """The value in SI; raises when the name is unknown or the unit does not fit."""
    if name not in units:
        raise CommandError(f"{option} {name}: {_unknown(kind, name, units)}")
    value, unit = quantity(given, name)
    wanted = parse_unit(units[name])[1]
    given_unit = None if unit is None else parse_unit(unit)[1]
    if given_unit is not None and given_unit != wanted:
        expected = units[name] if units[name] != "1" else "a plain number"
        raise CommandError(f"{name}={given}: expected a {kind_of(wanted)} ({expected}), got a {kind_of(given_unit)}.")
    return value


def _start_value(name: str, given: Any, units: Mapping[str, str], option: str) -> float:
    """An initial value in SI, a guess when it is written 'about 20 deg'."""
    text = given.strip() if isinstance(given, str) else ""
    if not text.startswith("about "):
        return _si_value("coordinate or speed", name, given, units, option)
    return Guess(_si_value("coordinate or speed", name, text.removeprefix("about "), units, option))


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    listing = ", ".join(names) if names else "none"
    guess = nearest(name, names)
    hint = f" Did you mean '{guess}'?" if guess else ""
    return f"unknown {kind} '{name}'. There are: {listing}.{hint}"


def with_laws(mechanism: Mechanism, formulas: Mapping[str, str]) -> Mechanism:
    """The mechanism with the functions it leaves open given by formulas of their arguments and of its parameters."""
    if not formulas:
        return mechanism
    open_functions = _open_functions(mechanism)
    laws = [_law(mechanism, call, formula, open_functions) for call, formula in formulas.items()]
    return replace(mechanism, laws=(*mechanism.laws, *laws))


def _open_functions(mechanism: Mechanism) -> dict[str, UndeterminedFunction]:
    known = {law.name for law in mechanism.laws}
    leaves = [leaf for leaf in flatten(list(mechanism.loads)) if isinstance(leaf, Expr)]
    functions = [node.data.function for node in live_nodes(leaves) if node.op == "apply"]
    return {function.name: function for function in functions if function.name not in known}


def _law(mechanism: Mechanism, call: str, formula: str, open_functions: Mapping[str, UndeterminedFunction]) -> Law:
    match = _CALL.fullmatch(call)
    if match is None:
        expected = "expected FUNCTION(ARGUMENTS)=FORMULA, such as 'f(x, v)=-3*x'"
        raise CommandError(f"--law {call}={formula}: {expected}.", USAGE)
    name, arguments = match[1], [a.strip() for a in match[2].split(",") if a.strip()]
    if name not in open_functions:
        raise CommandError(unknown_name("undetermined function", name, open_functions, f"--law {call}: "))
    function = open_functions[name]
    if len(arguments) != function.arity:
        raise CommandError(f"--law {call}: {name} takes {function.arity} arguments, got {len(arguments)}.")
    read = _read_law(mechanism, arguments, formula, f"--law {name}")
    return Law(function, read.arguments, read.formula)


def state_formulas(mechanism: Mechanism, option: str, texts: Iterable[str] | None) -> dict[str, Expr]:
    """Values of coordinates and speeds as formulas of the parameters, by name."""
    pairs = _pairs(option, texts)
    return {name: _read_law(mechanism, [], text, f"{option} {name}").formula for name, text in pairs.items()}


def _read_law(mechanism: Mechanism, arguments: list[str], formula: str, place: str) -> Law:
    """The formula, read by the language beside the mechanism's own parameters."""
    from torseur.description.language import LanguageError, parse

    # A formula is read as a description of one law. Parameters whose names need quotes cannot be declared there.
    plain = [p for p in mechanism.parameters if re.fullmatch(r"\w+", p.name)]
    known = "".join(f"param {p.name} in {p.si_unit} ;" for p in plain)
    try:
        (law,) = parse(f"{known}law formula({', '.join(arguments)}) = {formula} ;").laws
    except LanguageError as problem:
        raise CommandError(f"{place}: '{formula}' cannot be read: {problem.diagnostics[0].message}") from problem
    return _with_symbols_of(mechanism, law)


def _with_symbols_of(mechanism: Mechanism, law: Law) -> Law:
    """The law with the mechanism's own symbols in place of those of the same name."""
    from torseur.algebra.graph import substitute, symbols_of

    own = {p.name: p.symbol for p in mechanism.parameters}
    used = {x: own[str(x.name)] for x in symbols_of([law.formula]) if x.name in own and x not in law.arguments}
    (formula,) = substitute([law.formula], used)
    return replace(law, formula=formula)


def contacts(tree: Tree, bounds: Sequence[str] | None, restitution: float) -> list[Impact]:
    """One contact per bound of a coordinate at which the mechanism rebounds, named after it."""
    return [_contact(tree, text, restitution) for text in bounds or ()]


def _contact(tree: Tree, text: str, restitution: float) -> Impact:
    from torseur.computation.simulation import Impact

    match = _BOUND.fullmatch(text)
    if match is None:
        raise CommandError(f"--contact {text}: expected a bound of a coordinate, such as 'q <= 60 deg'.", USAGE)
    name, sign, limit = match.groups()
    coordinates = dict(zip(tree.layout.coordinate_names, tree.layout.coordinates, strict=True))
    if name not in coordinates:
        raise CommandError(unknown_name("coordinate", name, coordinates, f"--contact {text}: "))
    value, unit = quantity(limit, name)
    if unit is not None and parse_unit(unit)[1] != parse_unit(coordinates[name].data.unit)[1]:
        raise CommandError(f"--contact {text}: '{name}' is measured in {coordinates[name].data.unit}.")
    gap = coordinates[name] - value if sign == ">=" else value - coordinates[name]
    return Impact(text, gap, restitution)


def si_number(option: str, text: str, unit: str) -> float:
    """A number in SI, or a quantity with its unit."""
    # "155 mm" and "155mm", as people write it.
    written = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", text, re.ASCII | re.DOTALL)
    if written is None:
        raise CommandError(f"{option} {text}: expected a number with a unit, such as 1.78 {unit}.", USAGE)
    value, spelled = float(written[1]), written[2]
    return float(in_si(value, spelled)) if spelled else value
