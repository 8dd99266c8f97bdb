"""Laws and parameters that a user defined by formulas, kept by their names in the equations that people read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torseur.algebra.graph import Expr, live_nodes, symbols_of
from torseur.derivation.tree import Tree, build_tree
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.unknowns import algebraic_states
from torseur.description.mechanism import Law, Mechanism, Parameter


def with_named_formulas(tree: Tree) -> Tree:
    """The tree in which laws are open functions and parameters given by formulas are symbols, where that is safe.
    So are algebraic unknowns, whose equations are read as they stand.

    A law that joints or constraints use is differentiated: its formula may then hold nothing but its arguments and
    parameters. Dimensions of a mechanism with constraints are put in, because loops close by what they are.
    """
    mechanism = tree.mechanism
    laws, parameters = named_laws(mechanism), named_parameters(mechanism)
    unknowns = {str(z.name): z for z in algebraic_states(mechanism)}
    if not laws and not parameters and not unknowns:
        return tree
    kept = {law.name for law in laws}
    opened = {parameter.name for parameter in parameters}
    return build_tree(
        replace(
            mechanism,
            laws=tuple(law for law in mechanism.laws if law.name not in kept),
            parameters=tuple(replace(p, value=None) if p.name in opened else p for p in mechanism.parameters),
            states=tuple(state for state in mechanism.states if state.name not in unknowns),
            state_equations=tuple(e for e in mechanism.state_equations if e not in unknown_equations(mechanism)),
            initial=tuple((name, value) for name, value in mechanism.initial if name not in unknowns),
        )
    )


def unknown_equations(mechanism: Mechanism) -> list[Expr]:
    """The equations that determine algebraic unknowns: those that hold no rate of a state without a formula."""
    unknowns = algebraic_states(mechanism)
    rates = {s.rate for s in mechanism.states if s.formula is None and s.symbol not in unknowns}
    return [e for e in mechanism.state_equations if unknowns and not rates & set(symbols_of([e]))]


def named_laws(mechanism: Mechanism) -> list[Law]:
    """The laws that equations mention by name, in the order of the description."""
    differentiated = _laws_of([mechanism.joints, mechanism.constraints, mechanism.gravity], mechanism.laws)
    plain = {p.symbol for p in mechanism.parameters}
    moving = {
        law.name
        for law in mechanism.laws
        if law.name in differentiated and not set(symbols_of([law.formula])) <= {*plain, *law.arguments}
    }
    # What such a law calls is put in with it.
    inner = _laws_of([law.formula for law in mechanism.laws if law.name in moving], mechanism.laws)
    return [law for law in mechanism.laws if law.name not in moving | inner]


def named_parameters(mechanism: Mechanism) -> list[Parameter]:
    """The parameters given by formulas of others that equations mention by name."""
    dependent = [p for p in mechanism.parameters if p.value is not None and symbols_of([p.value])]
    constrained = bool(mechanism.constraints) or len(mechanism.joints) > len(mechanism.bodies)
    if not constrained:
        return dependent
    placed = [mechanism.joints, mechanism.constraints, mechanism.frames, [body.iframe for body in mechanism.bodies]]
    geometry = set(symbols_of(_formulas(placed)))
    return [p for p in dependent if p.symbol not in geometry]


def _laws_of(things: Any, laws: Iterable[Law]) -> set[str]:
    """Names of the laws that formulas call, and of those that these call."""
    by_name = {law.name: law for law in laws}
    waiting, called = _formulas(things), set[str]()
    while waiting:
        names = {node.data.function.name for node in live_nodes(waiting) if node.op == "apply"}
        new = sorted((names & by_name.keys()) - called)
        called |= set(new)
        waiting = [by_name[name].formula for name in new]
    return called


def _formulas(things: Any) -> list[Expr]:
    return [leaf for leaf in flatten(things) if isinstance(leaf, Expr)]
