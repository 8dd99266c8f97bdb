"""Questions to the product about a mechanism, each answered again by the oracle.

The product answers in its own way (a formalism, a method, a backend, a language of generated code); the oracle starts from
the state in which the product starts, after it has seen that this state keeps to the description and to the constraints.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.computation.functions.generate_sources import module_of
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.simulate import started
from torseur.errors import TorseurError
from truth.draft import DATA
from truth.oracle import (
    Model,
    assembled,
    dynamics,
    kinetic_energy,
    measured,
    motion,
    reaction,
    second_rates,
    start_state,
    switching_motion,
    with_speeds,
)
from truth.oracle.constraints import linear_rows, residuals, rows
from truth.oracle.dynamics import SingularState, independent_rows
from truth.oracle.start import displaced

SPAN = 0.12
"""Seconds of a motion: long enough for every term to act, too short for chaos to grow."""


class TooLong(BaseException):
    """A question took longer than its limit; nothing but `answer` may catch this."""


class Unclear(Exception):
    """The oracle cannot say: the motion is singular, or too rough for its steps."""


@dataclass(frozen=True)
class Way:
    """How the product is asked."""

    formalism: str = "recursive"
    method: str = "auto"
    formulation: str = "augmented"
    backend: str = "auto"
    target: str = "c"


@dataclass(frozen=True)
class Outcome:
    """agrees, differs, refused (with the product's words), crashes, or unclear; `off` is the relative difference."""

    verdict: str
    detail: str = ""
    off: float = 0.0

    @property
    def is_fault(self):
        return self.verdict in ("differs", "crashes")


@dataclass
class Case:
    """A mechanism at the product's own start, seen by both."""

    text: str
    way: Way
    mechanism: object = None
    equations: object = None
    names: list = field(default_factory=list)
    initial: np.ndarray = None
    worst: tuple = (0.0, "")

    def __post_init__(self):
        self.mechanism = ts.parse(self.text, directory=DATA)
        self.equations = ts.derive(self.mechanism, self.way.formalism)
        system = started(as_system(self.equations, None, None, ()), None, 0.0, self.way.formulation)
        self.names = [quantity.name for quantity in system.states]
        self.initial = np.array(system.initial)
        self.model = Model(self.mechanism)
        self.state = self._state(self.initial)
        self._require_start()

    @property
    def coordinates(self):
        return self.names[: len(self.equations.layout.coordinates)]

    @property
    def speeds(self):
        return self.names[len(self.equations.layout.coordinates) :]

    @property
    def is_constrained(self):
        return bool(self.equations.constraints)

    def _state(self, values):
        """The oracle's state with the product's coordinates and speeds."""
        given = dict(zip(self.names, values, strict=True))
        rng = np.random.default_rng(0)
        hidden = [c.name for j in self.mechanism.joints for c in j.coordinates if c.name not in given]
        for attempt in range(12):
            # Coordinates of joints that close a loop are not among the product's: they are found, from any guess.
            guess = {name: rng.uniform(-3, 3) for name in hidden} if attempt else {}
            try:
                state = start_state_with(self.model, given, guess)
            except SingularState:
                continue
            if np.max(np.abs(residuals(self.model, state)[0]), initial=0) < 1e-7:
                return state
        raise Unclear("the loop's own coordinates are not found")

    def _require_start(self):
        """Values that were given exactly are kept, and the constraints hold."""
        guesses = set(getattr(self.mechanism, "guesses", ()))
        for name, value in self.mechanism.initial:
            if name in self.names and name not in guesses and not self._is_quaternion(name):
                self.compare(f"start {name}", self.initial[self.names.index(name)], self.model.constant(value), 1e-9)
        position, velocity = residuals(self.model, self.state)
        self.compare("start on the constraints", np.max(np.abs(position), initial=0), 0, 1e-8)
        self.compare("speeds on the constraints", np.max(np.abs(velocity), initial=0), 0, 1e-8)

    def _is_quaternion(self, name):
        return any(name in names for names in self.model.quaternions.values())

    def compare(self, what, theirs, ours, tolerance, scale=1.0):
        """Notes a difference beyond the tolerance; the largest is kept."""
        if not np.all(np.isfinite(theirs)):
            off = np.inf
        else:
            off = float(np.max(np.abs(np.asarray(theirs) - np.asarray(ours)), initial=0) / max(1.0, scale) / tolerance)
        if off > max(1.0, self.worst[0]):
            self.worst = (off, f"{what}: product {np.asarray(theirs)}, oracle {np.asarray(ours)}")

    def accelerations(self):
        """The oracle's rates of the product's speeds, with its result."""
        try:
            result = dynamics(self.model, self.state)
        except SingularState as error:
            raise Unclear(str(error)) from None
        rates = second_rates(self.model, self.state, self.speeds, result)
        if not np.all(np.isfinite(result.accelerations)) or np.max(np.abs(result.accelerations), initial=0) > 1e5:
            raise Unclear("accelerations without bound")
        return np.array([float(rates[name]) for name in self.speeds]), result


def start_state_with(model, given, guess):
    state = assembled(model, given | guess, guessed=tuple(guess))
    return with_speeds(model, state, given)


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
    times = [SPAN / 2, SPAN]
    try:
        if case.mechanism.contacts:
            return switching_motion(case.model, case.state, times)
        moved = motion(case.model, case.state, times, step=SPAN / 2)
    except (SingularState, OverflowError) as error:
        # The motion runs into a singular position (poles of angles, a spring of no length), where no step converges.
        raise Unclear(str(error)) from None
    if not moved.error < 1e-7:
        raise Unclear(f"the oracle's steps are too long: {moved.error:.1e}")
    return moved


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


def _derivatives(case, method, second=False):
    """Of the last coordinate by the parameters, against complex steps through the oracle's start and motion."""
    criterion = case.speeds[-1] if case.speeds else None
    if criterion is None or _start_depends(case) or (second and case.mechanism.contacts):
        raise Unclear("no start that is the same function of parameters for both")
    parameters = [p.name for p in case.mechanism.parameters if p.name.rpartition(".")[2] in ("a", "k", "m")]
    result = ts.sensitivity(
        case.equations, criterion, parameters, until=SPAN, method=method, second_order=second, rtol=1e-10
    )
    ours = _oracle_derivatives(case, criterion, parameters)
    theirs = np.array([float(np.ravel(result.slope(criterion, p))[-1]) for p in parameters])
    case.compare(f"derivatives of {criterion} by a, k, m", theirs, ours, 1e-5, np.max(np.abs(ours)))
    if second:
        # One direction in which every entry counts: differences along each parameter would take three times as long.
        h, direction = 1e-4, np.array([1.0, -0.7, 0.45])
        sides = [
            _oracle_derivatives(case, criterion, parameters, _displaced(case, parameters, s * h * direction))
            for s in (1, -1)
        ]
        expected = (sides[0] - sides[1]) / (2 * h)
        hessian = np.squeeze(np.asarray(result[criterion].hessian))
        size = np.max(np.abs(expected))
        case.compare(f"second derivatives of {criterion}", hessian @ direction, expected, 1e-4, size)


def _displaced(case, parameters, change):
    return {p: case.model.constants[p] + c for p, c in zip(parameters, change, strict=True)}


def _start_depends(case):
    """Whether the start is another function of parameters for the product than for the oracle.

    The oracle keeps what is given exactly, completes positions by constraints and leaves free speeds at zero. With constraints that is the
    product's rule only if as much is given as there are freedoms, and nothing more.
    """
    if not case.is_constrained:
        return False
    exact = {name for name, _ in case.mechanism.initial if name not in getattr(case.mechanism, "guesses", ())}
    matrix, *_ = linear_rows(case.model, case.state)
    freedoms = case.model.size - len(independent_rows(matrix))
    velocity_rows = sum(row.of_velocity for row in rows(case.model.curves(case.state)))
    quaternions = sum(all(name in exact for name in four) for four in case.model.quaternions.values() if four)
    places = sum(name in exact and name not in case.model.states for name in case.coordinates) - quaternions
    speeds = sum(name in exact for name in case.speeds)
    return velocity_rows > 0 or places != freedoms or speeds != freedoms


def _oracle_derivatives(case, criterion, parameters, values=None):
    guesses = getattr(case.mechanism, "guesses", ())
    given = dict(zip(case.names, case.initial, strict=True))
    exact = {name: value for name, value in case.mechanism.initial if name not in guesses}
    found = []
    for p in parameters:
        numbers = dict(values or {})
        middle = numbers.get(p, case.model.constants[p])
        if case.mechanism.contacts:
            # Times of switches are found in real numbers: differences, with an error of 1e-8 of their own.
            h = 1e-4
            ends = [_later_value(case, exact, given, numbers | {p: middle + s * h}, criterion) for s in (1, -1)]
            found.append(float(np.real(ends[0] - ends[1])) / (2 * h))
        else:
            found.append(
                float(np.imag(_later_value(case, exact, given, numbers | {p: middle + 1e-30j}, criterion)) / 1e-30)
            )
    return np.array(found)


def _later_value(case, exact, given, numbers, criterion):
    """The criterion at the end of the motion with other values of parameters."""
    model = Model(case.mechanism, numbers)
    # Loops are closed from where the unchanged mechanism is.
    start = {c: float(np.real(x)) for c, x in case.state.coordinates.items()} if case.is_constrained else given
    start |= {name: model.constant(value) for name, value in exact.items()}
    free = tuple(name for name in start if name not in exact) if case.is_constrained else ()
    try:
        state = with_speeds(
            model, assembled(model, start, guessed=free), {n: x for n, x in start.items() if n not in free}
        )
        moved = (
            switching_motion(model, state, [SPAN])
            if case.mechanism.contacts
            else motion(model, state, [SPAN], step=SPAN / 2)
        )
    except (SingularState, OverflowError) as error:
        raise Unclear(str(error)) from None
    if not moved.error < 1e-7:
        raise Unclear(f"the oracle's steps are too long: {moved.error:.1e}")
    return measured(model, moved.states[0], criterion)


def linearisation(case):
    """∂z'/∂(π, z, v) and ∂v'/∂(π, z, v) at the start, by complex steps along speeds and states z; for trees."""
    if case.is_constrained:
        raise Unclear("only trees so far")
    point = ts.linearise(case.equations)
    n = len(case.speeds)
    values = dict(zip(case.speeds, case.initial[-n:], strict=True)) if n else {}
    states = list(case.model.states)
    ours = np.zeros((len(states) + n, 2 * n + len(states)))
    mass = next(p.name for p in case.mechanism.parameters if p.name.rpartition(".")[2] == "m")
    model = Model(case.mechanism, {mass: case.model.constants[mass] + 0j})
    given = dict(zip(case.names, case.initial, strict=True))
    state = start_state(model, given)
    for k, name in enumerate(case.speeds):
        along = (
            with_speeds(model, state, {s: 0.0 for s in case.speeds} | {name: 1.0}).velocities
            - with_speeds(model, state, {s: 0.0 for s in case.speeds}).velocities
        )
        moved = with_speeds(model, displaced(model, state, list(range(model.size)), 1e-30j * along), values)
        faster = with_speeds(model, state, values | {name: values[name] + 1e-30j})
        ours[:, k], ours[:, n + len(states) + k] = (
            _imaginary_rates(case, model, moved),
            _imaginary_rates(case, model, faster),
        )
    for k, name in enumerate(states):
        changed = replace(state, coordinates=state.coordinates | {name: state.coordinates[name] + 1e-30j})
        ours[:, n + k] = _imaginary_rates(case, model, with_speeds(model, changed, values))
    theirs = np.asarray(point.state_matrix)[n:]
    case.compare("linearised accelerations", theirs, ours, 1e-6, np.max(np.abs(ours), initial=0))


def _imaginary_rates(case, model, state):
    """Imaginary parts of the rates of states and speeds, in units of the complex step."""
    curves, accelerations = model.curves(state), second_rates(model, state, case.speeds)
    rates = [np.ravel(curves[f"{name}'"].value)[0] for name in model.states]
    return [float(np.imag(x)) / 1e-30 for x in (*rates, *(accelerations[s] for s in case.speeds))]


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
    "direct": lambda case: _derivatives(case, "direct"),
    "adjoint": lambda case: _derivatives(case, "adjoint"),
    "second order": lambda case: _derivatives(case, "direct", second=True),
    "linearisation": linearisation,
    "steady": steady,
    "code": code,
}
