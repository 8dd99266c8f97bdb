"""The normal equations of markers on a mechanism, as one straight-line program.

To minimise ½ Σ w |m - x(q)|², Gauss and Newton solve (Σ w Jᵀ J) δ = Σ w Jᵀ (m - x). The matrix is the mass matrix of
the mechanism with a point mass w at each marker's place, and the right side the generalised forces of springs of
stiffness w from there to the recorded points: composite bodies and one inward sweep give both, without any Jacobian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, Input, Program, as_expr, substitute, symbol, symbols_of, vector
from torseur.algebra.graph.scalar import sqrt
from torseur.algebra.spatial import NO_FORCE, NO_INERTIA, ZERO_SYMMETRIC, Force, Inertia, Vec3, inertia_at
from torseur.derivation.dynamics import link_poses, mass_matrix
from torseur.derivation.dynamics.inverse_dynamics import project
from torseur.derivation.equations import Equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.tree import GROUND, Tree
from torseur.description.mechanism import TIME, Frame
from torseur.errors import RecordingError

CLOSURE_WEIGHT = 1e5
"""Weight of closed loops beside that of a marker: their gaps stay below some hundred-thousandths of the markers'.

With more, rounding would hide whether the markers determine the motion that loops leave free.
"""

Entries = list[list[Expr]]


# Why markers are point masses: docs/decisions/0047-markers-as-point-masses.md.
@dataclass(frozen=True)
class MarkerEquations:
    """Programs of a mechanism that carries markers at `places`, one weight and one recorded point per marker.

    normal     t, q, p, points, weights -> lower triangle of the matrix by rows, right side, and cost Σ w |m - x|²
    positions  t, q, p -> places of the markers in the laboratory
    step       t, q, p, change (of the speeds) -> coordinates after it, quaternions at unit length
    """

    equations: Equations
    places: Mapping[str, Frame]

    def __post_init__(self) -> None:
        for label, frame in self.places.items():
            if self.equations.tree.place(frame)[0] == GROUND:
                raise RecordingError(f"marker '{label}' is fixed to the earth in '{self.equations.mechanism.name}'.")

    @property
    def tree(self) -> Tree:
        return self.equations.tree

    @property
    def inputs(self) -> tuple[Input, ...]:
        layout = self.equations.layout
        return Input("t", (TIME,)), Input("q", layout.coordinates), Input("p", layout.parameters)

    @cached_property
    def normal(self) -> Program:
        points, weights = self._recording_symbols()
        matrix = mass_matrix(self._weighted_tree(weights), self.equations.layout.coordinates, TIME)
        right, cost = self._spring_forces(points, weights)
        cost = cost + self._close(matrix, right)
        triangle = [as_expr(entry) for i, row in enumerate(matrix) for entry in row[: i + 1]]
        inputs = (Input("points", tuple(x for point in points for x in point)), Input("weights", tuple(weights)))
        results = (vector("matrix", triangle), vector("right", right), vector("cost", [cost]))
        return Program("marker_equations", (*self.inputs, *inputs), results)

    @property
    def positions(self) -> Program:
        poses = link_poses(self.tree.at(self.equations.layout.coordinates, None, TIME))
        places = [self.tree.place(frame) for frame in self.places.values()]
        points = [poses[link].point_to_parent(place.position) for link, place in places]
        return Program("marker_positions", self.inputs, (vector("x", [c for point in points for c in point]),))

    @property
    def step(self) -> Program:
        """q + N(q) δ: a retraction, equal to the motion at speeds δ to first order."""
        layout = self.equations.layout
        still = dict.fromkeys(layout.speeds, as_expr(0))
        # Time stands still within a frame: what drivers add to q' is no part of the step.
        drift = substitute(list(self.equations.rates), still)
        moved = {q: q + rate - own
                 for q, rate, own in zip(layout.coordinates, self.equations.rates, drift, strict=True)}  # fmt: skip
        for link in self.tree.links:
            length = sqrt(sum((moved[x] * moved[x] for x in link.symbols.quaternion), as_expr(0)))
            moved |= {x: moved[x] / length for x in link.symbols.quaternion}
        return Program("step", (*self.inputs, Input("change", layout.speeds)), (vector("moved", list(moved.values())),))

    @property
    def needed_parameters(self) -> list[str]:
        """Parameters on which the places of the markers depend."""
        known = set(self.equations.layout.parameters)
        used = symbols_of([entry for output in self.normal.outputs for entry in output.entries])
        return [str(x.name) for x in used if x in known]

    @property
    def closures(self) -> tuple[ConstraintEquation, ...]:
        """Constraints between coordinates; those between speeds do not restrict where a mechanism can be."""
        return tuple(c for c in self.equations.constraints if c.is_holonomic)

    def _recording_symbols(self) -> tuple[list[Vec3], list[Expr]]:
        points = [Vec3(*(symbol(f"{label}.{axis}", "m") for axis in "xyz")) for label in self.places]
        return points, [symbol(f"{label}.weight") for label in self.places]

    def _weighted_tree(self, weights: Sequence[Expr]) -> Tree:
        """The tree with nothing but point masses at the markers."""
        inertias: list[Inertia] = [NO_INERTIA for _ in self.tree.links]
        for frame, weight in zip(self.places.values(), weights, strict=True):
            link, place = self.tree.place(frame)
            inertias[link] = inertias[link] + inertia_at(weight, place.position, ZERO_SYMMETRIC)
        links = tuple(replace(link, inertia=own) for link, own in zip(self.tree.links, inertias, strict=True))
        return replace(self.tree, links=links)

    def _spring_forces(self, points: Sequence[Vec3], weights: Sequence[Expr]) -> tuple[list[Expr], Expr]:
        """Generalised forces of the springs to the recorded points, and twice their energy."""
        now = self.tree.at(self.equations.layout.coordinates, None, TIME)
        poses, forces, cost = link_poses(now), [NO_FORCE for _ in self.tree.links], as_expr(0)
        for frame, point, weight in zip(self.places.values(), points, weights, strict=True):
            link, place = self.tree.place(frame)
            # In the link's axes, as wrenches are: the place of a marker is a constant there.
            gap = poses[link].rotation.to_child(point - poses[link].position) - place.position
            pull = gap * weight
            forces[link] = forces[link] + Force(place.position.cross(pull), pull)
            cost = cost + weight * gap.dot(gap)
        return [as_expr(entry) for entry in project(now, forces)], cost

    def _close(self, matrix: Entries, right: list[Expr]) -> Expr:
        """Adds the springs that hold loops closed; twice their energy."""
        cost = as_expr(0)
        for closure in self.closures:
            cost = cost + CLOSURE_WEIGHT * closure.residual * closure.residual
            for i, a in enumerate(closure.row):
                right[i] = right[i] - CLOSURE_WEIGHT * a * closure.residual
                for j, b in enumerate(closure.row):
                    matrix[i][j] = matrix[i][j] + CLOSURE_WEIGHT * a * b
        return cost
