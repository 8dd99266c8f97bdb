"""What the functions of a robot compute, as programs of q, v and what else they take."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import (
    Expr,
    Input,
    Output,
    Program,
    as_expr,
    directional_derivative,
    matrix,
    symbol,
    symbols_of,
    vector,
)
from torseur.algebra.spatial import Force, Motion
from torseur.computation.functions.mechanism_functions import PARAMETERS, all_inputs
from torseur.derivation import dynamics as td
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.description.mechanism import TIME, Frame
from torseur.errors import TorseurError, UnsupportedError

LINEAR = "linear"
EARTH_AXES, FRAME_AXES = "earth", "frame"


def _program(
    equations: Equations, name: str, arguments: Sequence[str], outputs: Sequence[Output], others: Sequence[Input] = ()
) -> Program:
    """A program of these inputs, and of the parameters where there are some."""
    entries = [as_expr(entry) for output in outputs for entry in output.entries]
    if TIME in symbols_of(entries):
        raise UnsupportedError(f"{name} of '{equations.mechanism.name}' depends on time. Compile it: ts.compile.")
    inputs: list[Input] = [group for group in all_inputs(equations) if group.name in arguments]
    inputs += others
    inputs += [group for group in all_inputs(equations) if group.name == PARAMETERS and len(group)]
    return Program(name, tuple(inputs), tuple(outputs))


def pose_program(equations: Equations, frame: Frame) -> Program:
    """The place of a frame in the earth as a homogeneous matrix."""
    place = td.pose(equations.tree, frame, equations.layout.coordinates)
    rows = [[*row, p] for row, p in zip(place.rotation.matrix.rows, place.position, strict=True)]
    return _program(equations, "pose", ["q"], [matrix("pose", [*rows, [0, 0, 0, 1]])])


def _columns(equations: Equations, frame: Frame, axes: str) -> list[Motion]:
    tree, q = equations.tree, equations.layout.coordinates
    return td.jacobian(tree, frame, q) if axes == FRAME_AXES else td.earth_jacobian(tree, frame, q)


def _six(column: Motion | Force, order: str) -> list[Expr]:
    """A motion or force as six numbers."""
    parts = (column.linear, column.angular) if isinstance(column, Motion) else (column.force, column.moment)
    first, second = parts if order == LINEAR else reversed(parts)
    return [as_expr(x) for x in (*first, *second)]


def _matrix(name: str, columns: Sequence[Motion | Force], order: str) -> Output:
    return matrix(name, [list(row) for row in zip(*[_six(c, order) for c in columns], strict=True)])


def jacobian_program(equations: Equations, frame: Frame, axes: str, order: str) -> Program:
    """J with velocity = J v: of the frame's origin and angular, in the axes of the earth or of the frame."""
    return _program(equations, "jacobian", ["q"], [_matrix("jacobian", _columns(equations, frame, axes), order)])


def jacobian_rate_program(equations: Equations, frame: Frame, axes: str, order: str) -> Program:
    """dJ/dt of the same matrix along the motion."""
    output = _matrix("jacobian", _columns(equations, frame, axes), order)
    changes = directional_derivative(list(output.entries), Rates(equations.tree).moving)
    return _program(equations, "jacobian_rate", ["q", "v"], [Output("jacobian_rate", output.shape, tuple(changes))])


def mass_centre_program(equations: Equations) -> Program:
    """The mass centre in the earth."""
    centre = td.mass_centre(equations.tree, equations.layout.coordinates)
    return _program(equations, "com", ["q"], [vector("com", list(centre))])


def momentum_program(equations: Equations, order: str) -> Program:
    """Momentum and angular momentum about the mass centre, in earth axes."""
    momentum = td.centroidal_momentum(equations.tree, equations.layout.coordinates, equations.layout.speeds)
    return _program(equations, "centroidal", ["q", "v"], [vector("centroidal", _six(momentum, order))])


def momentum_matrix_program(equations: Equations, order: str) -> Program:
    """A with A v the centroidal momentum."""
    columns = td.momentum_matrix(equations.tree, equations.layout.coordinates)
    return _program(equations, "centroidal_matrix", ["q"], [_matrix("centroidal_matrix", columns, order)])


def direction_program(equations: Equations) -> Program:
    """W with q' = W v of the coordinates; a row of zeros for each state that no speed moves."""
    layout = equations.layout
    ways = Rates(equations.tree).directions
    rows = [[ways.get((i, k), as_expr(0)) for k in range(len(layout.speeds))] for i in range(len(layout.coordinates))]
    return _program(equations, "directions", ["q"], [matrix("directions", rows)])


def place_program(equations: Equations, frames: Sequence[Frame]) -> Program:
    """Places of frames (position, rows of the rotation), residuals of loops, and the rows of both by speed."""
    for constraint in equations.constraints:
        if not constraint.is_holonomic:
            raise UnsupportedError(
                f"'{constraint.owner}' of '{equations.mechanism.name}' ties velocities, not places: what can be "
                "reached depends on the way there. Simulate it, or read the robot without it."
            )
    places: list[Expr] = []
    rows: list[list[Expr]] = []
    for frame in frames:
        place = td.pose(equations.tree, frame, equations.layout.coordinates)
        places += [as_expr(x) for x in (*place.position, *(x for row in place.rotation.matrix.rows for x in row))]
        columns = [_six(column, LINEAR) for column in _columns(equations, frame, EARTH_AXES)]
        rows += [list(row) for row in zip(*columns, strict=True)]
    residuals = [constraint.residual for constraint in equations.constraints]
    rows += [list(constraint.row) for constraint in equations.constraints]
    outputs = [vector("places", places), vector("residuals", residuals), matrix("rows", rows)]
    return _program(equations, "places", ["q"], outputs)


def displaced_program(equations: Equations) -> Program:
    """q + W δ: the coordinates after a displacement along the speeds, quaternions not yet of length one."""
    layout = equations.layout
    change = [symbol(f"{name}.change") for name in layout.speed_names]
    moved = list(layout.coordinates)
    for (i, k), way in Rates(equations.tree).directions.items():
        moved[i] = moved[i] + way * change[k]
    return _program(equations, "displaced", ["q"], [vector("moved", moved)], [Input("change", tuple(change))])


def regressor_program(equations: Equations, links: Sequence[int]) -> Program:
    """Y with τ = Y π for the ten inertial parameters of each of these links."""
    layout = equations.layout
    rows = td.regressor(equations.tree, layout.coordinates, layout.speeds, layout.accelerations)
    kept = [[row[10 * i + k] for i in links for k in range(10)] for row in rows]
    return _program(equations, "regressor", ["q", "v", "vdot"], [matrix("regressor", kept)])


def contact_program(equations: Equations, points: Sequence[tuple[Frame, bool]]) -> Program:
    """M, the forces that are free for acceleration (-b + Q), and J, J' v of points that are held."""
    layout, tree = equations.layout, equations.tree
    rows: list[list[Expr]] = []
    rates: list[Expr] = []
    still = [0] * len(layout.speeds)
    for frame, turns in points:
        place = td.pose(tree, frame, layout.coordinates)
        acceleration = td.acceleration(tree, frame, layout.coordinates, layout.speeds, still)
        held = 6 if turns else 3
        columns = [_six(c, LINEAR)[:held] for c in _columns(equations, frame, EARTH_AXES)]
        rows += [list(row) for row in zip(*columns, strict=True)]
        rates += _six(td.in_earth_axes(place, acceleration), LINEAR)[:held]
    mass = td.mass_matrix(equations.regrouped_tree, layout.coordinates)
    free = [load - bias for load, bias in zip(equations.loads, equations.bias, strict=True)]
    outputs = [matrix("mass_matrix", mass), vector("free", free), matrix("jacobian", rows), vector("rates", rates)]
    return _program(equations, "contacts", ["q", "v"], outputs)


AXES = {"earth": "earth", "world": "earth", "frame": "frame", "local": "frame"}


def axes_of(word: str) -> str:
    if word not in AXES:
        raise TorseurError(f"axes '{word}': expected {', '.join(AXES)}.")
    return AXES[word]


def order_of(word: str) -> str:
    if word not in ("linear", "angular"):
        raise TorseurError(f"order '{word}': expected linear or angular.")
    return word
