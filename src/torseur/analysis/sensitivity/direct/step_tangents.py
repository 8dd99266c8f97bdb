"""Tangents carried over one time step: its equations, differentiated where its impulses have been found.

Which contacts press and which friction sticks is kept; all else moves with the parameters (implicit differentiation).
A step in which something is hit stands for an impact at the instant when the gap closes, which moves by
dτ = -(gap)' / rate: tangents go to that instant along the motion before it, and come back along the one behind it
(saltation). Without this the derivative would be that of an impact at a fixed end of a step, which shorter steps do
not mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.analysis.sensitivity.direct.step_equations import OFFERED, StepEquations
from torseur.analysis.sensitivity.direct.step_outcome import Outcome
from torseur.analysis.sensitivity.model.varied_parameters import constants_matrix
from torseur.computation.codegen import Kernel, compile_program
from torseur.computation.simulation.model.system import Vector

SHUT = 1e-9  # gap by its size up to which a contact has been moved shut
DEPENDENT = 1e-12  # singular values of the equations, by the largest, that count as none


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """Programs of a step evaluated as numbers, with derivatives by states, parameters of the study and time."""

    equations: StepEquations
    values: Vector
    backend: str

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        named = {"step": self.equations.step, "rates": self.equations.rates, "levels": self.equations.levels}
        return {name: compile_program(program, self.backend) for name, program in named.items()}

    @cached_property
    def directions(self) -> Vector:
        """Tangents of the constants that vary, a row each, a column per parameter."""
        variation = self.equations.variation
        everything = constants_matrix(variation.varied, len(variation.constants))
        return everything[[variation.constants.index(node) for node in variation.moving]]

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Coordinates, speeds, lasting constraints."""
        speeds = len(self.equations.speeds)
        return len(self.equations.variation.states) - speeds, speeds, len(self.equations.lasting)

    @cached_property
    def _quaternions(self) -> list[list[int]]:
        states = self.equations.variation.states
        return [[states.index(x) for x in own] for own in self.equations.stepping.programs.quaternions]

    def at(self, name: str, t: float, y: Vector, **more: Vector) -> tuple[Vector, Vector]:
        """Values and derivatives of a program."""
        known = {"t": np.array([t]), "y": y, "p": self.values, **more}
        kernel = self._kernels[name]
        outputs = kernel(**{group.name: known[group.name] for group in kernel.program.inputs})
        return outputs["values"], outputs["derivatives"]

    def along(self, derivatives: Vector, u: Vector) -> Vector:
        """Tangents of formulas of the state, at a fixed time."""
        n = len(self.equations.variation.states)
        return np.asarray(derivatives[:, :n] @ u + derivatives[:, n:-1] @ self.directions)

    def moved(self, h: float, t: float, y: Vector, q: Vector, u: Vector, u_q: Vector) -> tuple[Vector, Vector]:
        """Coordinates q moved by h times the rates in a state y, with unit quaternions, and their tangents."""
        rate, derivatives = self.at("rates", t, y)
        new, tangents = q + h * rate, u_q + h * self.along(derivatives, u)
        for own in self._quaternions:
            length = float(np.linalg.norm(new[own]))
            new[own] /= length
            tangents[own] = (tangents[own] - np.outer(new[own], new[own] @ tangents[own])) / length
        return new, tangents


class SolvedStep:
    """The equations of a step at their solution, and what follows for tangents; `y` holds the middle coordinates."""

    def __init__(self, own: StepDerivatives, h: float, t: float, q: Vector, w: Vector, e: Vector, found: Outcome):
        self.own, self.h, self.t, self.q, self.w, self.e, self.found = own, h, t, q, w, e, found
        nq, nv, nl = own.sizes
        rows, unknown = len(found.impulses), 2 * nv + 3 * nl
        self.settings = np.concatenate([[h], found.side, found.rests])
        z = np.zeros(unknown + rows)
        z[:nv], z[unknown:] = e, found.impulses
        self.first = nq + nv  # of the unknowns, among the variables
        if not found.takes_part and not nl:
            self.middle, self.change = 0.5 * (w + e), np.zeros(nv)
        else:
            _, derivatives = self._at(np.concatenate([q, w]), z)
            self._take_metric(derivatives)
            answer = _least(self.metric, np.concatenate([self.pushes @ found.impulses, np.zeros(nl)])[:, None])[:, 0]
            self.change, z[unknown - nl : unknown] = answer[:nv], answer[nv:]
            self.middle = 0.5 * (w + e - self.change) if found.middle is None else found.middle
            z[nv : 2 * nv] = self.change
            values, _ = self._at(np.concatenate([q, self.middle]), z)
            block = nv + nl
            if nl:
                # Both balances are linear in the impulses of constraints: Cᵀ Λ is what is missing without them.
                held = _least(self.rows.T, -np.column_stack([values[:nv], values[block : block + nv]]))
                z[2 * nv : 2 * nv + nl], z[2 * nv + nl : 2 * nv + 2 * nl] = held.T
        self.y = np.concatenate([q, self.middle])
        self.values, self.derivatives = self._at(self.y, z)
        if not found.takes_part and not nl:
            self._take_metric(self.derivatives)

    def _at(self, y: Vector, z: Vector) -> tuple[Vector, Vector]:
        return self.own.at("step", self.t, y, z=z, w=self.w, s=self.settings)

    def _take_metric(self, derivatives: Vector) -> None:
        """M + h/2 D and C as one matrix, C alone, and what impulses push."""
        _, nv, nl = self.own.sizes
        last, unknown = slice(2 * (nv + nl), 3 * (nv + nl)), self.first + 2 * nv + 3 * nl
        changes, kept = slice(self.first + nv, self.first + 2 * nv), slice(unknown - nl, unknown)
        self.metric = np.hstack([derivatives[last, changes], derivatives[last, kept]])
        self.rows = self.metric[nv:, :nv]
        self.pushes = -derivatives[last, unknown : unknown + len(self.found.impulses)][:nv]

    @property
    def acceleration(self) -> Vector:
        """Mean acceleration of the step, without the impulses where something is hit."""
        end = 2.0 * self.middle - self.w if self.found.struck else self.e
        return np.asarray((end - self.w) / self.h)

    def rates_about(self) -> tuple[Vector, Vector]:
        """Rates of the coordinates before and behind the impulses."""
        before, _ = self.own.at("rates", self.t, self.y)
        after, _ = self.own.at("rates", self.t, np.concatenate([self.q, self.middle + self.change]))
        return before, after

    def later(self, u_q: Vector, u_w: Vector, rates: Vector) -> dict[int, Vector]:
        """How much later, per parameter, what happens in the step does, by the rows of contacts and friction.

        From tangents of the middle coordinates and the speeds before; `rates` are accelerations of slips.
        """
        contacts, (nq, nv, nl) = len(self.own.equations.stepping.contacts), self.own.sizes
        varied = slice(-1 - len(self.own.directions), -1)
        of_gaps = self.derivatives[len(self.derivatives) - contacts :]
        moved = of_gaps[:, :nq] @ u_q + of_gaps[:, varied] @ self.own.directions
        found = {c: -moved[c] / self.found.rates[c] for c in self.found.struck}
        place = 3 * (nv + nl) + OFFERED * contacts
        for k, element in enumerate(self.own.equations.stepping.friction):
            row = self.own.equations.first_row(k)
            if k in self.found.turned and rates[row] != 0.0:
                slip = self.derivatives[place]
                change = slip[:nq] @ u_q + slip[self.first : self.first + nv] @ u_w + slip[varied] @ self.own.directions
                found[row] = -change / rates[row]
            place += 2 * len(element.rows)
        return found

    def tangents(self, u_q: Vector, u_w: Vector, late: Vector) -> tuple[Vector, dict[int, Vector]]:
        """Tangents of the speeds at the end, and of impulses by their rows.

        From those of the middle coordinates and of the speeds before.
        """
        nq, nv, nl = self.own.sizes
        rows, columns = self._rows_and_columns()
        given, varied = self.derivatives[rows], slice(-1 - len(self.own.directions), -1)
        start = self.first + 2 * nv + 3 * nl + len(self.found.impulses)
        right = given[:, :nq] @ u_q + given[:, start : start + nv] @ u_w + given[:, varied] @ self.own.directions
        answer = _least(given[:, columns], -right - np.outer(given[:, -1], late))
        if not self.found.takes_part:
            return np.asarray(2.0 * answer[:nv] - u_w), {}
        first = self.first + 2 * nv + 3 * nl
        impulses = {column - first: answer[k] for k, column in enumerate(columns) if column >= first}
        return np.asarray(answer[nv : 2 * nv]), impulses

    def limit_tangents(self, k: int, u_q: Vector, impulses: dict[int, Vector]) -> Vector:
        """Tangents of the impulse that a friction element could give, from those of what presses it."""
        equations, (nq, nv, nl) = self.own.equations, self.own.sizes
        contacts, elements = len(equations.stepping.contacts), len(equations.stepping.friction)
        row = self.derivatives[len(self.derivatives) - contacts - elements + k]
        moved = row[:nq] @ u_q + row[slice(-1 - len(self.own.directions), -1)] @ self.own.directions
        first = self.first + 2 * nv + 3 * nl
        for j, own in impulses.items():
            moved = moved + row[first + j] * own
        return np.asarray(moved)

    def _rows_and_columns(self) -> tuple[list[int], list[int]]:
        """The equations that hold in the step, and numbers of their unknowns among the variables."""
        nq, nv, nl = self.own.sizes
        block, speeds = nv + nl, list(range(nq, nq + nv))
        if not self.found.takes_part:
            first = self.first + 2 * nv
            return list(range(block)), speeds + list(range(first, first + nl))
        unknown = self.first + 2 * nv + 3 * nl
        rows, columns = list(range(3 * block)), speeds + list(range(self.first, unknown))
        for c, kind in self.found.contacts.items():
            rows.append(3 * block + OFFERED * c + kind)
            columns.append(unknown + c)
        place = 3 * block + OFFERED * len(self.own.equations.stepping.contacts)
        for k, element in enumerate(self.own.equations.stepping.friction):
            size = len(element.rows)
            if k in self.found.friction:
                begin = place + (size if self.found.friction[k] else 0)
                rows += range(begin, begin + size)
                first = unknown + self.own.equations.first_row(k)
                columns += range(first, first + size)
            place += 2 * size
        return rows, columns

    def on_constraints(self, t: float, y: Vector, u: Vector) -> Vector:
        """Tangents of the state at the end, where contacts have been moved shut and loops closed."""
        nq, nv, nl = self.own.sizes
        contacts = len(self.own.equations.stepping.contacts)
        if not contacts and not nl:
            return u
        values, derivatives = self.own.at("levels", t, y)
        _, of_rates = self.own.at("rates", t, y)
        reach, result = of_rates[:, nq : nq + nv], u.copy()
        shut = [c for c in self.found.resting if abs(values[c]) <= SHUT * self.found.sizes[c]]
        if shut:
            # Contacts are moved shut along the lasting constraints.
            pushed = np.vstack([self.pushes[:, shut], np.zeros((nl, len(shut)))])
            moves = reach @ _least(self.metric, pushed)[:nv]
            result[:nq] += moves @ _least(derivatives[shut, :nq] @ moves, -self.own.along(derivatives[shut], result))
        if nl:
            along = np.linalg.solve(self.metric[:nv, :nv], self.rows.T)
            level, of_speeds = derivatives[contacts : contacts + nl], derivatives[contacts + nl :]
            result[:nq] += reach @ along @ _least(level[:, :nq] @ reach @ along, -self.own.along(level, result))
            result[nq:] += along @ _least(of_speeds[:, nq : nq + nv] @ along, -self.own.along(of_speeds, result))
        return np.asarray(result, dtype=float)


def _least(matrix: Vector, right: Vector) -> Vector:
    """The least solution of equations of different sizes and units, some of which may say the same."""
    by_row = 1.0 / np.maximum(np.abs(matrix).max(axis=1, initial=0.0), 1e-300)
    scaled = matrix * by_row[:, None]
    by_column = 1.0 / np.maximum(np.abs(scaled).max(axis=0, initial=0.0), 1e-300)
    answer = np.linalg.lstsq(scaled * by_column, right * by_row[:, None], rcond=DEPENDENT)[0]
    return np.asarray(by_column[:, None] * answer)
