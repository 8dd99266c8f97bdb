"""Functions of a mechanism as programs, by the names users know, and compiled as kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torseur.algebra.graph import Expr, Input, Output, Program, as_expr, live_nodes, matrix, substitute, symbol, vector
from torseur.algebra.graph.solve import factorize
from torseur.computation.codegen import Kernel, bake, compile_program
from torseur.computation.functions.many_constraints import constrained_system
from torseur.computation.functions.single_precision import in_single_precision, spares_digits
from torseur.derivation import dynamics as td
from torseur.derivation.equations.equations import Equations, require_equations
from torseur.derivation.equations.formulation import as_expressions
from torseur.derivation.equations.parameter_values import values_for
from torseur.derivation.equations.sensitivity_elements import SensitivityElements
from torseur.derivation.loops import ConstraintEquation
from torseur.description.mechanism import TIME, Frame, require_smooth
from torseur.errors import TorseurError, UnsupportedError, unknown_name

if TYPE_CHECKING:
    from torseur.computation.codegen.targets.cuda.cuda_kernel import CudaKernel

PARAMETERS = "p"


def compile_equations(
    equations: Equations,
    functions: Sequence[str] = ("forward_dynamics",),
    backend: str = "auto",
    baked: Mapping[str, float] | None = None,
    precision: str = "float64",
    fast_sines: bool = False,
) -> Kernel | CudaKernel:
    """A kernel that computes the named functions of a mechanism (see FUNCTIONS, and "frame:NAME", "motion:NAME").

    Derivatives are asked for with a slash, "forward_dynamics/q,v" (see function_requests.py).

    Inputs t, q, v, vdot, tau and p as the functions need them, and u for undetermined functions. Parameters p stay
    live; `baked` fixes all of them at their values, with these changes, in the code. Backend "cuda" gives a kernel
    over many states on the GPU, in "float32", "float64", or "mixed": in single precision but for what is divided by.
    `fast_sines` lets it take sines from the special function unit: absolute errors up to 5e-7,
    and what two units in the last place of the angle make.
    """
    require_equations(equations)
    if backend == "cuda" and precision == "float32":
        equations = in_single_precision(equations)
    program = _requested_program(equations, functions)
    if baked is not None and len(equations.layout.parameters):
        values = values_for(equations, program.nodes, baked)
        # Functions without parameters, such as rates of plain coordinates, have nothing to fix.
        if any(group.name == PARAMETERS for group in program.inputs):
            program = bake(program, {PARAMETERS: values})
    live = [g.name for g in program.inputs if g.name == PARAMETERS]
    if backend == "cuda":
        from torseur.computation.codegen.targets.cuda.cuda_kernel import CudaKernel

        return CudaKernel(program, live, precision, fast_sines)
    if precision != "float64" or fast_sines:
        asked = f"precision '{precision}'" if precision != "float64" else "fast_sines"
        raise UnsupportedError(f"backend '{backend}' computes in float64 with all digits; {asked} is for 'cuda'.")
    return compile_program(program, backend, parameters=live)


def _requested_program(equations: Equations, functions: Sequence[str]) -> Program:
    """One program of functions and derivatives; of a single request with all the shorter ways it has."""
    if isinstance(functions, str):  # one name, or several with commas as in commands
        from torseur.computation.functions.function_requests import split_requests

        functions = split_requests(functions)
    for function in functions:
        require_lasting(equations, function)
    if not any("/" in function for function in functions):
        return program_of(equations, functions)
    from torseur.computation.functions.function_requests import programs_of

    programs = programs_of(equations, list(functions))
    if len(programs) == 1:
        return programs[0]
    inputs = {group.name: group for program in programs for group in program.inputs}
    outputs = tuple(output for program in programs for output in program.outputs)
    return Program("_".join(program.name for program in programs), tuple(inputs.values()), outputs)


def require_lasting(equations: Equations, request: str) -> None:
    """Refuses functions in which stops, dry friction and contact would be missing."""
    function = request.split("/")[0].strip()
    if function in ("inverse_dynamics", "forward_dynamics", "constrained_forward_dynamics", "loads"):
        require_smooth(equations.mechanism, f"the function {function}")


def program_of(equations: Equations, functions: Sequence[str]) -> Program:
    """The named functions as one straight-line program."""
    outputs = [output for name in functions for output in outputs_of(equations, name)]
    used = set(Program("probe", all_inputs(equations), tuple(outputs)).nodes)
    always = {"q"}
    inputs = [g for g in all_inputs(equations) if g.name in always or used & set(g.nodes)]
    return Program("_".join(f.replace(":", "_") for f in functions), tuple(inputs), tuple(outputs))


def outputs_of(equations: Equations, function: str) -> list[Output]:
    """What a function of a mechanism gives."""
    kind, _, name = function.partition(":")
    if name and kind in FRAME_FUNCTIONS:
        return FRAME_FUNCTIONS[kind](equations, name)
    if function not in FUNCTIONS:
        raise TorseurError(unknown_name("function", function, [*FUNCTIONS, *(f"{k}:NAME" for k in FRAME_FUNCTIONS)]))
    return FUNCTIONS[function](equations)


def forces_of(equations: Equations) -> tuple[Expr, ...]:
    """Symbols of generalised forces applied besides the loads."""
    speeds = [(str(v.name), v.data.unit) for v in equations.layout.speeds]
    return tuple(symbol(f"tau.{name}", _force_unit(unit), f"generalised force along {name}") for name, unit in speeds)


def _force_unit(speed_unit: str) -> str:
    """The unit of a force whose power along a speed is in watts."""
    return {"m/s": "N", "rad/s": "N*m", "1/s": "N*m"}.get(speed_unit, "1")


def all_inputs(equations: Equations) -> tuple[Input, ...]:
    """What the functions of a mechanism may depend on."""
    layout = equations.layout
    return (
        Input("t", (TIME,)),
        Input("q", layout.coordinates),
        Input("v", layout.speeds),
        Input("vdot", layout.accelerations),
        Input("tau", forces_of(equations)),
        Input("u", equations.undetermined),
        Input("multipliers", equations.multipliers if equations.is_constrained else ()),
        Input(PARAMETERS, layout.parameters),
    )


def _inverse_dynamics(e: Equations) -> list[Output]:
    """Generalised forces, besides the loads, that produce vdot."""
    require_open(e, "inverse_dynamics")
    layout = e.layout
    needed = td.inverse_dynamics(e.regrouped_tree, layout.coordinates, layout.speeds, layout.accelerations)
    return [vector("tau", [a - b for a, b in zip(needed, e.loads, strict=True)])]


FEW_SPEEDS = 20
"""Speeds up to which forward dynamics is written in both ways and the shorter one taken."""


def _forward_dynamics(e: Equations) -> list[Output]:
    """Accelerations under the loads and the generalised forces tau.

    Articulated bodies win on long chains; with short limbs, as those of a quadruped, the factors of the mass matrix
    take a fifth fewer operations.
    """
    require_open(e, "forward_dynamics")
    ways = [_by_articulated_bodies(e)]
    if len(e.layout.speeds) <= FEW_SPEEDS and not spares_digits(e):
        ways.append(_by_mass_matrix(e))
    return [vector("vdot", ways[0] if len(ways) == 1 else min(ways, key=_operations))]


def _by_articulated_bodies(e: Equations) -> list[Expr]:
    q, v = e.layout.coordinates, e.layout.speeds
    if e.is_reframed:
        given = [load + force for load, force in zip(e.loads, forces_of(e), strict=True)]
        return as_expressions(td.forward_dynamics(e.regrouped_tree, q, v, given))
    loads = td.load_sum(e.tree.at(q, v))
    forces = [loads.generalised.get(k, 0) + force for k, force in enumerate(forces_of(e))]
    return as_expressions(td.forward_dynamics(e.regrouped_tree, q, v, forces, loads.wrenches))


def _by_mass_matrix(e: Equations) -> list[Expr]:
    layout = e.layout
    bias = td.bias(e.regrouped_tree, layout.coordinates, layout.speeds)
    given = zip(e.loads, forces_of(e), bias, strict=True)
    matrix = [as_expressions(row) for row in _mass_matrix(e)]
    return factorize(matrix, layout.speed_names).solve([as_expr(a + b - c) for a, b, c in given])


def _operations(results: Sequence[Expr]) -> int:
    return sum(1 for node in live_nodes(results) if node.args)


def require_open(e: Equations, function: str) -> None:
    """Refuses mechanisms whose speeds are tied."""
    if e.is_constrained:
        raise UnsupportedError(
            f"{function} has no formula for mechanism '{e.mechanism.name}': loops or constraints tie its speeds. "
            "Ask for constrained_forward_dynamics; its mass_matrix, bias and loads are those of the tree."
        )


def _mass_matrix(e: Equations) -> list[list[Expr]]:
    """M, from regrouped parameters."""
    return td.mass_matrix(e.regrouped_tree, e.layout.coordinates)


def _mass_matrix_triangle(e: Equations) -> list[Output]:
    """Lower triangle of M, one row after the other."""
    rows = _mass_matrix(e)
    return [vector("mass_matrix_triangle", [entry for i, row in enumerate(rows) for entry in row[: i + 1]])]


def _constraints(e: Equations, function: str) -> tuple[ConstraintEquation, ...]:
    if not e.constraints:
        raise UnsupportedError(f"{function}: mechanism '{e.mechanism.name}' has no loops and no constraints.")
    return e.constraints


def _constraint_residuals(e: Equations) -> list[Output]:
    """Φ(q, t) of holonomic constraints, C v + drift of the others."""
    return [vector("constraint_residuals", [c.residual for c in _constraints(e, "constraint_residuals")])]


def _constraint_jacobian(e: Equations) -> list[Output]:
    """C in C v + drift = 0 and C v' = γ."""
    return [matrix("constraint_jacobian", [c.row for c in _constraints(e, "constraint_jacobian")])]


def _constraint_gamma(e: Equations) -> list[Output]:
    """γ in C v' = γ."""
    return [vector("constraint_gamma", [c.gamma for c in _constraints(e, "constraint_gamma")])]


def _constrained_forward_dynamics(e: Equations) -> list[Output]:
    """Accelerations under the loads, the generalised forces tau and the constraints, and their multipliers."""
    _constraints(e, "constrained_forward_dynamics")
    accelerations, multipliers = constrained_system(e).accelerations(forces_of(e))
    return [vector("vdot", accelerations), vector("multipliers", multipliers)]


def _constraint_corrections(e: Equations) -> list[Output]:
    """Changes of q and v that bring a state near the constraints back to them; the error that is left is its square."""
    _constraints(e, "constraint_corrections")
    places, speeds = constrained_system(e).corrections()
    return [vector("q_correction", places), vector("v_correction", speeds)]


def _frame(e: Equations, name: str) -> list[Output]:
    """Position, rotation matrix and Jacobian (rows: angular x y z, linear x y z, earth axes) of a frame."""
    frame = _named_frame(e, name)
    place = td.pose(e.tree, frame, e.layout.coordinates)
    columns = [td.in_earth_axes(place, c) for c in td.jacobian(e.tree, frame, e.layout.coordinates)]
    rows = [[list(c.angular)[i] for c in columns] for i in range(3)]
    rows += [[list(c.linear)[i] for c in columns] for i in range(3)]
    return [
        vector(f"{name}.position", list(place.position)),
        matrix(f"{name}.rotation", [list(row) for row in place.rotation.matrix.rows]),
        matrix(f"{name}.jacobian", rows),
    ]


def _motion(e: Equations, name: str) -> list[Output]:
    """Velocity and acceleration of a frame (angular x y z, then of its origin x y z, earth axes)."""
    frame, layout = _named_frame(e, name), e.layout
    place = td.pose(e.tree, frame, layout.coordinates)
    velocity = td.velocity(e.tree, frame, layout.coordinates, layout.speeds)
    acceleration = td.acceleration(e.tree, frame, layout.coordinates, layout.speeds, layout.accelerations)
    turned = [
        (what, td.in_earth_axes(place, m)) for what, m in (("velocity", velocity), ("acceleration", acceleration))
    ]
    return [vector(f"{name}.{what}", [*motion.angular, *motion.linear]) for what, motion in turned]


def _named_frame(e: Equations, name: str) -> Frame:
    named = dict(e.mechanism.frames)
    return named[name] if name in named else Frame(e.mechanism.body(name).name)


def _sensitivity_elements(e: Equations) -> list[Output]:
    """A, J, B, A' and f_p - A_p y' of A(y, t, p) y' = f(y, t, p), at given accelerations and multipliers."""
    elements = SensitivityElements(e)
    forcing = [elements.forcing({p: 1}) for p in e.layout.parameters]
    outputs = [
        matrix("state_matrix", elements.matrix),
        vector("state_right", elements.right),
        matrix("state_jacobian", elements.jacobian),
        matrix("mass_jacobian", elements.mass_jacobian),
        matrix("matrix_rate", elements.matrix_rate),
    ]
    outputs += [matrix("parameter_forcing", list(zip(*forcing, strict=True)))] if forcing else []
    # Coupled rates of states are no inputs: they follow from the state.
    known = {e.layout.rates[slot]: e.rates[slot] for slot in e.coupled_slots}
    return [replace(one, entries=tuple(substitute(list(one.entries), known))) for one in outputs] if known else outputs


FRAME_FUNCTIONS = {"frame": _frame, "motion": _motion}
"""Functions of a frame or body, asked for as frame:NAME and motion:NAME."""

FUNCTIONS: dict[str, Callable[[Equations], list[Output]]] = {
    "inverse_dynamics": _inverse_dynamics,
    "forward_dynamics": _forward_dynamics,
    "mass_matrix": lambda e: [matrix("mass_matrix", _mass_matrix(e))],
    "mass_matrix_triangle": _mass_matrix_triangle,
    "bias": lambda e: [vector("bias", e.bias)],
    "gravity": lambda e: [vector("gravity", td.gravity_forces(e.tree, e.layout.coordinates))],
    "loads": lambda e: [vector("loads", e.loads)],
    "rates": lambda e: [vector("rates", e.rates)],
    "energies": lambda e: [vector("energies", [e.kinetic_energy, e.potential_energy])],
    "coriolis_matrix": lambda e: [
        matrix("coriolis_matrix", td.coriolis_matrix(e.tree, e.layout.coordinates, e.layout.speeds))
    ],
    "regressor": lambda e: [
        matrix("regressor", td.regressor(e.tree, e.layout.coordinates, e.layout.speeds, e.layout.accelerations))
    ],
    "sensitivity_elements": _sensitivity_elements,
    "constraint_residuals": _constraint_residuals,
    "constraint_jacobian": _constraint_jacobian,
    "constraint_gamma": _constraint_gamma,
    "constrained_forward_dynamics": _constrained_forward_dynamics,
    "constraint_corrections": _constraint_corrections,
}
