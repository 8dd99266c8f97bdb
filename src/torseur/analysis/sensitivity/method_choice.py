"""Which method: the cheaper one, by the operations of one evaluation in units of those of a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.analysis.sensitivity.method_routines import ConstrainedRoutines, OpenRoutines, Routines
from torseur.errors import TorseurError, UnsupportedError, unknown_name

METHODS = ("auto", "direct", "adjoint", "continuous_adjoint")
LANES = 4.0  # multiplications at once, where loops run over parameters or states
LARGE = 24  # states from which costs are not computed but known from others
STAGE_SUMS = 6.0  # multiplications per state and evaluation that the integrator itself takes


@dataclass(frozen=True)
class Choice:
    """A method, and why it was taken."""

    method: str
    reason: str


def choose_method(method: str, routines: Routines, criteria: int, times: int) -> Choice:
    """The method for so many criteria, each at so many times."""
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    programs = routines.variation.system.programs
    if programs is not None and programs.friction:
        if method not in ("auto", "direct"):
            raise UnsupportedError(
                f"friction '{programs.friction[0].name}': dry friction is not gone back through; method='direct' "
                "follows it."
            )
        return Choice("direct", "with dry friction")
    if method != "auto":
        return Choice(method, "asked for")
    if times > 1:
        return Choice("direct", f"the derivatives are wanted at {times} times, which one integration forward gives")
    # Costs of one evaluation in multiplications, over those of a simulation's: both methods take about as many steps,
    # so that the ratio of evaluations is the ratio of times. STAGE_SUMS counts the integrator's own work, LANES what
    # vector operations save where loops run over parameters.
    forward, back = _usual_costs(routines, criteria) or (direct_cost(routines), adjoint_cost(routines, criteria))
    parameters, name = routines.variation.columns, "criterion" if criteria == 1 else "criteria"
    varied = "1 parameter" if parameters == 1 else f"{parameters} parameters"
    estimate = f"about {forward:.1f} simulations forward against {back:.1f} there and back"
    text = f"{varied}, {criteria} {name}: {estimate}"
    return Choice("direct" if forward <= back else "adjoint", text)


def require_steps(method: str, second_order: bool, has_jumps: bool, from_equilibrium: bool) -> None:
    """Refuses what the derivatives of motions in time steps do not cover."""
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    refused = {
        f"method='{method}'": method not in ("auto", "direct"),
        "second derivatives": second_order,
        "jumps that are given": has_jumps,
        "a start from equilibrium": from_equilibrium,
    }
    for what, asked in refused.items():
        if asked:
            raise UnsupportedError(
                f"integrator='time_stepping' gives first derivatives by the direct method; {what} it does not cover. "
                "Motions with events (integrator='auto') cover more."
            )


def _usual_costs(routines: Routines, criteria: int) -> tuple[float, float] | None:
    """Costs of large mechanisms, as measured on some: making the programs of both methods would take seconds."""
    states, columns = len(routines.variation.states), routines.variation.columns
    if states < LARGE or routines.variation.system.programs is None:
        return None
    return 2.0 + states / 6.0 + columns / 10.0, 1.1 + 2.3 * criteria


def direct_cost(routines: Routines) -> float:
    """Of the direct method, in simulations."""
    size, columns = routines.variation.size, routines.variation.columns
    sums = STAGE_SUMS * size * (1 + columns) / LANES
    return (_tangent(routines) + sums) / _simulation(routines)


def adjoint_cost(routines: Routines, criteria: int) -> float:
    """Of the discrete adjoint, in simulations: the motion, then the way back once per criterion."""
    sums = 2.0 * STAGE_SUMS * routines.variation.size / LANES
    return 1.1 + criteria * (_pullback(routines) + sums) / _simulation(routines)


def _simulation(routines: Routines) -> float:
    # At least one multiplication: a mechanism in which nothing moves costs nothing.
    return max(_evaluation(routines), 1.0)


def _evaluation(routines: Routines) -> float:
    size = routines.variation.size
    if isinstance(routines, ConstrainedRoutines):
        return routines.programs.programs.dynamics.cost + _solving(routines) + STAGE_SUMS * size / LANES
    return float(routines.forward["rhs"].cost) + STAGE_SUMS * size / LANES


def _tangent(routines: Routines) -> float:
    size, columns, states = routines.variation.size, routines.variation.columns, len(routines.variation.states)
    # u' = f_y u + f_p: the product, which vector operations do along the parameters.
    product = size * states * columns / LANES
    if isinstance(routines, OpenRoutines) and not routines.is_large:
        return routines.programs.tangent.cost + product
    if isinstance(routines, OpenRoutines):
        speeds = len(routines.variation.states) / 2.0
        own = sum(program.cost for program in routines.solved_programs.motion_derivatives)
        return own + product + speeds**3 / 6.0 + columns * speeds**2 / LANES
    assert isinstance(routines, ConstrainedRoutines)
    per_column = _solving(routines) / 4.0
    own = sum(program.cost for program in routines.programs.motion_derivatives)
    return own + _solving(routines) + product + columns * per_column


def _pullback(routines: Routines) -> float:
    if isinstance(routines, OpenRoutines):
        return routines.programs.pullback.cost
    assert isinstance(routines, ConstrainedRoutines)
    return sum(program.cost for program in routines.programs.pullback) + 1.3 * _solving(routines)


def _solving(routines: ConstrainedRoutines) -> float:
    """Factors of M and of C, in multiplications."""
    speeds, constraints = routines.statics["NV"], routines.statics["NC"]
    return speeds**3 / 6.0 + constraints * speeds * (speeds + constraints)
