"""The program that a bridge to another framework stands for."""

from __future__ import annotations

from torseur.algebra.graph import Program
from torseur.computation.codegen import bake
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.derivation.equations import Equations
from torseur.derivation.equations.parameter_values import values_for
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError

OPEN_FUNCTIONS = "u"


def requested_program(model: Mechanism | Equations | Program, request: str, live: bool) -> Program:
    """A function of a mechanism by name, with the values of its parameters unless they are live; or a program as it is.

    A function that looks up what nobody has said (an undetermined function) has no derivative and is refused.
    """
    if isinstance(model, Program):
        if request or live:
            raise TorseurError("a program is taken as it is: leave the name of the function and live=... out.")
        return model
    if not request:
        raise TorseurError("which function of the mechanism? For example 'forward_dynamics'.")
    equations = model if isinstance(model, Equations) else derive(model)
    (program,) = programs_of(equations, [request])
    if any(group.name == OPEN_FUNCTIONS for group in program.inputs):
        raise UnsupportedError(
            f"{request} of '{equations.mechanism.name}' depends on undetermined functions, whose derivatives nobody "
            "knows. Give them laws."
        )
    if not live and any(group.name == PARAMETERS for group in program.inputs):
        program = bake(program, {PARAMETERS: values_for(equations, program.nodes, {})})
    return program
