"""Laws of control as programs: forces from the state, what is wanted, and gains.

Gains are vectors, one number per speed. With e = q_d - q and e' = v_d - v:

    pd_with_gravity    tau = g(q) + kp e - kd v                      (Takegaki and Arimoto 1981)
    computed_torque    tau = M (a_d + kd e' + kp e) + b - Q          (inverse dynamics of the wanted acceleration)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torseur.algebra.graph import Expr, Input, Program, substitute, symbol, vector
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.derivation.equations import Equations
from torseur.errors import UnsupportedError

Vector = Sequence[Expr]


def control_law(equations: Equations, name: str) -> Program:
    """The law of that name for a mechanism whose coordinates have the speeds for their rates."""
    layout = equations.layout
    if equations.is_constrained or len(layout.coordinates) != len(layout.speeds):
        raise UnsupportedError(
            f"{name} is for mechanisms without loops and quaternions; '{equations.mechanism.name}' has some."
        )
    return CONTROL_LAWS[name](equations)


def _pd_with_gravity(equations: Equations) -> Program:
    q, v = equations.layout.coordinates, equations.layout.speeds
    wanted, kp, kd = (_input(name, len(v)) for name in ("q_wanted", "kp", "kd"))
    (gravity,) = programs_of(equations, ["gravity"])
    held = gravity.outputs[0].entries
    tau = [
        g + a * (d - x) - b * rate
        for g, a, d, x, b, rate in zip(held, kp.nodes, wanted.nodes, q, kd.nodes, v, strict=True)
    ]
    return _law(equations, "pd_with_gravity", gravity, [wanted, kp, kd], tau)


def _computed_torque(equations: Equations) -> Program:
    q, v, vdot = equations.layout.coordinates, equations.layout.speeds, equations.layout.accelerations
    names = ("q_wanted", "v_wanted", "vdot_wanted", "kp", "kd")
    added = [_input(name, len(v)) for name in names]
    wanted = [
        a + d * (rate - y) + p * (place - x)
        for x, y, place, rate, a, p, d in zip(q, v, *(group.nodes for group in added), strict=True)
    ]
    (dynamics,) = programs_of(equations, ["inverse_dynamics"])
    entries = substitute(list(dynamics.outputs[0].entries), dict(zip(vdot, wanted, strict=True)))
    return _law(equations, "computed_torque", dynamics, added, entries)


CONTROL_LAWS: dict[str, Callable[[Equations], Program]] = {
    "pd_with_gravity": _pd_with_gravity,
    "computed_torque": _computed_torque,
}


def _input(name: str, size: int) -> Input:
    return Input(name, tuple(symbol(f"{name}[{i}]") for i in range(size)))


def _law(equations: Equations, name: str, of: Program, added: Sequence[Input], tau: Vector) -> Program:
    """Inputs: the state, what is wanted, the gains, and what else the dynamics takes (time, parameters)."""
    state = [Input("q", tuple(equations.layout.coordinates)), Input("v", tuple(equations.layout.speeds))]
    others = [group for group in of.inputs if group.name not in ("q", "v", "vdot")]
    last = [group for group in others if group.name == PARAMETERS]
    rest = [group for group in others if group.name != PARAMETERS]
    return Program(name, (*rest, *state, *added, *last), (vector("tau", tau),))
