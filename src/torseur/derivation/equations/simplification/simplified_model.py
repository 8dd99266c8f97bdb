"""Simplified equations as a mechanism of states alone, which computes with the terms that are left and no others.

A mechanism with bodies is computed along its tree in many places, each of which would bring dropped terms back. States
with equations of their own have no tree: motions, derivatives, sweeps, code and reports all see what is printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, evaluate, substitute
from torseur.algebra.graph.scalar import sqrt
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.simplification.constrained_model import (
    GAP,
    KEPT,
    ClosedStart,
    constraint_rows,
    impulses,
    kept_constraints,
)
from torseur.derivation.equations.simplification.state_box import Box
from torseur.derivation.tree import resolve
from torseur.description.mechanism import Mechanism, State
from torseur.errors import UnsupportedError

RATE = "_rate"
SINGULAR = 1e-9  # least pivot of M against its largest entry of the same row
SAMPLES = 64


def state_names(equations: Equations) -> dict[Expr, State]:
    """The states of the model: coordinates by their names, the speed q1' as q1_rate."""
    layout = equations.layout
    taken = {str(x.name) for x in (*layout.coordinates, *layout.parameters)}
    named: dict[Expr, State] = {q: State(str(q.name), q.data.unit, q.data.meaning) for q in layout.coordinates}
    for v in layout.speeds:
        name = str(v.name)
        bare = name.rstrip("'").replace(".", "_")
        own = f"{bare}{RATE}" if name.endswith("'") else bare
        named[v] = State(own if own not in taken else f"{own}_", v.data.unit, f"speed {name}")
    return named


def in_states(equations: Equations, formulas: Sequence[Expr]) -> list[Expr]:
    """Formulas of the complete equations in the symbols of the model: speeds and accelerations are those of states."""
    layout = equations.layout
    states = state_names(equations)
    moved: dict[Expr, Expr] = {x: state.symbol for x, state in states.items()}
    moved |= {a: states[v].rate for v, a in zip(layout.speeds, layout.accelerations, strict=True)}
    return substitute(list(formulas), moved)


def state_model(equations: Equations, residual: Sequence[Expr], box: Box) -> Mechanism:
    """The mechanism of states that obeys these rows in place of those of the complete equations."""
    mechanism, layout = equations.mechanism, equations.layout
    if mechanism.contacts:
        raise UnsupportedError(
            f"'{mechanism.name}' has stops, dry friction or contacts, which states alone do not have."
        )
    states = state_names(equations)
    initial = _initial(equations, states)
    rows, forces, unknowns, checks = list(residual), {}, [], []
    if equations.constraints:
        start = ClosedStart(equations, _values(equations, box))
        forces = impulses(equations, start.independent_rows)
        initial = {states[x].name: value for x, value in start.initial().items()}
        rows += constraint_rows(start)
        _require_solvable(start, rows, list(forces))
        unknowns, checks = [GAP, KEPT], kept_constraints(start)
        initial |= {GAP.name: as_expr(0), KEPT.name: as_expr(1)}
    else:
        _require_regular(equations, residual, box)
    rates = in_states(equations, equations.rates)
    own = [
        State(states[q].name, states[q].unit, states[q].meaning, rate)
        for q, rate in zip(layout.coordinates, rates, strict=True)
    ]
    none = {x: as_expr(0) for x in equations.multipliers}  # of constraints that follow from others
    multipliers = {x: state.rate for x, state in forces.items()}
    return Mechanism(
        f"{mechanism.name}_simplified",
        parameters=mechanism.parameters,
        laws=mechanism.laws,
        initial=initial,
        states=[*own, *(states[v] for v in layout.speeds), *forces.values(), *unknowns],
        state_equations=in_states(equations, substitute([*rows, *checks], none | multipliers)),
        meaning=f"{mechanism.meaning or mechanism.name}, simplified",
    )


def _initial(equations: Equations, states: Mapping[Expr, State]) -> dict[str, Expr]:
    """The initial values, by the names of states."""
    mechanism, layout = equations.mechanism, equations.layout
    names = {str(x.name): states[x].name for x in (*layout.coordinates, *layout.speeds)}
    formulas = resolve(mechanism, equations.tree.definitions, [value for _, value in mechanism.initial])
    given = dict(zip((name for name, _ in mechanism.initial), map(as_expr, formulas), strict=True))
    if unknown := [name for name in given if name not in names]:
        raise UnsupportedError(
            f"'{mechanism.name}' starts with '{unknown[0]}', a rate that is not a speed: give the speeds "
            f"({', '.join(layout.speed_names)}) in `init`, and the simplified model starts with them."
        )
    given |= _whole_quaternions(equations, given)
    return {names[name]: value for name, value in given.items()}


def _whole_quaternions(equations: Equations, given: Mapping[str, Expr]) -> dict[str, Expr]:
    """The components of every quaternion: no rotation where nothing is given, length one where all are."""
    whole: dict[str, Expr] = {}
    for link in equations.tree.links:
        components = [str(x.name) for x in link.symbols.quaternion or ()]
        stated = [name for name in components if name in given]
        if components and not stated:
            whole |= {name: as_expr(int(k == 0)) for k, name in enumerate(components)}
        elif len(stated) == len(components):
            length = sqrt(sum((given[name] * given[name] for name in components), as_expr(0)))
            whole |= {name: as_expr(given[name] / length) for name in components}
        elif stated:
            missing = ", ".join(name for name in components if name not in given)
            raise UnsupportedError(
                f"'{equations.mechanism.name}' starts with a part of a quaternion: give {missing} too, and the "
                "simplified model starts with it."
            )
    return whole


def _values(equations: Equations, box: Box) -> dict[Expr, float]:
    """The parameters' numbers: that of the box where it has one, or else that of the description, or the middle."""
    own = {str(p.name): p.value for p in equations.mechanism.parameters}
    values = {}
    for x in equations.layout.parameters:
        span, given = box.ranges[x], own.get(str(x.name))
        is_inside = given is not None and given.is_constant and span.low <= float(given.value) <= span.high
        values[x] = float(given.value) if given is not None and is_inside else span.middle
    return values


def _require_solvable(start: ClosedStart, rows: Sequence[Expr], multipliers: Sequence[Expr]) -> None:
    """Refuses rows that do not determine accelerations and multipliers where the motion starts."""
    unknowns = [*start.equations.layout.accelerations, *multipliers]
    entries = [entry for row in dense_jacobian(list(rows), unknowns) for entry in row]
    matrix = start.numbers(entries).reshape(len(rows), len(unknowns))
    # Rows, columns, and rows again: a few rounds bring a matrix of mixed units to entries of about one.
    for k in range(3):  # of rows and columns in their own units
        matrix = matrix / np.maximum(np.abs(matrix).max(axis=(k + 1) % 2, keepdims=True), 1e-300)
    if np.linalg.svd(matrix, compute_uv=False)[-1] < SINGULAR:
        raise UnsupportedError(
            f"the simplified equations of '{start.equations.mechanism.name}' do not determine its accelerations and "
            "multipliers where it starts: take a smaller tolerance, larger accelerations in the box, or another start."
        )


def _require_regular(equations: Equations, residual: Sequence[Expr], box: Box) -> None:
    """Refuses rows that no longer determine every acceleration."""
    speeds, accelerations = equations.layout.speed_names, equations.layout.accelerations
    entries = [entry for row in dense_jacobian(list(residual), accelerations) for entry in row]
    n = len(speeds)
    samples = box.samples(SAMPLES)
    values = [np.broadcast_to(np.asarray(x, dtype=float), (SAMPLES,)) for x in evaluate(entries, samples)]
    matrices = np.stack(values, axis=1).reshape(SAMPLES, n, n)
    for row, name in enumerate(speeds):
        if not np.any(matrices[:, row]):
            raise UnsupportedError(
                f"no acceleration is left in the equation along {name.rstrip(chr(39))}: in this box its terms are "
                "below the tolerance, and the model would be no differential equation. Take a smaller tolerance, or "
                "larger accelerations in the box."
            )
    scaled = matrices / np.abs(matrices).max(axis=2, keepdims=True)
    if np.linalg.svd(scaled, compute_uv=False)[:, -1].min() < SINGULAR:
        raise UnsupportedError(
            f"the simplified mass matrix of '{equations.mechanism.name}' is singular in the box: take a smaller "
            "tolerance."
        )
