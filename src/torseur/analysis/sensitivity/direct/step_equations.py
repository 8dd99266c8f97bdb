"""The equations of one time step as formulas, with their derivatives.

With w and e the speeds before and behind the step, v those in its middle without contacts, Δ what impulses P change,
and all rows in the middle configuration (see time_step.py and impulses.py):

    2 M (v - w) + Cᵀ Λ₀ = h f(v),                              C v + drift = 0
    M (e - w) + Cᵀ Λ = h/2 (f(v) + f(v + Δ)) + Gᵀ P,           C (e - Δ + w)/2 + drift = 0
    (M + h/2 D) Δ + Cᵀ κ = Gᵀ P,                               C Δ = 0

and for each contact and friction element one row of those that are offered, by what became of it in the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, Input, Program, as_expr, dense_jacobian, matrix, substitute, symbol, vector
from torseur.algebra.graph.scalar import exp, sqrt
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.computation.simulation.constrained.contacts.friction_rows import LEAST_SQUARE, FrictionRows
from torseur.computation.simulation.constrained.stepping.stepping_programs import SteppingPrograms
from torseur.derivation.loops import ConstraintEquation
from torseur.description.mechanism import TIME

OFFERED = 4  # rows of a contact: it presses at rest, is sent back as it came, is closed at the end, rebounds


@dataclass(frozen=True, eq=False)
class StepEquations:
    """The equations of a step of the mechanism of a study; `restitutions` are formulas of its parameters."""

    variation: Variation
    stepping: SteppingPrograms
    restitutions: tuple[Expr, ...]

    @property
    def speeds(self) -> tuple[Expr, ...]:
        return self.stepping.programs.equations.layout.speeds

    @property
    def lasting(self) -> Sequence[ConstraintEquation]:
        return self.stepping.lasting.constraints

    @cached_property
    def unknowns(self) -> dict[str, tuple[Expr, ...]]:
        """Symbols of what a step solves for beside the middle speeds, in their order."""
        sizes = {"e": len(self.speeds), "change": len(self.speeds)}
        sizes |= dict.fromkeys(("free", "held", "kept"), len(self.lasting))
        sizes["impulse"] = len(self.stepping.rows)
        return {name: tuple(symbol(f"{name} {k} of a step") for k in range(size)) for name, size in sizes.items()}

    @cached_property
    def start(self) -> tuple[Expr, ...]:
        """Symbols of the speeds before the step."""
        return tuple(symbol(f"{v.name} before a step") for v in self.speeds)

    @cached_property
    def settings(self) -> dict[str, tuple[Expr, ...]]:
        """What is given of a step: its length, the sides to which lines are pushed, and which elements rest."""
        lines = sum(len(element.rows) == 1 for element in self.stepping.friction)
        sizes = {"length": 1, "side": lines, "rests": len(self.stepping.friction)}
        return {name: tuple(symbol(f"{name} {k} of a step") for k in range(size)) for name, size in sizes.items()}

    @cached_property
    def variables(self) -> tuple[Expr, ...]:
        """What the equations are differentiated by."""
        unknown = (node for group in self.unknowns.values() for node in group)
        return (*self.variation.states, *unknown, *self.start, *self.variation.moving, TIME)

    @cached_property
    def step(self) -> Program:
        """The equations of motion and of constraints, in the order above, then all rows offered, limits and gaps."""
        formulas = [*self._free, *self._moved, *self._changed, *self._offered]
        formulas += [self._limit(k, element) for k, element in enumerate(self.stepping.friction)]
        formulas += [contact.residual for contact in self.stepping.contacts]
        given = [Input("z", tuple(node for group in self.unknowns.values() for node in group))]
        given += [Input("w", self.start), Input("s", tuple(node for g in self.settings.values() for node in g))]
        return self._differentiated("step", formulas, self.variables, given)

    @cached_property
    def rates(self) -> Program:
        """Rates of the coordinates."""
        return self._differentiated("rates", list(self.stepping.programs.equations.rates), self._of_state, [])

    @cached_property
    def levels(self) -> Program:
        """Gaps, constraints on positions, constraints on speeds."""
        formulas = [contact.residual for contact in self.stepping.contacts]
        formulas += [c.residual if c.is_holonomic else as_expr(0) for c in self.lasting]
        formulas += [self._rate(c, self.speeds) for c in self.lasting]
        return self._differentiated("levels", formulas, self._of_state, [])

    @property
    def _of_state(self) -> tuple[Expr, ...]:
        return (*self.variation.states, *self.variation.moving, TIME)

    def _differentiated(
        self, name: str, formulas: list[Expr], variables: Sequence[Expr], more: Sequence[Input]
    ) -> Program:
        outputs = vector("values", formulas), matrix("derivatives", dense_jacobian(formulas, variables))
        return Program(name, (*self.stepping.lasting.inputs, *more), outputs)

    @staticmethod
    def _rate(row: ConstraintEquation, speeds: Sequence[Expr], part: float = 1.0) -> Expr:
        """The rate of a gap or a constraint, or a slip, at such speeds; `part` is that of its drift."""
        return as_expr(sum((c * v for c, v in zip(row.row, speeds, strict=True)), part * row.drift))

    def _balance(
        self, accelerations: Sequence[Expr], multipliers: dict[Expr, Expr], speeds: Sequence[Expr]
    ) -> list[Expr]:
        """M a + Cᵀ λ - f for such accelerations, multipliers and speeds."""
        programs = self.stepping.programs
        known: dict[Expr, Expr] = dict.fromkeys(programs.multipliers, as_expr(0))
        known |= dict(zip(programs.equations.layout.accelerations, accelerations, strict=True)) | multipliers
        known |= dict(zip(self.speeds, speeds, strict=True))
        return substitute(programs.residuals[: len(self.speeds)], known)

    def _multipliers(self, of_lasting: Sequence[Expr], of_rows: Sequence[Expr]) -> dict[Expr, Expr]:
        """Multipliers by their symbols, from impulses over the step."""
        (h,) = self.settings["length"]
        programs = self.stepping.programs
        by_name = dict(zip([c.name for c in programs.constraints], programs.multipliers, strict=True))
        held = {by_name[c.name]: given / h for c, given in zip(self.lasting, of_lasting, strict=True)}
        pushed = {by_name[c.name]: -given / h for c, given in zip(self.stepping.rows, of_rows, strict=False)}
        return {**held, **pushed}

    @property
    def _free(self) -> list[Expr]:
        (h,) = self.settings["length"]
        accelerations = [2 * (v - w) / h for v, w in zip(self.speeds, self.start, strict=True)]
        balance = self._balance(accelerations, self._multipliers(self.unknowns["free"], ()), self.speeds)
        return [*(h * b for b in balance), *(self._rate(c, self.speeds) for c in self.lasting)]

    @property
    def _moved(self) -> list[Expr]:
        (h,), own = self.settings["length"], self.unknowns
        multipliers = self._multipliers(own["held"], own["impulse"])
        accelerations = [(e - w) / h for e, w in zip(own["e"], self.start, strict=True)]
        behind = [v + d for v, d in zip(self.speeds, own["change"], strict=True)]
        halves = [self._balance(accelerations, multipliers, speeds) for speeds in (self.speeds, behind)]
        mean = [(e - d + w) / 2 for e, d, w in zip(own["e"], own["change"], self.start, strict=True)]
        balance = [h * (a + b) / 2 for a, b in zip(*halves, strict=True)]
        return [*balance, *(self._rate(c, mean) for c in self.lasting)]

    @property
    def _changed(self) -> list[Expr]:
        (h,), own = self.settings["length"], self.unknowns
        mass, damping = self.stepping.programs.equations.mass_matrix, self.stepping.damping
        # The damping is taken at the speeds before the step.
        before = dict(zip(self.speeds, self.start, strict=True))
        entries = dict(zip(damping, substitute(list(damping.values()), before), strict=True))
        rows = []
        for i, row in enumerate(mass):
            total = sum((as_expr(m) * d for m, d in zip(row, own["change"], strict=True)), as_expr(0))
            for j, change in enumerate(own["change"]):
                total = total + h / 2 * entries.get((max(i, j), min(i, j)), as_expr(0)) * change
            for c, kept in zip(self.lasting, own["kept"], strict=True):
                total = total + c.row[i] * kept
            for c, impulse in zip(self.stepping.rows, own["impulse"], strict=True):
                total = total - c.row[i] * impulse
            rows.append(as_expr(total))
        return [*rows, *(self._rate(c, own["change"], 0.0) for c in self.lasting)]

    @property
    def _offered(self) -> list[Expr]:
        (h,), own = self.settings["length"], self.unknowns
        rows: list[Expr] = []
        for contact, restitution in zip(self.stepping.contacts, self.restitutions, strict=True):
            end, middle = self._rate(contact, own["e"]), self._rate(contact, self.speeds)
            rebound = self._rate(contact, own["change"], 0.0) + (1 + restitution) * middle
            rows += [end, end + self._rate(contact, self.start), end + 2 * contact.residual / h, rebound]
        for k, element in enumerate(self.stepping.friction):
            slips = [self._rate(row, own["e"]) for row in element.rows]
            rows += [*slips, *self._sliding(k, element, slips)]
        return rows

    def _sliding(self, k: int, element: FrictionRows, slips: Sequence[Expr]) -> list[Expr]:
        """What vanishes while an element slides: its impulse is the limit, against the slip that is left."""
        first, limit = self.first_row(k), self._limit(k, element)
        impulses = self.unknowns["impulse"][first : first + len(slips)]
        if len(slips) == 1:
            return [as_expr(impulses[0] - self.settings["side"][k] * limit)]
        size = sqrt(sum((s * s for s in slips), as_expr(LEAST_SQUARE)))
        return [as_expr(impulse + limit * s / size) for impulse, s in zip(impulses, slips, strict=True)]

    def _limit(self, k: int, element: FrictionRows) -> Expr:
        """The impulse that an element can give in the step."""
        (h,), own = self.settings["length"], self.unknowns
        rests = self.settings["rests"][k]
        if not element.amounts[4].is_zero:
            before = [self._rate(row, self.start) / element.amounts[4] for row in element.rows]
            rests = exp(-sum((s * s for s in before), as_expr(0)))
        force, coefficient, breakaway, static, _ = element.amounts
        limit = h * (force + rests * (breakaway - force))
        if self.stepping.tables["pressed_by"][k] >= 0:
            pressing = own["impulse"][int(self.stepping.tables["pressed_by"][k])]
            limit = limit + (coefficient + rests * (static - coefficient)) * pressing
        return as_expr(limit)

    def first_row(self, k: int) -> int:
        """The first row of a friction element among those of contacts and friction."""
        return len(self.stepping.contacts) + sum(len(element.rows) for element in self.stepping.friction[:k])
