"""The programs of a mechanism: dynamics, constraints at each level, moves of coordinates, derivatives by the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import (
    Expr,
    Input,
    Output,
    Program,
    as_expr,
    jacobian,
    live_nodes,
    matrix,
    substitute,
    symbol,
    vector,
)
from torseur.algebra.graph.scalar import sqrt
from torseur.computation.simulation.constrained.contacts.friction_rows import FrictionRows, pressing
from torseur.computation.simulation.model.elimination_programs import EliminationPrograms
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.derivation.dynamics import inverse_dynamics
from torseur.derivation.dynamics.constrained.elimination_order import is_long
from torseur.derivation.equations import Equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.constraint_equations import residuals
from torseur.derivation.loops.closure.dimension_conditions import conditions
from torseur.derivation.loops.closure.joint_closure import Residual, alignment
from torseur.derivation.tree import regroup, resolve
from torseur.description.mechanism import TIME


@dataclass(frozen=True)
class MechanismPrograms:
    """What the routines call, from the equations of a mechanism; it may have no constraints at all."""

    equations: Equations
    contacts: tuple[ConstraintEquation, ...] = ()
    friction: tuple[FrictionRows, ...] = ()
    impacts: tuple[Impact, ...] = ()  # what the contacts are of

    @cached_property
    def constraints(self) -> tuple[ConstraintEquation, ...]:
        """Holonomic constraints, contacts that may close, velocity constraints, each as described, then friction."""
        own = self.equations.constraints
        holonomic = [c for c in own if c.is_holonomic]
        sliding = [row for element in self.friction for row in element.rows]
        return (*holonomic, *self.contacts, *(c for c in own if not c.is_holonomic), *sliding)

    @cached_property
    def rubbing(self) -> Program:
        """Sliding speeds, amounts of each friction element, the force that presses it and that force's gradient."""
        by_name = dict(zip([c.name for c in self.constraints], self.multipliers, strict=True))
        normals = [pressing(e, self.contacts, self.equations.constraints, by_name) for e in self.friction]
        entries = jacobian(normals, self.multipliers)
        size = range(len(self.multipliers))
        gradients = [[entries.get((i, j), as_expr(0)) for j in size] for i in range(len(normals))]
        outputs = (
            vector("slips", [row.residual for element in self.friction for row in element.rows]),
            matrix("amounts", [list(element.amounts) for element in self.friction]),
            vector("normals", normals),
            matrix("gradients", gradients),
        )
        return Program("rubbing", (*self.inputs, Input("l", self.multipliers)), outputs)

    @cached_property
    def conditions(self) -> list[Residual]:
        """What loops and constraints ask of the dimensions alone."""
        tree = self.equations.tree
        return conditions(tree, residuals(tree))

    @cached_property
    def alignments(self) -> Program:
        """Cosines between the sides of joints that close loops, those of `aligned_joints`."""
        return Program("alignments", self.inputs, (vector("cosines", [cosine for _, cosine in self._alignments]),))

    @property
    def aligned_joints(self) -> tuple[str, ...]:
        """Joints that close loops and hold a direction."""
        return tuple(name for name, _ in self._alignments)

    @cached_property
    def _alignments(self) -> list[tuple[str, Expr]]:
        tree = self.equations.tree
        now = tree.at(tree.layout.coordinates, tree.layout.speeds)
        cosines = [(joint.name, alignment(joint, now)) for joint in tree.loops]
        held = [(name, cosine) for name, cosine in cosines if cosine is not None]
        formulas = resolve(tree.mechanism, dict(tree.definitions), [cosine for _, cosine in held])
        return [(name, cosine) for (name, _), cosine in zip(held, formulas, strict=True)]

    @cached_property
    def gaps(self) -> Program:
        """Gaps of the contacts."""
        return Program("gaps", self.inputs, (vector("gaps", [c.residual for c in self.contacts]),))

    @cached_property
    def gap_gradients(self) -> Program:
        """Derivatives of the gaps by the coordinates."""
        coordinates = self.equations.layout.coordinates
        entries = jacobian([c.residual for c in self.contacts], coordinates)
        zero = as_expr(0)
        rows = [[entries.get((i, j), zero) for j in range(len(coordinates))] for i in range(len(self.contacts))]
        return Program("gap_gradients", self.inputs, (matrix("gradients", rows),))

    @property
    def holonomic(self) -> int:
        return sum(c.is_holonomic for c in self.constraints)

    @cached_property
    def multipliers(self) -> tuple[Expr, ...]:
        """Symbols of the multipliers, in the order of the constraints."""
        return tuple(symbol(f"multiplier of {c.name}", "1", f"multiplier of {c.name}") for c in self.constraints)

    @cached_property
    def force(self) -> list[Expr]:
        """f in M v' + Cᵀ λ = f."""
        return [load - bias for load, bias in zip(self.equations.loads, self.equations.bias, strict=True)]

    @cached_property
    def undetermined(self) -> tuple[Expr, ...]:
        """Undetermined functions and their derivatives in loads and constraints, as nodes."""
        amounts = [amount for element in self.friction for amount in element.amounts]
        formulas = [
            *self.force,
            *amounts,
            *(e for c in self.constraints for e in (c.residual, *c.row, c.drift, c.gamma)),
        ]
        return tuple(node for node in live_nodes(formulas) if node.op == "apply")

    @property
    def solution(self) -> tuple[Input, ...]:
        """What is known at a state once the equations are solved there: accelerations and multipliers."""
        return Input("a", self.equations.layout.accelerations), Input("l", self.multipliers)

    @property
    def statics(self) -> dict[str, int]:
        """Compile-time numbers of the routines that call these programs."""
        layout = self.equations.layout
        return {
            "NQ": len(layout.coordinates),
            "NV": len(layout.speeds),
            "NC": len(self.constraints),
            "NH": self.holonomic,
            "NP": len(layout.parameters),
            "NU": len(self.undetermined),
            "PLAIN": int(self.is_plain),
            "QUATERNIONS": int(bool(self.quaternions)),
            "MASSLESS": 0,
            "NK": len(self.contacts),
            "NE1": sum(len(element.rows) == 1 for element in self.friction),
            "NE2": sum(len(element.rows) == 2 for element in self.friction),
            "NT": sum(len(element.rows) for element in self.friction),
            "PRESSED": int(any(element.depends for element in self.friction)),
            "RECURSIVE": 0,
            "MV": len(layout.speeds),
            "MC": len(self.constraints),
            "NFACTORS": 0,
        }

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        layout = self.equations.layout
        states = (*layout.coordinates, *layout.speeds)
        inputs = [Input("t", (TIME,)), Input("y", states), Input("p", layout.parameters)]
        return (*inputs, *([Input("u", self.undetermined)] if self.undetermined else []))

    @property
    def is_plain(self) -> bool:
        """Whether the rates of the coordinates are the speeds themselves."""
        return tuple(self.equations.rates) == tuple(self.equations.layout.speeds)

    @property
    def quaternions(self) -> list[tuple[Expr, ...]]:
        return [link.symbols.quaternion for link in self.equations.tree.links if link.symbols.quaternion]

    @cached_property
    def dynamics(self) -> Program:
        """Rates, M (lower triangle of a square), f, C and γ."""
        # [ M  Cᵀ ] [ v' ]   [ f ]
        # [ C  0  ] [ λ  ] = [ γ ]
        gamma = vector("gamma", [c.gamma for c in self.constraints])
        outputs = (vector("rates", self.equations.rates), self._mass, vector("force", self.force), self._rows, gamma)
        return Program("dynamics", self.inputs, outputs)

    @cached_property
    def is_eliminated(self) -> bool:
        """Whether elimination along the tree is the shorter way, and not longer than a motion repays."""
        e = self.equations
        return e.is_sparse and not is_long(e.regrouped_tree, *e.rows_and_groups)

    @cached_property
    def elimination(self) -> EliminationPrograms:
        """Programs that take the place of those with M and C where there are many constraints."""
        return EliminationPrograms(self.equations, self.constraints, self.inputs, tuple(self.force))

    @cached_property
    def positions(self) -> Program:
        """M, C and Φ, which is 0 for velocity constraints."""
        return Program("positions", self.inputs, (self._mass, self._rows, self._phi))

    @cached_property
    def velocities(self) -> Program:
        """C, Φ and the drift of C v + drift = 0."""
        drift = vector("drift", [c.drift for c in self.constraints])
        return Program("velocities", self.inputs, (self._rows, self._phi, drift))

    @cached_property
    def displaced(self) -> Program:
        """Coordinates moved along the speeds by w: q + (q' at v = w) - (q' at v = 0)."""
        layout = self.equations.layout
        w = tuple(symbol(f"move along {v.name}", "1") for v in layout.speeds)
        # What loops and projections displace are the bodies. The rate of a state may depend on speeds, or divide by one
        # that is put to zero here; the state stays.
        rates = list(self.equations.rates)[: len(layout.joint_coordinates)]
        moving = substitute(rates, dict(zip(layout.speeds, w, strict=True)))
        still = substitute(rates, {v: as_expr(0) for v in layout.speeds})
        moved = [q + a - b for q, a, b in zip(layout.joint_coordinates, moving, still, strict=True)]
        moved = [*moved, *layout.states]
        return Program("displaced", (*self.inputs, Input("w", w)), (vector("q", moved),))

    @cached_property
    def linearised(self) -> Program:
        """M, C, and the derivatives by the state (a row per state) of the rates, of M v' + Cᵀ λ - f, and of C v' - γ.

        Accelerations and multipliers are inputs and do not vary. Neither do laws, which depend on time alone here.
        """
        # A law of time has no derivative by the state; as a symbol it is not asked for one.
        known = {node: symbol(f"law {k}", "1") for k, node in enumerate(self.undetermined)}
        outputs = self._linearisation(known)
        inputs = [Input("u", tuple(known.values())) if group.name == "u" else group for group in self.inputs]
        return Program("linearised", (*inputs, *self.solution), outputs)

    @cached_property
    def linearised_with_laws(self) -> Program:
        """The same with laws that vary with the state; their derivatives are among the inputs u."""
        outputs = self._linearisation({})
        laws = [node for node in live_nodes([e for o in outputs for e in o.entries]) if node.op == "apply"]
        inputs = [group for group in self.inputs if group.name != "u"]
        return Program("linearised", (*inputs, *([Input("u", tuple(laws))] if laws else []), *self.solution), outputs)

    def _linearisation(self, known: Mapping[Expr, Expr]) -> tuple[Output, ...]:
        layout = self.equations.layout
        states = (*layout.coordinates, *layout.speeds)
        formulas = substitute([*self.equations.rates, *self._balance, *self._accelerated], known)
        derivatives = jacobian(formulas, states)
        parts, first = [], 0
        for name, size in (
            ("rate_derivatives", len(layout.coordinates)),
            ("force_derivatives", len(layout.speeds)),
            ("row_derivatives", len(self.constraints)),
        ):
            rows = [[derivatives.get((first + i, j), as_expr(0)) for i in range(size)] for j in range(len(states))]
            parts.append(matrix(name, rows))
            first += size
        matrices = [replace(m, entries=tuple(substitute(m.entries, known))) for m in (self._mass, self._rows)]
        return (*matrices, *parts)

    @property
    def residuals(self) -> list[Expr]:
        """M v' + Cᵀ λ - f, then C v' - γ, with accelerations and multipliers as symbols."""
        return [*self._balance, *self._accelerated]

    @property
    def _balance(self) -> list[Expr]:
        """M v' + Cᵀ λ - f."""
        layout = self.equations.layout
        # Recursive inverse dynamics instead of M v' + b: fewer operations, and its derivatives too. Inertias of fixed
        # and merged links are put together first: docs/decisions/0006-regrouping-maps-tree-to-tree.md.
        tree = regroup(self.equations.tree)
        taken = inverse_dynamics(tree, layout.coordinates, layout.speeds, layout.accelerations)
        total = [as_expr(a) - b for a, b in zip(taken, self.equations.loads, strict=True)]
        for constraint, multiplier in zip(self.constraints, self.multipliers, strict=True):
            total = [a + c * multiplier for a, c in zip(total, constraint.row, strict=True)]
        return total

    @property
    def _accelerated(self) -> list[Expr]:
        """C v' - γ."""
        accelerations = self.equations.layout.accelerations
        return [
            sum((c * a for c, a in zip(constraint.row, accelerations, strict=True)), -constraint.gamma)
            for constraint in self.constraints
        ]

    def evaluator(self, program: Program) -> Evaluator:
        """The means to evaluate a program of this mechanism at single states."""
        if id(program) not in self._evaluators:
            self._evaluators[id(program)] = Evaluator(program)
        return self._evaluators[id(program)]

    @cached_property
    def _evaluators(self) -> dict[int, Evaluator]:
        return {}

    @cached_property
    def normalised(self) -> Program:
        """The state with every quaternion brought back to length one."""
        (states,) = [group.nodes for group in self.inputs if group.name == "y"]
        unit = {x: x for x in states}
        for quaternion in self.quaternions:
            length = sqrt(sum((x * x for x in quaternion), as_expr(0)))
            unit |= {x: x / length for x in quaternion}
        return Program("normalised", (Input("y", states),), (vector("out", [unit[x] for x in states]),))

    @cached_property
    def _mass(self) -> Output:
        # The lower triangle alone: Cholesky's factors need no more, and half the entries are not computed.
        rows = enumerate(self.equations.mass_matrix)
        return matrix("mass", [[entry if j <= i else as_expr(0) for j, entry in enumerate(row)] for i, row in rows])

    @cached_property
    def _rows(self) -> Output:
        shape = (len(self.constraints), len(self.equations.layout.speeds))
        return Output("rows", shape, tuple(entry for c in self.constraints for entry in c.row))

    @cached_property
    def _phi(self) -> Output:
        return vector("phi", [c.residual if c.is_holonomic else 0 for c in self.constraints])
