"""A system made ready for the implicit method: its compile-time numbers and its Jacobian."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torseur.algebra.graph import Program, jacobian, live_nodes, matrix, substitute, symbol
from torseur.algebra.graph.program import Input
from torseur.computation.simulation.implicit.exact_jacobian import mechanism_jacobian
from torseur.computation.simulation.implicit.jacobian_differences import difference_jacobian
from torseur.computation.simulation.model.system import System

STAGES = {"radau5": 3, "radau9": 5}


def implicit_statics(system: System, method: str) -> dict[str, int]:
    """Numbers of stages and equations, and the room they take."""
    states, half = len(system.states), is_second_order(system)
    equations = states - system.coordinates if half else states
    return {"NS": STAGES[method], "NE": equations, "HALF": int(half), "NJ": states}


def is_second_order(system: System) -> bool:
    """Whether the rates of the coordinates are the speeds themselves, in order."""
    if system.programs is not None:
        return system.programs.is_plain
    if not isinstance(system.rhs, Program) or 2 * system.coordinates != len(system.states):
        return False
    return system.rhs.outputs[0].entries[: system.coordinates] == system.rhs.input("y").nodes[system.coordinates :]


def implicit_externals(system: System) -> dict[str, Any]:
    """The Jacobian of the right-hand side: exact, or by differences where it calls Python functions of the state."""
    if not isinstance(system.rhs, Program) or _has_laws_of_the_state(system, system.rhs):
        return {"rhs_jacobian": difference_jacobian}
    if system.programs is not None:
        linearised = system.programs.linearised
        if system.constrained is not None and system.constrained.is_recursive:
            # M and C have factors of their own there.
            linearised = replace(linearised, outputs=linearised.outputs[2:])
            own = system.programs.elimination.externals
            return {"rhs_jacobian": mechanism_jacobian, "linearised": linearised, **own}
        return {"rhs_jacobian": mechanism_jacobian, "linearised": linearised}
    return {"rhs_jacobian": _program_jacobian(system, system.rhs)}


def _has_laws_of_the_state(system: System, rhs: Program) -> bool:
    arguments = [argument for law in system.laws for argument in law.node.args]
    return not set(rhs.input("y").nodes).isdisjoint(live_nodes(arguments))


def _program_jacobian(system: System, rhs: Program) -> Program:
    nodes = rhs.input("y").nodes
    laws = {law.node: symbol(f"law {k}", "1") for k, law in enumerate(system.laws)}
    first = system.coordinates if is_second_order(system) else 0
    partials = jacobian(substitute(rhs.outputs[0].entries[first:], laws), nodes)
    rows = [[partials.get((i, j), 0) for j in range(len(nodes))] for i in range(len(nodes) - first)]
    inputs = [Input("u", tuple(laws.values())) if group.name == "u" else group for group in rhs.inputs]
    return Program("rhs_jacobian", tuple(inputs), (matrix("jacobian", rows),))
