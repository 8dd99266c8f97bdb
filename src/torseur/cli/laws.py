"""Formulas for undetermined functions: `--law 'bras.fs(x, v) = -3*x - 0.1*v'`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from torseur.cli.exits import USAGE, CommandError
from torseur.errors import unknown_name
from torseur.graph import Expr, UndeterminedFunction, live_nodes
from torseur.mechanism import Law, Mechanism
from torseur.tree.flatten import flatten

_CALL = re.compile(r"\s*([\w.]+)\s*\(([^()]*)\)\s*")


def with_laws(mechanism: Mechanism, formulas: Mapping[str, str]) -> Mechanism:
    """The mechanism with the functions it leaves open given by formulas of their arguments and of its parameters."""
    if not formulas:
        return mechanism
    open_functions = _undetermined(mechanism)
    laws = [_law(mechanism, call, formula, open_functions) for call, formula in formulas.items()]
    return replace(mechanism, laws=(*mechanism.laws, *laws))


def _undetermined(mechanism: Mechanism) -> dict[str, UndeterminedFunction]:
    known = {law.name for law in mechanism.laws}
    leaves = [leaf for leaf in flatten(list(mechanism.loads)) if isinstance(leaf, Expr)]
    found = [node.data.function for node in live_nodes(leaves) if node.op == "apply"]
    return {function.name: function for function in found if function.name not in known}


def _law(mechanism: Mechanism, call: str, formula: str, open_functions: Mapping[str, UndeterminedFunction]) -> Law:
    match = _CALL.fullmatch(call)
    if match is None:
        expected = "expected FUNCTION(ARGUMENTS)=FORMULA, such as 'f(x, v)=-3*x'"
        raise CommandError(f"--law {call}={formula}: {expected}.", USAGE)
    name, arguments = match[1], [a.strip() for a in match[2].split(",") if a.strip()]
    if name not in open_functions:
        raise CommandError(unknown_name("undetermined function", name, open_functions))
    function = open_functions[name]
    if len(arguments) != function.arity:
        raise CommandError(f"--law {call}: {name} takes {function.arity} arguments, got {len(arguments)}.")
    read = _read(mechanism, arguments, formula, name)
    return Law(function, read.arguments, read.formula)


def _read(mechanism: Mechanism, arguments: list[str], formula: str, name: str) -> Law:
    """The formula, read by the language beside the mechanism's own parameters."""
    from torseur.language import LanguageError, parse

    plain = [p for p in mechanism.parameters if re.fullmatch(r"\w+", p.name)]
    known = "".join(f"param {p.name} in {p.si_unit} ;" for p in plain)
    try:
        (law,) = parse(f"{known}law formula({', '.join(arguments)}) = {formula} ;").laws
    except LanguageError as problem:
        raise CommandError(f"--law {name}: '{formula}' cannot be read: {problem.diagnostics[0].message}") from problem
    return _with_symbols_of(mechanism, law)


def _with_symbols_of(mechanism: Mechanism, law: Law) -> Law:
    """The law with the mechanism's own symbols in place of those of the same name."""
    from torseur.graph import substitute, symbols_of

    own = {p.name: p.symbol for p in mechanism.parameters}
    used = {x: own[str(x.name)] for x in symbols_of([law.formula]) if x.name in own and x not in law.arguments}
    (formula,) = substitute([law.formula], used)
    return replace(law, formula=formula)
