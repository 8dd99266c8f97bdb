"""The systems of a sensitivity study in scalars: ordered in u'', u', u, and one adjoint equation per state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torseur.algebra.graph import Expr, as_expr, directional_derivative
from torseur.derivation.equations.sensitivity_elements import Tangent
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.errors import UnsupportedError
from torseur.presentation.levels.conditions import constraint_rows
from torseur.presentation.levels.forms.matrix_nodes import add, at_start, integral, times
from torseur.presentation.levels.forms.sensitivity_blocks import TIME_NAME
from torseur.presentation.levels.forms.sensitivity_entries import SensitivityEntries
from torseur.presentation.levels.levels import ZERO, part_statements
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node
from torseur.presentation.typesetting.read_graph import read_name

_Weighted = tuple[Expr, Node | None]
_ScalarRow = tuple[str, Node, Sequence[_Weighted], Remark]


class SensitivityWriter(SensitivityEntries):
    """All statements of one study."""

    def scalar_rows(self) -> list[Statement]:
        """One equation per speed or state, with the coefficients as short as they can be written."""
        rows = self._adjoint_rows() if self.method == "adjoint" else self._direct_rows()
        if not self.second_order:
            return self._compose(rows) + self._gradient_rows()
        if self.method == "adjoint":
            rows += self._direct_rows()
        for name, entries, _, _ in self.second_entries():
            names = [f"{name}_{i}" for i in range(1, len(entries) + 1)] if len(entries) > 1 else [name]
            pairs = zip(names, entries, strict=True)
            rows += [(n, read_name(n), [(value, None)], Remark()) for n, (value,) in pairs if not value.is_zero]
        parameters = self.system.parameters
        pairs_of = [(j, k) for j in range(len(parameters)) for k in range(j, len(parameters))]
        if self.method == "direct":
            rows += [row for j, k in pairs_of for row in self._second_rows(j, k)]
        hessians = [one for j, k in pairs_of for one in self._hessian_rows(j, k)]
        return self._compose(rows) + self._gradient_rows() + hessians

    def _pair_name(self, j: int, k: int) -> str:
        return f"{self.system.parameters[j].name}_{self.system.parameters[k].name}"

    def _second_forcing(self, j: int, k: int) -> list[tuple[int, Name]]:
        """The rows in which s is not zero, with its names there."""
        forcing = self.elements.second_forcing(self.system.tangents[j], self.system.tangents[k])
        name = f"{self.letters.spell('s', self._pair_name(j, k))}"
        names = [read_name(f"{name}_{i}" if len(forcing) > 1 else name) for i in range(1, len(forcing) + 1)]
        return [(i, n) for i, (n, value) in enumerate(zip(names, forcing, strict=True)) if not value.is_zero]

    def _second_rows(self, j: int, k: int) -> list[_ScalarRow]:
        """0 = Σ A_ij u_jk' + Σ (B - J)_ij u_jk - s_i."""
        e, pair = self.elements, self._pair_name(j, k)
        tangent, forcing = self.system.tangent(f"_{pair}"), dict(self._second_forcing(j, k))
        coordinates, rows = len(self.system.equations.rates), list[_ScalarRow]()
        names = [self.system.parameters[j].name, self.system.parameters[k].name]
        for i in range(e.size):
            if i < coordinates and self._is_plain(i):
                continue
            middle, last = self._by_tangents(i, tangent, coordinates)
            terms: list[_Weighted] = [*_coefficient_terms(e.matrix[i], tangent.rates), *middle, *last]
            if i in forcing:
                terms.append((as_expr(-1), forcing[i]))
            about = f"{self._row_meaning(i)}, second derivatives by {' and '.join(names)}"
            rows.append((f"R_second_{pair}_{i + 1}", ZERO, terms, Remark(about)))
        return rows

    def _hessian_rows(self, j: int, k: int) -> list[Statement]:
        """d²g/dx_j dx_k with sums written out."""
        if self.terms is None:
            return []
        first, second = self.system.parameters[j], self.system.parameters[k]
        pair = self._pair_name(j, k)
        whole = self._hessian(first, second, pair)  # refuses events and accelerations
        own = self.elements.second_derivative(self.terms.formula, self.system.tangents[j], self.system.tangents[k])
        value: list[_Weighted] = [] if own.is_zero else [(as_expr(1), self.letters.plain(self.letter, pair))]
        if self.method == "direct":
            inner = [*value, *_coefficient_terms(self.terms.by_states, self.system.tangent(f"_{pair}").states)]
            outer: list[_Weighted] = []
        else:
            adjoints, _ = self.system.adjoints
            along: list[_Weighted] = [(-adjoints[i], name) for i, name in self._second_forcing(j, k)]
            inner = [*value, *along] if self.kind == "integral" else along
            outer = [] if self.kind == "integral" else value
        *extra, summed = self._compose([(f"{whole.name}_inner", ZERO, inner, Remark())])
        *more, beside = self._compose([(f"{whole.name}_outer", ZERO, outer, Remark())])
        right = summed.right
        if right != ZERO and (self.method == "adjoint" or self.kind == "integral"):
            right = integral(right, TIME_NAME, self.start_time, self.end_time)
        right = right if beside.right == ZERO else beside.right if right == ZERO else add(beside.right, right)
        start = self.system.second_start(first, second)
        if self.method == "adjoint" and (start is None or any(not entry.is_zero for entry in start)):
            right = add(right, self.start_term(at_start(self.letters.bold("u", pair))))
        bare = replace(whole, rows=((right,),), remark=Remark())
        return [*extra, *more, self.with_moving_extremum(bare, first, second)]

    def _direct_rows(self) -> list[_ScalarRow]:
        """0 = Σ A_ij u_j' + Σ (B - J)_ij u_j + h_i, with h = A_x y' - f_x of each parameter below."""
        e, tangent = self.elements, self.system.tangent()
        coordinates = len(self.system.equations.rates)
        one = len(self.system.parameters) == 1
        rows: list[_ScalarRow] = []
        forcings = {p.name: e.forcing(p.direction) for p in self.system.parameters}
        names = [*(str(x.name) for x in e.states), *(str(x.name) for x in tangent.rates[len(e.states) :])]
        for i in range(e.size):
            if i < coordinates and self._is_plain(i):
                continue
            accelerations = _coefficient_terms(e.matrix[i], tangent.rates)
            middle, last = self._by_tangents(i, tangent, coordinates)
            label = self.system.tangent_name(names[i].rstrip("'")) if i < len(e.states) else names[i]
            terms = [*accelerations, *middle, *last]
            shifts = {name: -forcing[i] for name, forcing in forcings.items() if not forcing[i].is_zero}
            if one:
                terms += [(value, None) for value in shifts.values()]
            elif shifts:
                terms.append((as_expr(1), Name(f"h_{i + 1}")))
            rows.append((f"R_{label}", ZERO, terms, Remark(self._row_meaning(i))))
            if not one:
                rows += [
                    (f"h_{i + 1}_{name}", Name(f"h_{i + 1}_{name}"), [(value, None)], Remark(f"h_{i + 1} of {name}"))
                    for name, value in shifts.items()
                ]
        return rows

    def _is_plain(self, i: int) -> bool:
        """Whether q' is the speed itself, so that u_q' says nothing new."""
        layout = self.system.equations.layout
        return self.system.equations.rates[i] is layout.rates[i]

    def _by_tangents(self, i: int, tangent: Tangent, coordinates: int) -> tuple[list[_Weighted], list[_Weighted]]:
        """(B - J) u of one row: of the speeds, then of the coordinates."""
        e = self.elements
        row = [b - j for b, j in zip(e.mass_jacobian[i], e.jacobian[i], strict=True)]
        listed = list(zip(row, tangent.states, strict=True))
        own = [(c, read_name(str(u.name))) for c, u in listed if not c.is_zero]
        speeds = {str(u.name) for u in tangent.states[coordinates:]}
        return (
            [(c, n) for c, n in own if _spelling(n) in speeds],
            [(c, n) for c, n in own if _spelling(n) not in speeds],
        )

    def _row_meaning(self, i: int) -> str:
        states = self.elements.states
        if i >= len(states):
            return self.system.equations.constraints[i - len(states)].name
        return f"along {str(states[i].name).rstrip(chr(39))}"

    def _adjoint_rows(self) -> list[_ScalarRow]:
        """0 = Σ A_ji λ_j' + Σ (A' + J - B)_ji λ_j - (∂p/∂y)_i, and the end 0 = Σ A_ji λ_j + (∂g/∂y)_i."""
        e = self.elements
        adjoints, rates = self.system.adjoints
        by_states = self._scalar_by_states()
        rows: list[_ScalarRow] = []
        for i in range(e.size):
            column = [row[i] for row in e.matrix]
            mixed = [
                a + j - b
                for a, j, b in zip(
                    (row[i] for row in e.matrix_rate),
                    (row[i] for row in e.jacobian),
                    (row[i] for row in e.mass_jacobian),
                    strict=True,
                )
            ]
            terms = [*_coefficient_terms(column, rates), *_coefficient_terms(mixed, adjoints)]
            own = [(-by_states[i], None)] if self.kind == "integral" and not by_states[i].is_zero else []
            meaning = str(e.states[i].name) if i < len(e.states) else self._row_meaning(i)
            rows.append((f"adjoint_{i + 1}", ZERO, [*terms, *own], Remark(f"of {meaning}")))
        for i in range(e.size):
            terms = _coefficient_terms([row[i] for row in e.matrix], adjoints)
            own = [(by_states[i], None)] if self.kind != "integral" and not by_states[i].is_zero else []
            rows.append((f"end_{i + 1}", ZERO, [*terms, *own], Remark("at t_f")))
        return rows

    def _scalar_by_states(self) -> list[Expr]:
        if self.has_rates or self.is_event:
            raise UnsupportedError(
                "the adjoint system of a criterion with accelerations, multipliers or an event has factors of its own: "
                "read it at the level 'matrix' or 'intrinsic'."
            )
        assert self.terms is not None
        return list(self.terms.by_states)

    def _gradient_rows(self) -> list[Statement]:
        """dg/dx with sums written out."""
        if self.terms is None or self.has_rates or self.is_event:
            return self.gradient_blocks()
        adjoints, _ = self.system.adjoints
        tangent = self.system.tangent()
        listed = []
        for parameter in self.system.parameters:
            own: list[_Weighted] = [(self.terms.by(parameter.direction), None)]
            if self.method == "direct":
                inner = [*own, *_coefficient_terms(self.terms.by_states, tangent.states)]
                outer: list[_Weighted] = []
            else:
                forcing = self.elements.forcing(parameter.direction)
                inner = [] if self.kind != "integral" else own
                inner = [*inner, *_coefficient_terms([-value for value in forcing], adjoints)]
                outer = [] if self.kind == "integral" else own
            name = f"dg_d{parameter.name}"
            *extra, first = self._compose([(f"{name}_inner", ZERO, inner, Remark())])
            *more, second = self._compose([(f"{name}_outer", ZERO, outer, Remark())])
            under = self.method == "adjoint" or self.kind == "integral"
            right = (
                integral(first.right, TIME_NAME, self.start_time, self.end_time)
                if under and first.right != ZERO
                else first.right
            )
            right = right if second.right == ZERO else second.right if right == ZERO else add(second.right, right)
            if self.method == "adjoint" and self.starts_with(parameter):
                right = add(right, self.start_term(at_start(self.tangents_of(parameter)[0])))
            listed += [*extra, *more, self.gradient_statement(parameter, right)]
        return listed

    def _compose(self, rows: Sequence[_ScalarRow]) -> list[Statement]:
        """Sums of coefficient times name, in the order given; long coefficients by named intermediates.

        Coefficients that vanish are found as they are written: to ask before would expand each of them twice.
        """
        values = list(dict.fromkeys(self.system.settle([c for _, _, terms, _ in rows for c, _ in terms])))
        parts = [(f"coefficient_{k}", [(value,)], "scalar") for k, value in enumerate(values)]
        listed = part_statements(self.system.equations, parts, HOPELESS)
        nodes = {value: one.right for value, one in zip(values, listed[len(listed) - len(values) :], strict=True)}
        results = []
        for name, left, terms, remark in rows:
            settled = self.system.settle([c for c, _ in terms])
            written = [
                nodes[c] if node is None else times(nodes[c], node)
                for c, (_, node) in zip(settled, terms, strict=True)
                if nodes[c] != ZERO
            ]
            right = add(*written) if written else ZERO
            results.append(Statement(name, left, ((right,),), "scalar", remark=remark))
        return [*listed[: len(listed) - len(values)], *results]

    def constraints(self) -> list[Statement]:
        """What the constraints say of u: their derivatives along it."""
        if not self.system.constrained or self.method == "adjoint":
            return []
        listed = []
        for parameter, tangent in zip(self.system.parameters, self.system.tangents, strict=True):
            moved = self.elements.along(tangent)
            for name, value, remark in constraint_rows(self.system.equations):
                along = self.system.settle(directional_derivative([value], moved))[0]
                about = Remark(f"{remark.meaning}, differentiated by {parameter.name}")
                written = part_statements(self.system.equations, [(name, [(along,)], "scalar")], HOPELESS)
                listed += [
                    *written[:-1],
                    Statement(f"{name}_{parameter.name}", ZERO, written[-1].rows, "scalar", remark=about),
                ]
        return listed


def _coefficient_terms(coefficients: Sequence[Expr], names: Sequence[Expr]) -> list[_Weighted]:
    pairs = zip(coefficients, names, strict=True)
    return [(c, read_name(str(name.name))) for c, name in pairs if not c.is_zero]


def _spelling(node: Node | None) -> str:
    assert isinstance(node, Name)
    return node.text + "'" * node.dots
