"""Functions of a mechanism for CasADi."""

from __future__ import annotations

from typing import Any

from torseur.algebra.graph import Program
from torseur.computation.codegen.targets.casadi.casadi_program import casadi_program
from torseur.computation.functions.frameworks.requested_program import requested_program
from torseur.derivation.equations import Equations
from torseur.description.mechanism import Mechanism


def casadi_function(model: Mechanism | Equations | Program, request: str = "", *, live: bool = False) -> Any:
    """A function of a mechanism, or a program, as a casadi.Function with our derivatives as its Jacobian.

    casadi_function(arm, "forward_dynamics")(q, v, tau); the names of functions are those of `compile`. Parameters have
    the values of the mechanism; with live=True they are an input, p.
    """
    return casadi_program(requested_program(model, request, live))
