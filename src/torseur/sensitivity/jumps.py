"""Jumps of the state at events, and what they do to its changes.

With event function g, rules y₊ = R(t, y, p) and slopes f₋, f₊ before and after,

    dt = -(g_y u + g_p) / (g_y f₋ + g_t),   u₊ = R_y u + R_p + (R_y f₋ + R_t - f₊) dt
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.graph import Expr, Program, as_expr, jacobian, matrix, vector
from torseur.mechanism import TIME
from torseur.sensitivity.formulas import read_formula
from torseur.sensitivity.variation import Variation
from torseur.simulation import memory
from torseur.simulation.evaluation import Evaluator
from torseur.simulation.integrator import Memory
from torseur.simulation.system import Vector


@dataclass(frozen=True)
class Jump:
    """Where the formula `when` changes sign, states take new values: {"z'": "-e * z'"} is a bounce.

    `direction` +1 or -1 asks for rising or falling changes of sign. Formulas are in the names of the mechanism.
    """

    when: str
    becomes: Mapping[str, str]
    direction: int = 0

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise TorseurError(f"jump where {self.when} = 0: direction is {self.direction}, expected -1, 0 or 1.")


@dataclass(frozen=True, eq=False)
class JumpRules:
    """A jump with its formulas read: its event function and the new states."""

    jump: Jump
    variation: Variation
    when: Expr
    rules: tuple[Expr, ...]

    @cached_property
    def evaluator(self) -> Evaluator:
        """g, R, the slopes f, and all derivatives of g and R by states, parameters and time."""
        variation, formulas = self.variation, [self.when, *self.rules]
        by_time = jacobian(formulas, [TIME])
        outputs = (
            vector("values", formulas),
            matrix("by_states", variation.by_states(formulas)),
            matrix("by_parameters", variation.by_parameters(formulas)),
            vector("by_time", [by_time.get((k, 0), as_expr(0)) for k in range(len(formulas))]),
            vector("slopes", list(variation.rhs.outputs[0].entries)),
            vector("integrands", list(variation.integrands)),
        )
        return Evaluator(Program("jump", variation.rhs.inputs, outputs))

    def at(self, t: float, y: Vector) -> dict[str, Vector]:
        values = {"t": [t], "y": y.tolist(), "p": list(self.variation.system.values)}
        return self.evaluator({group.name: values[group.name] for group in self.variation.rhs.inputs})

    def applied(self, t: float, x: Vector, u: Vector) -> tuple[Vector, Vector]:
        """x and u after the jump."""
        states = len(self.variation.states)
        before = self.at(t, x[:states])
        by_states, by_parameters = before["by_states"], before["by_parameters"]
        rate = by_states[0] @ before["slopes"] + before["by_time"][0]
        later = -(by_states[0] @ u[:states] + by_parameters[0]) / rate
        new, changes = x.copy(), u.copy()
        new[:states] = before["values"][1:]
        after = self.at(t, new[:states])
        moved = by_states[1:] @ before["slopes"] + before["by_time"][1:] - after["slopes"]
        changes[:states] = by_states[1:] @ u[:states] + by_parameters[1:] + np.outer(moved, later)
        changes[states:] = u[states:] + np.outer(before["integrands"] - after["integrands"], later)
        return new, changes

    def back(self, t: float, x: Vector, weights: Vector, pbar: Vector) -> tuple[Vector, Vector]:
        """Weights before the jump (a row per criterion), from those after it; x is the state before."""
        states = len(self.variation.states)
        before = self.at(t, x[:states])
        after = self.at(t, before["values"][1:])
        by_states, by_parameters = before["by_states"], before["by_parameters"]
        rate = by_states[0] @ before["slopes"] + before["by_time"][0]
        moved = by_states[1:] @ before["slopes"] + before["by_time"][1:] - after["slopes"]
        later = weights[:, :states] @ moved + weights[:, states:] @ (before["integrands"] - after["integrands"])
        result = weights.copy()
        result[:, :states] = weights[:, :states] @ by_states[1:] - np.outer(later / rate, by_states[0])
        own = weights[:, :states] @ by_parameters[1:] - np.outer(later / rate, by_parameters[0])
        return result, pbar + own


def read_jump(jump: Jump, variation: Variation) -> JumpRules:
    """The jump with its names settled."""
    system = variation.system
    if system.constrained is not None:
        raise UnsupportedError(f"{system.name} is constrained: jumps of its state are not available in sensitivities.")
    names = [quantity.name for quantity in system.states]
    for name in jump.becomes:
        if name not in names:
            raise TorseurError(unknown_name("state", name, names, f"jump where {jump.when} = 0: "))
    rules = [
        read_formula(jump.becomes[name], system).value if name in jump.becomes else node
        for name, node in zip(names, variation.states, strict=True)
    ]
    return JumpRules(jump, variation, read_formula(jump.when, system).value, tuple(rules))


@dataclass(frozen=True, eq=False)
class Landing:
    """A jump that happened: by which rules, when, and from which x."""

    rules: JumpRules
    t: float
    x: Vector


@dataclass
class Jumps:
    """Changes x, and u where it is carried along, where the loop stopped; jumps come first among its events."""

    rules: Sequence[JumpRules]
    landings: list[Landing] = field(default_factory=list)

    def apply(self, work: Memory) -> bool:
        t = float(work.clock[memory.TIME])
        fired = [int(mark[1]) for mark in work.kept_marks[-1] if mark[0] == t and int(mark[1]) < len(self.rules)]
        for k in fired:
            variation = self.rules[k].variation
            size = variation.size
            x, columns = work.y[:size].copy(), variation.columns if len(work.y) > size else 0
            self.landings.append(Landing(self.rules[k], t, x))
            u = work.y[size:].reshape(size, columns) if columns else np.zeros((size, variation.columns))
            x, u = self.rules[k].applied(t, x, u)
            work.y[:] = np.concatenate([x, u.ravel()])[: len(work.y)]
            work.limits[k], work.sides[k] = 1, 0
        return True
