"""Equations of small motions about a steady state, with their coefficients as formulas.

About coordinates q₀ and speeds v₀ that satisfy the constraints without accelerations,

    M δv' + D δv + K δq = f,

where δ are deviations from the steady state and multipliers are eliminated. With λ₀ the multipliers of the steady
state, R(q, v, v', λ) = M v' + b + Cᵀ λ - Q, and N the null space of C there,

    Nᵀ (R_v' δv' + R_v δv + R_q δq) = f,

and the dependent deviations follow from the constraints to first order: Φ_q δq = 0, C δv + (C v₀ + drift)_q δq = 0 and
C δv' = γ_q δq + γ_v δv. The term R_q holds (Cᵀ λ₀)_q, without which a hanging chain would have no stiffness.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, ExprLike, as_expr, dense_jacobian, live_nodes, substitute, symbol, symbols_of
from torseur.derivation.equations.elimination import add_constraint
from torseur.derivation.equations.linear_system import LinearSystem
from torseur.derivation.equations.terms.polynomial import TooManyTerms, expand, expression_of
from torseur.derivation.equations.terms.short_sum import short_expression
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError, UnsupportedError, unknown_name

if TYPE_CHECKING:
    from torseur.derivation.equations.equations import Equations

Matrix = tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True)
class LinearEquations:
    """M δv' + D δv + K δq + forces = 0, a row per independent speed.

    δ are deviations from `reference`: of all speeds, and of the coordinates that stand still in it. Columns of M and D
    are the independent `speeds`, those of K the independent `positions`, as far as one of them counts. `forces` holds
    what depends on time alone; `coordinates` and `rates` give the dependent deviations by the independent ones,
    `kinematics` the rates of coordinates that are no speeds, all in full. `pivots` were divided by, and `inputs`
    are functions of time without a formula, which count as small.
    """

    equations: Equations
    reference: dict[Expr, Expr]
    speeds: tuple[Expr, ...]
    positions: tuple[Expr, ...]
    mass_matrix: Matrix
    damping_matrix: Matrix
    stiffness_matrix: Matrix
    forces: tuple[Expr, ...]
    coordinates: dict[Expr, Expr]
    rates: dict[Expr, Expr]
    kinematics: dict[Expr, Expr]
    pivots: tuple[Expr, ...]
    inputs: tuple[Expr, ...]

    @property
    def accelerations(self) -> tuple[Expr, ...]:
        layout = self.equations.layout
        return tuple(layout.accelerations[layout.speeds.index(v)] for v in self.speeds)

    def deviation(self, variable: Expr) -> Expr:
        """q - q₀."""
        return variable - self.reference.get(variable, as_expr(0))

    def with_reference(self, variable: Expr, linear: Expr) -> Expr:
        """A dependent variable itself, from its deviation as a sum of others' deviations."""
        deviations = {x: self.deviation(x) for x in symbols_of([linear]) if x in self.reference}
        return short_expression(substitute([linear], deviations)[0] + self.reference.get(variable, as_expr(0)))


def linearise_equations(
    equations: Equations, about: Mapping[str, ExprLike], independent: Collection[str] = ()
) -> LinearEquations:
    """The equations of small motions about the initial state, with some of its values replaced by `about`.

    Values are formulas of the parameters. Coordinates that nobody gives are zero, or what the constraints make of them
    where these are linear in one; speeds that nobody gives follow from the constraints. Functions of time that have no
    formula count as small.
    """
    given = _given_values(equations, about)
    _check_names(equations, independent)
    reference = _Reference.of(equations, given)
    return _Linearisation(reference, tuple(independent)).solve()


def _given_values(equations: Equations, about: Mapping[str, ExprLike]) -> dict[str, Expr]:
    mechanism, layout = equations.mechanism, equations.layout
    known = [*layout.coordinate_names, *layout.speed_names, *(str(rate.name) for rate in layout.rates)]
    for name in about:
        if name not in known:
            raise TorseurError(unknown_name("coordinate or speed", name, known, "about: "))
    exact = {name: value for name, value in mechanism.initial if name in known}
    values = {**exact, **{name: as_expr(value) for name, value in about.items()}}
    formulas = resolve(mechanism, equations.tree.definitions, [as_expr(value) for value in values.values()])
    states = {*layout.coordinates, *layout.speeds, *layout.rates, TIME}
    for name, formula in zip(values, formulas, strict=True):
        if moving := [x for x in symbols_of([formula]) if x in states]:
            raise TorseurError(f"about: '{name}' is given by '{moving[0].name}'; expected a formula of parameters.")
    return dict(zip(values, formulas, strict=True))


def _check_names(equations: Equations, independent: Collection[str]) -> None:
    for name in independent:
        known = [*equations.layout.speed_names, *equations.layout.coordinate_names]
        if name not in known:
            raise TorseurError(unknown_name("coordinate or speed", name, known, "independent: "))


@dataclass(frozen=True)
class _Reference:
    """A steady state: values of the coordinates that stand still, of all speeds and of the multipliers."""

    equations: Equations
    values: dict[Expr, Expr]  # coordinates that stand still, speeds; accelerations and inputs are zero
    moving: tuple[Expr, ...]
    inputs: dict[Expr, Expr]  # functions of time alone, by the symbols that stand for them
    multipliers: dict[Expr, Expr]
    forces: tuple[Expr, ...]  # what depends on time and is not balanced
    undetermined: tuple[Expr, ...]
    pivots: tuple[Expr, ...]

    @staticmethod
    def of(equations: Equations, given: Mapping[str, Expr]) -> _Reference:
        layout = equations.layout
        q0 = _positions(equations, given)
        v0 = _velocities(equations, given, q0)
        rates = _at(equations.rates, q0 | v0)
        moving = tuple(q for q, rate in zip(layout.coordinates, rates, strict=True) if not vanishes(rate))
        values = {q: value for q, value in q0.items() if q not in moving} | v0
        # Twice: multipliers are looked for where the state is known to be steady.
        reference = _Reference(equations, values, moving, _inputs(equations), {}, (), (), ())
        reference._require_steady()
        return reference._with_multipliers()

    @property
    def point(self) -> dict[Expr, Expr]:
        """Values of everything that is a variable of the equations."""
        still = dict.fromkeys((*self.equations.layout.accelerations, *self.inputs), as_expr(0))
        return self.values | still | self.multipliers

    @cached_property
    def residual(self) -> list[Expr]:
        """M v' + b + Cᵀ λ - Q with inputs as symbols."""
        return substitute(list(self.equations.residual), {node: name for name, node in self.inputs.items()})

    def _require_steady(self) -> None:
        """Raises where a constraint does not hold along the motion of the reference."""
        for c in self.equations.constraints:
            rate = sum((e * v for e, v in zip(c.row, self.equations.layout.speeds, strict=True)), c.drift)
            for value in _at([c.residual, rate, c.gamma], self.values):
                if not vanishes(value):
                    raise UnsupportedError(
                        f"{c.name} does not hold at the state to linearise about, or not for long: left is "
                        f"{short_expression(value)}. Say the state by formulas of the parameters (--about, or "
                        "about=...); numbers come from linearise and from the command modes."
                    )

    def _with_multipliers(self) -> _Reference:
        """The reference with multipliers that balance it; raises where nothing does."""
        layout, names = self.equations.layout, self.equations.multipliers
        unbalanced = _at(self.residual, self.point | dict.fromkeys(names, as_expr(0)))
        columns = [_at(c.row, self.values) for c in self.equations.constraints]
        system = LinearSystem(len(names))
        forces = [as_expr(0)] * len(unbalanced)
        for k, force in enumerate(unbalanced):
            left = system.add(str(layout.speeds[k].name), [column[k] for column in columns], force, as_expr(0))
            forces[k] = self._force_of_time(left, str(layout.speeds[k].name))
        open_ones = tuple(names[j] for j in range(len(names)) if j not in system.solved)
        solved = {names[k]: system.value(k, names) for k in system.solved}
        return _Reference(
            self.equations, self.values, self.moving, self.inputs, solved, tuple(forces), open_ones,
            tuple(system.pivots),
        )  # fmt: skip

    def _force_of_time(self, left: Expr, speed: str) -> Expr:
        """What is left of a balance that the multipliers cannot carry: it must depend on time."""
        try:
            terms = expand(short_expression(left))
        except TooManyTerms:
            terms = {((left, 1),): 1}
        constant = {term: c for term, c in terms.items() if TIME not in symbols_of([expression_of({term: c})])}
        if constant:
            raise UnsupportedError(
                f"the state to linearise about is not an equilibrium: along {speed.rstrip(chr(39))} the forces leave "
                f"{short_expression(expression_of(constant))}. Say one by formulas of the parameters (--about, or "
                "about=...); the command equilibrium finds one in numbers."
            )
        return expression_of(terms)


def _inputs(equations: Equations) -> dict[Expr, Expr]:
    """Functions of time alone that have no formula, by symbols that stand for them."""
    nodes = [n for n in live_nodes(equations.residual) if n.op == "apply" and set(symbols_of(n.args)) <= {TIME}]
    return {symbol(f"input.{k}"): node for k, node in enumerate(nodes)}


def _at(expressions: Sequence[Expr], values: Mapping[Expr, Expr]) -> list[Expr]:
    return substitute(list(expressions), values)


def _positions(equations: Equations, given: Mapping[str, Expr]) -> dict[Expr, Expr]:
    """Coordinates of the reference: given, by a constraint that is linear in one, or zero."""
    layout = equations.layout
    # No rotation is the quaternion (1, 0, 0, 0), not zeros.
    first = {link.symbols.quaternion[0] for link in equations.tree.links if link.symbols.quaternion}
    q0 = {q: given.get(str(q.name), as_expr(int(q in first))) for q in layout.coordinates}
    guessed = equations.mechanism.guesses
    waiting = [q for q in layout.coordinates if str(q.name) not in given or str(q.name) in guessed]
    for constraint in equations.constraints:
        if not constraint.is_holonomic or vanishes(_at([constraint.residual], q0)[0]):
            continue
        for q in waiting:
            (row,) = _at([constraint.residual], {x: value for x, value in q0.items() if x is not q})
            gradient = short_expression(dense_jacobian([row], [q])[0][0])
            # Linear in q, so that the constraint gives it by a formula. Others wait for what the user says.
            if not vanishes(gradient) and q not in symbols_of([gradient]):
                q0[q] = short_expression(-_at([row], {q: as_expr(0)})[0] / gradient)
                waiting.remove(q)
                break
    return q0


def _velocities(equations: Equations, given: Mapping[str, Expr], q0: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """Speeds of the reference: what is given, then what the constraints make of the others, then zero."""
    layout = equations.layout
    system = LinearSystem(len(layout.speeds))
    along = dense_jacobian(list(equations.rates), layout.speeds)
    still = dict.fromkeys(layout.speeds, as_expr(0))
    for k, speed in enumerate(layout.speeds):
        if str(speed.name) in given:
            row = [as_expr(int(j == k)) for j in range(len(layout.speeds))]
            system.add(str(speed.name), row, -given[str(speed.name)], as_expr(0))
    for k, rate in enumerate(layout.rates):
        if str(rate.name) in given and rate not in layout.speeds:
            (drift,) = _at([equations.rates[k]], dict(q0) | still)
            system.add(str(rate.name), _at(along[k], q0), drift - given[str(rate.name)], as_expr(0))
    for c in equations.constraints:
        *row, drift = _at([*c.row, c.drift], q0)
        system.add(c.name, row, drift, as_expr(0))
    return {v: substitute([system.value(k, layout.speeds)], still)[0] for k, v in enumerate(layout.speeds)}


@dataclass(frozen=True)
class _Linearisation:
    reference: _Reference
    independent: tuple[str, ...]

    @property
    def equations(self) -> Equations:
        return self.reference.equations

    def solve(self) -> LinearEquations:
        equations, reference = self.equations, self.reference
        layout = equations.layout
        positions = self._dependent_positions()
        speeds = self._dependent_speeds()
        free = [k for k in range(len(layout.speeds)) if k not in speeds.solved]
        coordinates = {layout.coordinates[k]: positions.value(k, layout.coordinates) for k in positions.solved}
        rates = {layout.speeds[k]: speeds.value(k, layout.speeds) for k in speeds.solved}
        accelerations = {layout.accelerations[k]: speeds.value(k, layout.accelerations, level=1) for k in speeds.solved}
        variables = [*layout.accelerations, *layout.speeds, *layout.coordinates, *reference.inputs]
        # Linear in all deviations, with the same symbols for x and δx: constants have gone with the derivative.
        full = self._rows(reference.residual, variables)
        # In this order: dependent accelerations hold speeds and coordinates, dependent speeds hold coordinates.
        full = substitute(substitute(substitute(full, accelerations), rates), coordinates)
        rows = [
            sum((speeds.entry(k, j) * row for k, row in enumerate(full)), as_expr(0))
            for j in free
        ]  # fmt: skip
        forces = [sum((speeds.entry(k, j) * f for k, f in enumerate(reference.forces)), as_expr(0)) for j in free]
        own = [layout.accelerations[j] for j in free], [layout.speeds[j] for j in free]
        q = [x for x in layout.coordinates if x not in coordinates]
        mass, damping, stiffness, applied = (
            [[short_expression(e) for e in row] for row in dense_jacobian(rows, list(columns))]
            for columns in (*own, q, reference.inputs)
        )
        # Symmetric as numbers; as formulas either half may be written in its own way.
        mass = [[mass[min(i, j)][max(i, j)] for j in range(len(mass))] for i in range(len(mass))]
        self._require_determined([*mass, *damping, *stiffness])
        used = [k for k in range(len(q)) if any(not row[k].is_zero for row in stiffness)]
        inputs = list(reference.inputs.values())
        forces = [
            short_expression(force + sum((c * u for c, u in zip(row, inputs, strict=True)), as_expr(0)))
            for force, row in zip(forces, applied, strict=True)
        ]
        return LinearEquations(
            equations, reference.values, tuple(own[1]), tuple(q[k] for k in used), _matrix(mass), _matrix(damping),
            tuple(tuple(row[k] for k in used) for row in stiffness), tuple(forces), _shorten(coordinates),
            _shorten(rates), self._kinematics(), _assumptions([*reference.pivots, *positions.pivots, *speeds.pivots]),
            tuple(inputs),
        )  # fmt: skip

    def _kinematics(self) -> dict[Expr, Expr]:
        """Rates of coordinates that are no speeds, to first order."""
        layout, values = self.equations.layout, self.reference.values
        pairs = zip(layout.rates, self.equations.rates, strict=True)
        listed = {rate: value for rate, value in pairs if rate is not value}
        constants = _at(list(listed.values()), self.reference.point)
        rows = self._rows(list(listed.values()), [*layout.speeds, *layout.coordinates])
        moved = substitute(rows, {x: x - value for x, value in values.items()})
        return {rate: short_expression(a + b) for rate, a, b in zip(listed, constants, moved, strict=True)}

    def _rows(self, functions: Sequence[Expr], variables: Sequence[Expr]) -> list[Expr]:
        """Σ ∂f/∂x δx at the reference; the symbol x itself stands for δx."""
        rows = dense_jacobian(list(functions), list(variables))
        flat = _at([entry for row in rows for entry in row], self.reference.point)
        n = len(variables)
        sums = []
        for i in range(len(rows)):
            entries = flat[i * n : (i + 1) * n]
            self._require_constant(entries, variables)
            sums.append(sum((c * x for c, x in zip(entries, variables, strict=True)), as_expr(0)))
        return sums

    def _require_constant(self, entries: Sequence[Expr], variables: Sequence[Expr]) -> None:
        moving = set(self.reference.moving)
        for entry in entries:
            if moving & set(symbols_of([entry])) and (left := moving & set(symbols_of([short_expression(entry)]))):
                name = min(str(x.name) for x in left)
                raise UnsupportedError(
                    f"'{name}' changes in the state to linearise about, and the equations depend on it: the "
                    "coefficients would change with time. Numbers of an instant come from linearise."
                )

    def _dependent_positions(self) -> LinearSystem:
        """Φ_q δq = 0."""
        layout = self.equations.layout
        holonomic = [c for c in self.equations.constraints if c.is_holonomic]
        system = LinearSystem(len(layout.coordinates), self._indices_of(layout.coordinate_names))
        for c in holonomic:
            (row,) = dense_jacobian([c.residual], layout.coordinates)
            still = (as_expr(0), as_expr(0))
            add_constraint(system, layout.coordinate_names, c.name, _at(row, self.reference.point), still)
        return system

    def _dependent_speeds(self) -> LinearSystem:
        """C δv + (C v₀ + drift)_q δq = 0 and C δv' - γ_q δq - γ_v δv = 0."""
        layout = self.equations.layout
        system = LinearSystem(len(layout.speeds), self._indices_of(layout.speed_names))
        for c in self.equations.constraints:
            rate = sum((e * v for e, v in zip(c.row, layout.speeds, strict=True)), c.drift)
            (drift,) = self._rows([rate], layout.coordinates)
            (bias,) = self._rows([-c.gamma], [*layout.coordinates, *layout.speeds])
            row = _at(c.row, self.reference.point)
            add_constraint(system, layout.speed_names, c.name, row, (drift, bias))
        return system

    def _indices_of(self, names: Sequence[str]) -> set[int]:
        return {k for k, name in enumerate(names) if name in self.independent or name.rstrip("'") in self.independent}

    def _require_determined(self, rows: Sequence[Sequence[Expr]]) -> None:
        """Raises where multipliers that nothing determines count: the position is singular."""
        used = set(symbols_of([entry for row in rows for entry in row]))
        if left := [x for x in self.reference.undetermined if x in used]:
            raise UnsupportedError(
                f"small motions depend on the {left[0].data.meaning}, which nothing determines in the state to "
                "linearise about: it is singular."
            )


def _matrix(rows: Sequence[Sequence[Expr]]) -> Matrix:
    return tuple(tuple(row) for row in rows)


def _shorten(values: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    return {x: short_expression(value) for x, value in values.items()}


def _assumptions(pivots: Sequence[Expr]) -> tuple[Expr, ...]:
    """What was divided by, once each, whatever its sign."""
    listed: dict[Expr, None] = {}
    for pivot in pivots:
        if -pivot not in listed:
            listed[pivot] = None
    return tuple(-pivot if pivot.op == "neg" else pivot for pivot in listed)
