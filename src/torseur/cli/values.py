"""Values from the command line and from files: `--set 'r2=500 mm'`, `--init q1=45deg`, `--values study.toml`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torseur.cli.exits import USAGE, CommandError
from torseur.errors import nearest, unknown_name
from torseur.language.quantities import quantity
from torseur.mechanism.units import kind_of, parse_unit
from torseur.tree import Tree

TABLES = ("parameters", "initial", "laws")


@dataclass(frozen=True)
class Values:
    """Parameters and initial state in SI by name, and the formulas of undetermined functions as written."""

    parameters: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)


def read_values(tree: Tree, settings: Iterable[str] | None, starts: Iterable[str] | None, file: Path | None) -> Values:
    """Values for a mechanism: those of the file, then those of the command line."""
    tables = _tables(file) if file is not None else {}
    parameters = {**tables.get("parameters", {}), **_pairs("--set", settings)}
    initial = {**tables.get("initial", {}), **_pairs("--init", starts)}
    units = {str(p.name): p.data.unit for p in tree.layout.parameters}
    layout = tree.layout
    states = {str(x.name): x.data.unit for x in (*layout.coordinates, *layout.rates, *layout.speeds)}
    _refuse_dependent(tree, parameters)
    return Values(
        {name: _checked("parameter", name, value, units) for name, value in parameters.items()},
        {name: _checked("coordinate or speed", name, value, states) for name, value in initial.items()},
    )


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
        return json.loads(file.read_text(encoding="utf-8"))
    import tomllib

    return tomllib.loads(file.read_text(encoding="utf-8"))


def _refuse_dependent(tree: Tree, parameters: Mapping[str, Any]) -> None:
    for symbol, formula in tree.definitions.items():
        if symbol.name in parameters:
            raise CommandError(f"parameter '{symbol.name}' follows from others ({formula}) and cannot be set alone.")


def _checked(kind: str, name: str, given: Any, units: Mapping[str, str]) -> float:
    """The value in SI; raises when the name is unknown or the unit does not fit."""
    if name not in units:
        raise CommandError(_unknown(kind, name, units))
    value, unit = quantity(given, name)
    wanted = parse_unit(units[name])[1]
    found = None if unit is None else parse_unit(unit)[1]
    if found is not None and found != wanted:
        expected = units[name] if units[name] != "1" else "a plain number"
        raise CommandError(f"{name}={given}: expected a {kind_of(wanted)} ({expected}), got a {kind_of(found)}.")
    return value


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    listing = ", ".join(names) if names else "none"
    guess = nearest(name, names)
    hint = f" Did you mean '{guess}'?" if guess else ""
    return f"unknown {kind} '{name}'. There are: {listing}.{hint}"
