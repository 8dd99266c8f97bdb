"""How many constraints are independent along the motions of a mechanism.

At a single state the rank of C does not tell a configuration that is singular from constraints that always follow from
each other, nor a state beside the constraints from one on them. The rank at closed states does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from torseur.algebra.graph import Expr, as_expr, constant_value, evaluate, live_nodes
from torseur.computation.functions.row_units import rounded_parts, row_units
from torseur.derivation.equations.equations import Equations
from torseur.derivation.loops.assembly.levenberg_marquardt import sparse_steps
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME

STARTS = 5
STEPS = 40
SPREAD = 0.4  # of starts about the initial state: rad, or lengths of the loops
CLOSED = 1e-8
TINY = 1e-13
LARGE = 40_000  # entries of C from which on its zeros are used
INDEPENDENT = 1e-5  # singular value, in units of the largest, above which one belongs to an independent constraint


def usual_rank(equations: Equations, kept: Sequence[Expr] | None = None) -> int | None:
    """The rank of C at closed states about the initial one, by the nominal values; None where none is found.

    `kept`, where given, are 1 for rows that an elimination takes to be independent and 0 for others: they are then
    counted, for large mechanisms of which no full matrix is to be made.
    """
    closing = _Closing(equations)
    if any(node.op == "apply" for node in live_nodes([*closing.rows, *closing.gaps])):
        return None
    # Coordinates of the initial state say which branch of the assembly is meant: a folded linkage has another rank.
    for is_free in (closing.is_open, np.ones(closing.shape[1])):
        states = closing.close(closing.starts(), is_free)
        if len(states):
            return closing.rank(states) if kept is None else closing.count(kept, states)
    return None


class _Closing:
    """The constraints of a mechanism as numbers, rows and residuals in units of what they can be."""

    def __init__(self, equations: Equations) -> None:
        layout, constraints = equations.layout, equations.constraints
        self.equations = equations
        self.shape = len(constraints), len(layout.speeds)
        entries = [as_expr(entry) for c in constraints for entry in c.row]
        self.places = [k for k, entry in enumerate(entries) if not entry.is_zero]
        self.rows = [entries[k] for k in self.places]
        self.gaps = [c.residual if c.is_holonomic else as_expr(0) for c in constraints]
        self.rates = [as_expr(rate) for rate in equations.rates]
        given = {p.name: p.value for p in equations.mechanism.parameters if p.value is not None}
        self.values = {p: constant_value(as_expr(given.get(str(p.name), 1.0))) for p in layout.parameters} | {TIME: 0.0}
        constant = [[float(constant_value(u)) for u in units if u.is_constant] for units in row_units(equations)]
        self.sizes = np.array([max(units, default=0.0) or 1.0 for units in constant])
        self.rounded = max(rounded_parts(equations), default=0.0)
        self.quaternions = [
            [layout.coordinates.index(x) for x in link.symbols.quaternion]
            for link in equations.tree.links
            if link.symbols.quaternion
        ]

    @cached_property
    def initial(self) -> dict[str, float]:
        names = self.equations.layout.coordinate_names
        given = {name: value for name, value in self.equations.mechanism.initial if name in names}
        formulas = resolve(self.equations.mechanism, dict(self.equations.tree.definitions), list(given.values()))
        return {name: float(x) for name, x in zip(given, evaluate(formulas, self.values), strict=True)}

    @property
    def is_open(self) -> np.ndarray:
        """1 for speeds of joints of which no coordinate has an initial value, else 0."""
        free = np.ones(self.shape[1])
        for link in self.equations.tree.links:
            if any(str(x.name) in self.initial for x in link.symbols.coordinates):
                free[link.v] = 0.0
        return free

    def starts(self) -> np.ndarray:
        """The initial state, then states about it: one in each row."""
        middle = np.array([self.initial.get(name, 0.0) for name in self.equations.layout.coordinate_names])
        for slots in self.quaternions:
            middle[slots[0]] += float(not middle[slots].any())
        moves = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (STARTS, len(middle)))
        moves[0] = 0.0
        return self._normalise(middle + moves)

    def of(self, expressions: list[Expr], q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Values at all states: one row each."""
        layout = self.equations.layout
        state = dict(zip((*layout.coordinates, *layout.speeds), [*q.T, *v.T], strict=True))
        with np.errstate(all="ignore"):  # a start may be where a formula has no value: it is then not closed
            values = evaluate(expressions, self.values | state)
        return np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(q)) for x in values], axis=-1)

    def residuals_and_rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and rows of C at all states."""
        values = self.of([*self.gaps, *self.rows], q, np.zeros((len(q), self.shape[1])))
        rows = np.zeros((len(q), self.shape[0] * self.shape[1]))
        rows[:, self.places] = values[:, self.shape[0] :]
        return values[:, : self.shape[0]] / self.sizes, rows.reshape(-1, *self.shape) / self.sizes[:, None]

    def close(self, q: np.ndarray, is_free: np.ndarray) -> np.ndarray:
        """The states that steps of Levenberg and Marquardt close."""
        closed = max(CLOSED, self.rounded)
        done = np.zeros((0, q.shape[1]))
        for _ in range(STEPS):
            gaps, rows = self.residuals_and_rows(q)
            # Damping by the square of the residual converges quadratically, also where rows follow from others
            # (Yamashita and Fukushima 2001).
            damping = np.sum(gaps * gaps, axis=1)
            is_done = damping < closed * closed
            done = np.concatenate([done, q[is_done]])
            if np.all(is_done) or not is_free.any():
                break
            q, gaps, rows, damping = q[~is_done], gaps[~is_done], rows[~is_done] * is_free, damping[~is_done]
            least = max(TINY, self.rounded * self.rounded)
            moves = (sparse_steps if rows[0].size > LARGE else _moves)(rows, gaps, damping + least)
            longest = np.abs(moves).max(axis=1, keepdims=True)
            q = self._normalise(q + self.of(self.rates, q, moves / np.maximum(1.0, longest)))
        return done

    def _normalise(self, q: np.ndarray) -> np.ndarray:
        for slots in self.quaternions:
            q[:, slots] /= np.linalg.norm(q[:, slots], axis=1, keepdims=True)
        return q

    def count(self, kept: Sequence[Expr], q: np.ndarray) -> int:
        """The largest of the numbers of rows kept at some states."""
        return int(np.rint(np.nansum(self.of(list(kept), q, np.zeros((len(q), self.shape[1]))), axis=1)).max())

    def rank(self, q: np.ndarray) -> int:
        """The largest of the ranks at some states."""
        values = np.linalg.svd(self.residuals_and_rows(q)[1], compute_uv=False)
        limits = max(INDEPENDENT, 2 * self.rounded) * np.maximum(1.0, values.max(axis=1, keepdims=True))
        return int(np.sum(values > limits, axis=1).max())


def _moves(rows: np.ndarray, gaps: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """-Cᵀ (C Cᵀ + λ)⁻¹ of the gaps, for every state."""
    square = rows @ rows.transpose(0, 2, 1) + damping[:, None, None] * np.eye(rows.shape[1])
    moves: np.ndarray = -(rows.transpose(0, 2, 1) @ np.linalg.solve(square, gaps[..., None]))[..., 0]
    return moves
