"""Questions to the product about a mechanism, each answered again by the oracle.

The product answers in its own way (a formalism, a method, a backend, a language of generated code); the oracle starts from
the state in which the product starts, after it has seen that this state keeps to the description and to the constraints.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.computation.functions.generate_sources import module_of
from torseur.errors import TorseurError
from truth.case import SPAN, Case, Outcome, TooLong, Unclear, Way, oracle_motion
from truth.derivative_questions import derivatives, linearisation
from truth.oracle import (
    dynamics,
    kinetic_energy,
    measured,
    reaction,
)
from truth.oracle.dynamics import SingularState


def answer(text, question, way=None):
    """What becomes of a question."""
    try:
        case = Case(text, way or Way())
        QUESTIONS[question](case)
    except TorseurError as refusal:
        return Outcome("refused", str(refusal).splitlines()[0])
    except (Unclear, SingularState) as reason:
        return Outcome("unclear", str(reason))
    except TooLong:
        return Outcome("too long")
    except pytest.skip.Exception as missing:
        return Outcome("no compiler", str(missing))
    except Exception as error:  # a traceback that a user would see
        return Outcome("crashes", f"{type(error).__name__}: {str(error)[:300]}")
    off, detail = case.worst
    return Outcome("differs", detail, off) if off > 1 else Outcome("agrees", "", off)


def acceleration(case):
    """v' from M v' + b + Cᵀ λ = Q, C v' = γ as the formalism wrote them."""
    system, right, theirs = solved_accelerations(case.equations, case.initial, case.model.constants)
    if not len(theirs):
        return
    ours, _ = case.accelerations()
    size = np.max(np.abs(right), initial=1.0)
    case.compare("equations solvable", system @ theirs, right, 1e-7, size)
    case.compare("accelerations", theirs[: len(ours)], ours, 1e-7, np.max(np.abs(ours), initial=0))


def solved_accelerations(e, initial, constants):
    """The system of the equations at a state, its right side, and (v', λ) that solve it."""
    layout = e.layout
    values = dict(zip([*layout.coordinates, *layout.speeds], initial, strict=True))
    values |= {ts.TIME: 0.0} | {p: float(constants[p.name]) for p in layout.parameters}
    n, rows = len(layout.speeds), e.constraints
    flat = (
        [x for row in e.mass_matrix for x in row]
        + [*e.bias, *e.loads]
        + [x for c in rows for x in c.row]
        + [c.gamma for c in rows]
    )
    found = np.array([float(x) for x in evaluate(flat, values)])
    M, b, Q, C, gamma = np.split(found, np.cumsum([n * n, n, n, len(rows) * n]))
    M, C = M.reshape(n, n), C.reshape(len(rows), n)
    system = np.block([[M, C.T], [C, np.zeros((len(C), len(C)))]])
    right = np.concatenate([Q - b, gamma])
    theirs, *_ = np.linalg.lstsq(system, right, rcond=1e-10) if n else (np.zeros(0),)
    return system, right, theirs


def _simulated(case, outputs=()):
    w = case.way
    return ts.simulate(
        case.equations, SPAN, samples=3, rtol=1e-10, outputs=list(outputs), method=w.method, formulation=w.formulation, backend=w.backend
    )  # fmt: skip


def _moved(case):
    try:
        return oracle_motion(case.model, case.state, [SPAN / 2, SPAN])
    except (SingularState, OverflowError) as error:
        # The motion runs into a singular position (poles of angles, a spring of no length), where no step converges.
        raise Unclear(str(error)) from None


def motion_question(case):
    """Coordinates, speeds, kinetic energy and every reaction of a motion; constant energy where nothing takes any."""
    joints = [j.name for j in case.mechanism.joints]
    parts = {name: [f"{name}.{what}.{x}" for what in ("force", "moment") for x in "xyz"] for name in joints}
    # The product first: where it refuses, the oracle need not compute.
    trajectory = _simulated(case, ["kinetic_energy", "energy", *(part for name in joints for part in parts[name])])
    ours = _moved(case)
    for k, state in enumerate([case.state, *ours.states]):
        if case.mechanism.contacts and not k:
            continue  # a start that touches and closes in rebounds at once: before or after is a matter of taste
        for name in case.names:
            value = float(measured(case.model, state, name))
            case.compare(f"{name} at {state.time:g} s", trajectory[name][k], value, 1e-6, abs(value))
        value = float(kinetic_energy(case.model, state))
        case.compare(f"kinetic energy at {state.time:g} s", trajectory["kinetic_energy"][k], value, 1e-6, value)
        if k == 2 or (k == 0 and not case.mechanism.contacts):
            _compare_reactions(
                case, state, parts, {part: trajectory[part][k] for name in joints for part in parts[name]}
            )
    if _is_conservative(case.text):
        total = trajectory["energy"]
        case.compare("energy is constant", total - total[0], 0 * total, 1e-6, np.max(np.abs(total)))


def _is_conservative(text):
    statements = [s for s in text.splitlines() if not s.startswith("init")]
    words = ("* t", "damping", "N*s/m", "drag", "rotation.", "apply force", "apply torque", "constrain",
             " stops", "friction", "restitution")  # fmt: skip
    return not any(word in statement for statement in statements for word in words)


def _compare_reactions(case, state, parts, theirs):
    """Components that are determined have the oracle's value; those that are not are no number."""
    result = dynamics(case.model, state)
    for name, six in parts.items():
        values = reaction(case.model, state, name, result)
        size = max([1.0, *(abs(v) for v in values if v is not None)])
        for part, value in zip(six, values, strict=True):
            if value is None and not np.isnan(theirs[part]):
                case.compare(f"{part} at {state.time:g} s is not determined, but given", np.inf, 0, 1)
            elif value is not None and not np.isnan(theirs[part]):
                case.compare(f"{part} at {state.time:g} s", theirs[part], value, 1e-5, size)


def steady(case):
    """At the equilibrium that the product finds, the oracle's accelerations vanish."""
    found = ts.equilibrium(case.equations)
    state = case._state(np.asarray(found.point.y))
    case.state, case.initial = state, np.asarray(found.point.y)
    ours, _ = case.accelerations()
    weight = max(1.0, float(np.max(np.abs(dynamics(case.model, state).multipliers), initial=0)))
    case.compare("accelerations at equilibrium", 0 * ours, ours, 1e-5, weight)


def code(case):
    """Accelerations by generated sources, compiled and run without the package."""
    from computation.codegen.targets.runners import RUNNERS

    function = "constrained_forward_dynamics" if case.is_constrained else "forward_dynamics"
    module = module_of(case.equations, function)
    layout = case.equations.layout
    nq = len(layout.coordinates)
    p = [float(case.model.constants[x.name]) for x in layout.parameters]
    point = {
        "t": [0.0],
        "q": case.initial[:nq],
        "v": case.initial[nq:],
        "tau": np.zeros(len(layout.speeds)),
        "p": p,
        "u": [],
    }
    ours, _ = case.accelerations()
    with tempfile.TemporaryDirectory() as folder:
        ((results,),) = RUNNERS[case.way.target](module, Path(folder), [point])
    case.compare(f"{function} in {case.way.target}", np.ravel(results[0]), ours, 1e-6, np.max(np.abs(ours), initial=0))


QUESTIONS = {
    "acceleration": acceleration,
    "motion": motion_question,
    "direct": lambda case: derivatives(case, "direct"),
    "adjoint": lambda case: derivatives(case, "adjoint"),
    "second order": lambda case: derivatives(case, "direct", second=True),
    "linearisation": linearisation,
    "steady": steady,
    "code": code,
}
