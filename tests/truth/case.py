"""A mechanism as both see it: the product in one of its ways, and the oracle from the product's own start."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import torseur as ts
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.simulate import system_on_constraints
from truth.draft import DATA
from truth.oracle import (
    Model,
    assembled,
    dynamics,
    motion,
    second_rates,
    switching_motion,
    with_speeds,
)
from truth.oracle.constraints import residuals
from truth.oracle.dynamics import SingularState

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
    quick: bool = False  # leaves what takes longest to the whole matrix


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
        system = system_on_constraints(as_system(self.equations, None, None, ()), None, 0.0, self.way.formulation)
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


def oracle_motion(model, state, times):
    """The oracle's motion, with shorter steps where long ones are not enough."""
    if model.mechanism.contacts:
        moved = switching_motion(model, state, times)
    else:
        for parts in (2, 8, 32):
            moved = motion(model, state, times, step=SPAN / parts)
            if moved.error < 1e-7:
                break
    if not moved.error < 1e-7:
        raise Unclear(f"the oracle's steps are too long: {moved.error:.1e}")
    return moved
