"""A straight-line program as lines to read: intermediates by name, in the order they are computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from torseur.graph import Expr, Program
from torseur.report.expression import Name, Node
from torseur.report.reading.read_graph import Names, as_it_stands, named, tidied
from torseur.report.symbols import symbol

SHORT = 2  # operations that may be repeated rather than named
LONG = 12  # operations after which a line is broken by a name
_FREE = {"neg"}


@dataclass(frozen=True)
class Line:
    """left = right."""

    left: Name
    right: Node


def lines(program: Program, results: dict[str, list[str]] | None = None) -> list[Line]:
    """The program with every labelled node, every long repeated one and every result on a line of its own.

    `results` names the entries of an output; otherwise they are numbered.
    """
    names = _names(program)
    listed = [Line(named(names[node]), tidied(node, names)) for node in program.operations if node in names]
    for output in program.outputs:
        listed += _results(output.name, output.entries, names, results)
    return listed


def _results(name: str, entries: tuple[Expr, ...], names: Names, given: dict[str, list[str]] | None) -> list[Line]:
    labels = (given or {}).get(name) or [f"{name}_{k + 1}" for k in range(len(entries))]
    return [Line(named(label), _result(entry, names)) for label, entry in zip(labels, entries, strict=True)]


def _result(entry: Expr, names: Names) -> Node:
    return as_it_stands(entry, names) if entry in names or not entry.args else tidied(entry, names)


def _names(program: Program) -> dict[Expr, str]:
    """Names of the nodes that get a line: labels, made unique, and numbered names for what else is used again."""
    given = {node for group in program.inputs for node in group.nodes}
    results = {entry for output in program.outputs for entry in output.entries}
    uses = Counter(a for node in program.operations for a in node.args)
    taken = {str(node.name) for node in program.nodes if node.op == "symbol"}
    letter = _free_letter(taken)
    names: dict[Expr, str] = {}
    lengths: dict[Expr, int] = {}
    for node in program.operations:
        length = (node.op not in _FREE) + sum(lengths.get(a, 0) for a in node.args if a not in names and a not in given)
        lengths[node] = length
        repeated = uses[node] > 1 and length > SHORT
        if node.label or repeated or (length > LONG and node not in results):
            names[node] = _unique(node.label or letter, taken, numbered=node.label is None)
    return names


def _free_letter(names: set[str]) -> str:
    """A letter that no quantity is written with."""
    used = {symbol(name).base for name in names}
    return next((letter for letter in "ezhpuwn" if letter not in used), "aux")


def _unique(label: str, taken: set[str], numbered: bool) -> str:
    """The label itself, or with the first free number."""
    count = 1
    name = f"{label}_{count}" if numbered else label
    while name in taken:
        count += 1
        name = f"{label}_{count}"
    taken.add(name)
    return name
