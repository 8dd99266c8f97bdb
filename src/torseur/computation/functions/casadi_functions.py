"""Functions of a mechanism for CasADi."""

from __future__ import annotations

from typing import Any

from torseur.computation.codegen import bake
from torseur.computation.codegen.targets.casadi.casadi_program import casadi_program
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.derivation.equations import Equations
from torseur.derivation.equations.parameter_values import parameter_values
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism


def casadi_function(model: Mechanism | Equations, request: str, *, live: bool = False) -> Any:
    """A function of a mechanism as a casadi.Function, with our derivatives as its Jacobian.

    casadi_function(arm, "forward_dynamics")(q, v, tau); the names of functions are those of `compile`. Parameters have
    the values of the mechanism; with live=True they are an input, p.
    """
    equations = model if isinstance(model, Equations) else derive(model)
    (program,) = programs_of(equations, [request])
    if not live and any(group.name == PARAMETERS for group in program.inputs):
        values = parameter_values(equations, {})
        names = equations.layout.parameter_names
        program = bake(program, {PARAMETERS: [float(values[name]) for name in names]})
    return casadi_program(program)
