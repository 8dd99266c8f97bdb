"""Functions of mechanisms with limbs that are alike, computed for all of these limbs at once.

The recursions run over the batched tree (see derivation/tree/transformations/limb_batching.py); each entry of a result
is then a lane of what they give. The results are those of the plain functions, in fewer operations for targets that
have vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, Input, Output, Program, Solved, as_expr, matrix, symbol, vector
from torseur.algebra.graph.simd_batching import LANEWISE, packed, substitute_packed, total
from torseur.algebra.graph.solve import SymmetricFactors, factorize
from torseur.computation.functions.differentiation_variables import Rows, Variables
from torseur.computation.functions.mechanism_functions import forces_of
from torseur.computation.functions.recursive_derivatives import AccelerationDerivatives, plain_jacobian
from torseur.derivation import dynamics as td
from torseur.derivation.dynamics.inverse_dynamics_derivatives import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.tree.transformations.limb_batching import BatchedTree, batch_limbs


def folded_of(equations: Equations, function: str = "inverse_dynamics") -> BatchedTree | None:
    """The equations' tree with limbs that are alike taken as one, for a function that has a form with such limbs.

    None if there are no limbs that are alike, or if loops tie them; or if a joint anywhere follows others, because the
    factors of its mass matrix go row by row over all speeds, of which lanes hide some.
    """
    tree = equations.regrouped_tree
    return None if function not in _FUNCTIONS or equations.is_constrained or tree.is_coupled else batch_limbs(tree)


def batched_outputs(equations: Equations, function: str, limbs: BatchedTree) -> list[Output]:
    """What a function gives, by the batched tree."""
    return _FUNCTIONS[function](equations, limbs)


def batched_program(
    limbs: BatchedTree, name: str, inputs: Sequence[Input], outputs: Sequence[Output]
) -> Program | None:
    """A program of outputs in the batched tree's symbols; None if it has operations that vectors lack."""
    flat = [entry for output in outputs for entry in output.entries]
    entries = iter(substitute_packed(flat, limbs.leaves, limbs.tree.layout.parameters))
    results = tuple(Output(o.name, o.shape, tuple(next(entries) for _ in o.entries)) for o in outputs)
    program = Program(name, tuple(inputs), results)
    size = program.widths
    wide = [node for node in program.operations if size[node] > 1 and node.op != "pack"]
    return program if wide and all(node.op in LANEWISE for node in wide) else None


def _inverse(e: Equations, limbs: BatchedTree) -> list[Output]:
    layout = limbs.tree.layout
    tau = td.inverse_dynamics(limbs.tree, layout.coordinates, layout.speeds, limbs.accelerations)
    return [vector("tau", [limbs.entry(tau, i) - load for i, load in enumerate(e.loads)])]


def _forward(e: Equations, limbs: BatchedTree) -> list[Output]:
    layout = limbs.tree.layout
    pushes = spread_entries(limbs, [load + force for load, force in zip(e.loads, forces_of(e), strict=True)])
    vdot = td.forward_dynamics(limbs.tree, layout.coordinates, layout.speeds, pushes)
    return [vector("vdot", [limbs.entry(vdot, i) for i in range(len(e.loads))])]


def _mass_rows(e: Equations, limbs: BatchedTree) -> Rows:
    rows = td.mass_matrix(limbs.tree, limbs.tree.layout.coordinates)
    n = range(len(e.layout.speeds))
    return [[limbs.entry_of(rows, i, j) for j in n] for i in n]


def _triangle(e: Equations, limbs: BatchedTree) -> list[Output]:
    rows = _mass_rows(e, limbs)
    return [vector("mass_matrix_triangle", [entry for i, row in enumerate(rows) for entry in row[: i + 1]])]


_FUNCTIONS: dict[str, Callable[[Equations, BatchedTree], list[Output]]] = {
    "inverse_dynamics": _inverse,
    "forward_dynamics": _forward,
    "mass_matrix": lambda e, limbs: [matrix("mass_matrix", _mass_rows(e, limbs))],
    "mass_matrix_triangle": _triangle,
}


def spread_entries(limbs: BatchedTree, values: Sequence[Expr]) -> list[Expr]:
    """A vector of the whole tree in the folded one: symbols for its entries in limbs."""
    entries = [as_expr(value) for value in values]
    lanes: dict[int, list[Expr]] = {}
    for i, (seat, _) in enumerate(limbs.seats):
        if limbs.limbs[i] is not None:
            lanes.setdefault(seat, []).append(as_expr(values[i]))
    for seat, alike in lanes.items():
        entries[seat] = symbol(f"entry {len(limbs.leaves)} of limbs")
        limbs.leaves[entries[seat]] = packed(alike)
    return entries


@dataclass(frozen=True)
class BatchedForceDerivatives:
    """Derivatives of inverse dynamics at given accelerations of the batched tree."""

    equations: Equations
    limbs: BatchedTree
    vdot: tuple[Expr, ...]

    def rows(self, by: Variables) -> Rows:
        """One row per force; by displacements, coordinates, speeds or accelerations."""
        n = range(len(self.equations.layout.speeds))
        places = [self._place(node, by.along) for node in by.nodes]
        forces = [[self.limbs.entry_of(part, i, j) for part, j in places] for i in n]
        loads = plain_jacobian(self.equations, self.equations.loads, by)
        return [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(forces, loads, strict=True)]

    def knows(self, by: Variables) -> bool:
        """Whether the recursion gives these derivatives."""
        layout = self.equations.layout
        rates = dict(zip(layout.coordinates, self.equations.rates, strict=True))
        known = {*layout.speeds, *layout.accelerations, *(q for q, rate in rates.items() if rate in layout.speeds)}
        return all(node in known for node in by.nodes)

    def _place(self, node: Expr, along: bool) -> tuple[Rows, int]:
        """The matrix of the batched tree that holds a column, and which column of the whole tree it is."""
        layout, parts = self.equations.layout, self.parts
        if node in layout.coordinates:
            return parts.by_displacement, layout.speeds.index(self.equations.rates[layout.coordinates.index(node)])
        if node in layout.accelerations:
            return parts.mass_matrix, layout.accelerations.index(node)
        return parts.by_displacement if along else parts.by_speed, layout.speeds.index(node)

    @cached_property
    def parts(self) -> InverseDynamicsDerivatives:
        layout = self.limbs.tree.layout
        return inverse_dynamics_derivatives(self.limbs.tree, layout.coordinates, layout.speeds, self.vdot)


@dataclass(frozen=True)
class BatchedAccelerationDerivatives(AccelerationDerivatives):
    """Derivatives of forward dynamics with the terms of their linear system from the batched tree."""

    limbs: BatchedTree

    @cached_property
    def _forces(self) -> BatchedForceDerivatives:  # type: ignore[override]
        layout, present = self.limbs.tree.layout, self.limbs.present
        bias = td.bias(self.limbs.tree, layout.coordinates, layout.speeds)
        given = zip(self.equations.loads, forces_of(self.equations), strict=True)
        pushes = spread_entries(self.limbs, [load + force for load, force in given])
        solved = self._compact.solve([pushes[i] - bias[i] for i in present])
        vdot = [as_expr(0)] * len(bias)
        for i, value in zip(present, solved, strict=True):
            vdot[i] = value
        return BatchedForceDerivatives(self.equations, self.limbs, tuple(vdot))

    @cached_property
    def _compact(self) -> SymmetricFactors:
        """The factors of the batched tree's mass matrix."""
        limbs, present = self.limbs, self.limbs.present
        rows = td.mass_matrix(limbs.tree, limbs.tree.layout.coordinates)
        counts = {limb[0]: 0 for limb in limbs.limbs if limb is not None}
        for limb in {limb for limb in limbs.limbs if limb is not None}:
            counts[limb[0]] += 1

        def arriving(k: int, i: int, x: Expr) -> Expr:
            made, met = limbs.limbs[present[k]], limbs.limbs[present[i]]
            return total(x, counts[made[0]]) if made is not None and met is None else x

        names = [self.equations.layout.speed_names[i] for i in present]
        return factorize([as_expressions([rows[i][j] for j in present]) for i in present], names, arriving)

    @cached_property
    def _factors(self) -> SymmetricFactors:
        limbs, n = self.limbs, range(len(self.limbs.seats))
        values = [[as_expr(0)] * len(n) for _ in n]
        diagonal = [as_expr(0)] * len(n)
        for k, i in enumerate(limbs.present):
            diagonal[i] = self._compact.inverse[k]
            for j, entry in self._compact.lower[k].items():
                values[i][limbs.present[j]] = entry
        lower = [[limbs.entry_of(values, i, j) for j in range(i)] for i in n]
        kept = tuple({j: entry for j, entry in enumerate(row) if not entry.is_zero} for row in lower)
        return SymmetricFactors(kept, tuple(limbs.entry(diagonal, i) for i in n))


def batched_derivatives(
    equations: Equations, function: str, ways: Sequence[Variables], outputs: Sequence[Output], limbs: BatchedTree
) -> list[Output] | None:
    """First derivatives of inverse dynamics, in the places of given outputs; None when the recursion lacks some."""
    forces = BatchedForceDerivatives(equations, limbs, limbs.accelerations)
    if function != "inverse_dynamics" or not all(forces.knows(by) for by in ways):
        return None
    rows = [forces.rows(by) for by in ways]
    return [
        Output(output.name, output.shape, tuple(entry for row in entries for entry in row))
        for output, entries in zip(outputs, rows, strict=True)
    ]


def batched_system(
    equations: Equations, solved: Solved, inputs: Sequence[Input], ways: Sequence[Variables], limbs: BatchedTree
) -> Solved:
    """The system of forward dynamics' derivatives with its terms from the batched tree too, where that gives them."""
    forces = forces_of(equations)
    accelerations = BatchedAccelerationDerivatives(equations, limbs)
    if not all(by.nodes[0] in forces or BatchedForceDerivatives(equations, limbs, ()).knows(by) for by in ways):
        return solved
    system = accelerations.system(ways)
    if (system.pattern, system.blocks, system.places) != (solved.pattern, solved.blocks, solved.places):
        return solved
    simd = batched_program(limbs, solved.program.name, inputs, system.outputs)
    return replace(solved, program=replace(solved.program, simd=simd))
