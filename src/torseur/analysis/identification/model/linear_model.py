"""Forces linear in the parameters: τ = Y(q, v, v̇) π - Q for any mechanism, with loops through their projector.

Y has one column per parameter, Q are the loads that are known. Where loops or constraints tie the speeds, v = N z, the
equations that remain are Nᵀ τ = Nᵀ (Y π - Q): the multipliers do no work along N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, Input, Program, as_expr, evaluate, symbols_of, vector
from torseur.algebra.spatial import Scalar
from torseur.analysis.identification.model.columns import (
    FORCE_LAWS,
    Column,
    Extras,
    force_law_column,
    inertia_columns,
    payload_map,
)
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine, compile_routine
from torseur.computation.simulation.output.along_motion import outputs_along
from torseur.derivation.dynamics import regressor
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import Tree
from torseur.description.mechanism import TIME, Frame, Mechanism, require_smooth
from torseur.errors import IdentificationError, unknown_name


def given_values(tree: Tree, changes: Mapping[str, float] | None = None) -> dict[str, float]:
    """Parameters by name in SI: those of the description with the changes; those that nobody gave are left out."""
    known = tree.layout.parameter_names
    values = {
        p.name: float(evaluate([p.value], {})[0])
        for p in tree.mechanism.parameters
        if p.value is not None and p.name in known
    }
    for name in changes or {}:
        if name not in known:
            raise IdentificationError(unknown_name("parameter", name, known))
    return values | dict(changes or {})


CARRIED = ("inertia", "payload")


@dataclass(frozen=True, eq=False)
class LinearModel:
    """The regressor of a mechanism by columns, with everything that is not identified at its value.

    `rows` holds, per equation of motion, the entries that do not vanish: (column, expression). `payloads` are frames
    that carry unknown loads, `threshold` the speed below which Coulomb friction fades in.
    """

    equations: Equations
    columns: tuple[Column, ...]
    rows: tuple[tuple[tuple[int, Expr], ...], ...]
    known: tuple[Expr, ...]
    values: Mapping[str, float]
    backend: str = "auto"
    payloads: Mapping[str, Frame] = field(default_factory=dict)
    threshold: float = 0.0

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def is_constrained(self) -> bool:
        return self.equations.is_constrained

    @property
    def bodies(self) -> dict[str, slice]:
        """Where the ten parameters of each link and payload stand among the columns."""
        first: dict[str, int] = {}
        for number, column in enumerate(self.columns):
            if column.kind in CARRIED:
                first.setdefault(column.owner, number)
        return {owner: slice(start, start + 10) for owner, start in first.items()}

    def with_columns(self, kept: Sequence[int]) -> LinearModel:
        """The model of some of its columns only; the others count as zero."""
        place = {column: slot for slot, column in enumerate(kept)}
        rows = tuple(tuple((place[c], e) for c, e in row if c in place) for row in self.rows)
        return replace(self, columns=tuple(self.columns[c] for c in kept), rows=rows)

    @cached_property
    def offsets(self) -> list[int]:
        """Where each equation's entries begin in the evaluated rows; the known part stands last."""
        return [0, *np.cumsum([len(row) for row in self.rows]).tolist()]

    @cached_property
    def _along(self) -> CompiledRoutine:
        layout = self.equations.layout
        state = (*layout.coordinates, *layout.speeds, *layout.accelerations)
        entries = [e for row in self.rows for _, e in row] + list(self.known)
        program = Program(
            "regressor_along",
            (Input("t", (TIME,)), Input("y", state), Input("p", layout.parameters)),
            (vector("z", entries),),
        )
        return compile_routine(outputs_along, {"N": len(state), "NZ": len(entries)}, {"outputs": program}, self.backend)

    @cached_property
    def parameter_vector(self) -> Array:
        """Values of the layout's parameters; what regressor and constraints do not use is zero."""
        formulas = [e for row in self.rows for _, e in row] + list(self.known) + list(self.equations.rates)
        formulas += [e for c in self.equations.constraints for e in (c.residual, *c.row, c.drift, c.gamma)]
        used = {str(s.name) for s in symbols_of(formulas)}
        names = self.equations.layout.parameter_names
        missing = [name for name in names if name in used and name not in self.values]
        if missing:
            listing = ", ".join(f"'{name}'" for name in missing)
            raise IdentificationError(
                f"{self.equations.mechanism.name}: the regressor needs values of {listing}. Give them in the "
                "description, under [values] of a study, or as `parameters` in Python."
            )
        return np.array([self.values.get(name, 0.0) for name in names])

    def evaluate(self, time: Array, q: Array, v: Array, vdot: Array) -> Array:
        """The entries of `rows` and the known forces at every sample, one row each."""
        states = np.ascontiguousarray(np.hstack([q, v, vdot]))
        result = np.empty((len(time), self.offsets[-1] + len(self.known)))
        parameters = self.parameter_vector
        self._along(len(time), np.ascontiguousarray(time), states.ravel(), parameters, result.ravel())
        return result

    def matrix(self, q: Array, v: Array, vdot: Array, time: Array | None = None) -> Array:
        """Y at every sample, (samples, equations, columns), of the tree without its loops."""
        table = self.evaluate(np.zeros(len(q)) if time is None else time, q, v, vdot)
        Y = np.zeros((len(q), len(self.rows), len(self.columns)))
        for equation, row in enumerate(self.rows):
            Y[:, equation, [c for c, _ in row]] = table[:, self.offsets[equation] : self.offsets[equation + 1]]
        return Y


def linear_model(
    model: Mechanism | Equations,
    extras: Extras | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    loads: str = "known",
    backend: str = "auto",
) -> LinearModel:
    """The linear model of a mechanism: ten parameters per link, and those of `extras`.

    A link is named after the body that its joint carries; bodies fixed to it count in. loads="known" takes the loads of
    the description as they are; loads="measured" says that the measured forces contain them (servos, for instance).
    """
    equations = derive(model) if isinstance(model, Mechanism) else model
    require_smooth(equations.mechanism, "a linear model of its parameters")
    if loads not in ("known", "measured"):
        raise IdentificationError(f"loads are 'known' or 'measured', not '{loads}'.")
    tree, layout = equations.tree, equations.layout
    Y = regressor(tree, layout.coordinates, layout.speeds, layout.accelerations)
    columns = [column for link in tree.links for column in inertia_columns(link.name)]
    rows = [{c: as_expr(e) for c, e in enumerate(row) if not _vanishes(e)} for row in Y]
    # The links' ten columns first: payloads take theirs by number (10 · link + k).
    _add_extras(equations, extras or Extras(), columns, rows)
    whole = LinearModel(
        equations,
        tuple(columns),
        tuple(tuple(row.items()) for row in rows),
        _known_forces(equations, loads),
        given_values(tree, parameters),
        backend,
        {} if extras is None else extras.payloads,
        0.0 if extras is None else extras.threshold,
    )
    # A link without a body, as at a joint that closes a loop, has no mass to be found.
    bodies = {body.name for body in tree.mechanism.bodies}
    empty = {link.name for link in tree.links} - bodies
    return whole.with_columns([c for c, column in enumerate(columns) if column.owner not in empty]) if empty else whole


def _known_forces(equations: Equations, loads: str) -> tuple[Expr, ...]:
    if loads == "measured":
        return (as_expr(0),) * len(equations.layout.speeds)
    if equations.undetermined:
        names = ", ".join(f"'{node.data.name}'" for node in equations.undetermined)
        raise IdentificationError(
            f'the loads {names} are undetermined functions. Give their law, or say loads = "measured" where the '
            "measured forces contain them."
        )
    return equations.loads


def _add_extras(equations: Equations, extras: Extras, columns: list[Column], rows: list[dict[int, Expr]]) -> None:
    tree = equations.tree
    for kind in FORCE_LAWS:
        for coordinate in getattr(extras, kind):
            column, slot, factor = force_law_column(tree, kind, coordinate, extras.threshold)
            rows[slot][len(columns)] = factor
            columns.append(column)
    for name, frame in extras.payloads.items():
        if any(column.owner == name for column in columns):
            raise IdentificationError(f"payload '{name}': a body or payload of that name exists already.")
        link, carried = payload_map(tree, frame)
        for row in rows:
            # A payload moves with its link: its columns are the link's times the map of ten parameters between frames.
            own = [row.get(10 * link + k, as_expr(0)) for k in range(10)]
            row.update(_payload_entries(own, carried, len(columns)))
        columns.extend(inertia_columns(name, "payload"))


def _payload_entries(own: Sequence[Expr], carried: Sequence[Sequence[Scalar]], start: int) -> dict[int, Expr]:
    """The entries of a payload's columns in one row, from those of the link that carries it."""
    entries = {}
    for k in range(10):
        entry = sum((y * carried[j][k] for j, y in enumerate(own)), as_expr(0))
        if not _vanishes(entry):
            entries[start + k] = as_expr(entry)
    return entries


def _vanishes(entry: Scalar) -> bool:
    return entry.is_zero if isinstance(entry, Expr) else entry == 0
