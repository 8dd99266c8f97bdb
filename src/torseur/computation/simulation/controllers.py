"""Controllers: functions of Python that set parameters of a motion at a sampling period, held between samples.

The motion runs in compiled code from one sample to the next. What a controller computes from the state at a sample
acts `delay` later and until the next value comes (zero-order hold):

    state sampled     |  k T            |  (k+1) T
    value acts            |  k T + delay     |  (k+1) T + delay
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, scalar, symbols_of
from torseur.computation.simulation.events.state_jumps import Jumps
from torseur.computation.simulation.loop.integrator import Memory
from torseur.computation.simulation.model.system import System, Vector
from torseur.description.mechanism import Joint, Mechanism, motor, parameter
from torseur.errors import SimulationError, TorseurError, UnsupportedError, unknown_name

_NOTHING = object()
SAME_INSTANT = 1e-9  # of a period
_SAMPLES, _ACTS = 0, 1  # at the same instant a value that is due acts after the state was sampled: it was not seen


@dataclass(frozen=True)
class Controller:
    """A function of (t, state) called every `period` seconds, whose values are held until the next.

    `function` gives a mapping of parameters to values, or values in the order of `inputs`, the parameters it sets. The
    state is an array: coordinates, then speeds, as in a trajectory. With a `memory` the function takes it as a third
    argument and gives a pair: values, and the memory for the next sample; every motion begins with a copy of what is
    given here. Values act `delay` seconds after their sample.
    """

    function: Callable[..., Any]
    period: float
    inputs: Sequence[str]
    delay: float = 0.0
    memory: Any = _NOTHING
    name: str = "controller"

    def __post_init__(self) -> None:
        if not 0.0 < self.period < float("inf"):
            raise TorseurError(f"{self.name}: period is {self.period}: expected a positive time in seconds.")
        if not 0.0 <= self.delay < float("inf"):
            raise TorseurError(f"{self.name}: delay is {self.delay}: expected a time of zero or more.")
        if not self.inputs:
            raise TorseurError(f"{self.name}: inputs names the parameters that it sets; there are none.")

    def values(self, t: float, state: Vector, memory: Any) -> tuple[Vector, Any]:
        """What the function gives at a sample, as an array, and its memory for the next."""
        try:
            if self.memory is _NOTHING:
                given = self.function(t, state)
            else:
                given, memory = self.function(t, state, memory)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise SimulationError(f"{self.name} failed at t = {t:.9g} s: {reason}") from error
        if isinstance(given, Mapping):
            for key in given:
                if key not in self.inputs:
                    raise SimulationError(unknown_name("input", str(key), list(self.inputs), f"{self.name}: "))
            if len(given) != len(self.inputs):
                missing = next(key for key in self.inputs if key not in given)
                raise SimulationError(f"{self.name} gives no value for '{missing}' at t = {t:.9g} s.")
            given = [given[key] for key in self.inputs]
        values = np.atleast_1d(np.asarray(given, dtype=float))
        if values.shape != (len(self.inputs),) or not np.all(np.isfinite(values)):
            raise SimulationError(
                f"{self.name} gives {given!r} at t = {t:.9g} s: expected {len(self.inputs)} finite numbers, for "
                f"{', '.join(self.inputs)}."
            )
        return values, memory


@dataclass
class Control:
    """The controllers of one motion: their clocks, what waits to act, and the parameters they write."""

    controllers: tuple[Controller, ...]
    slots: tuple[list[int], ...]
    jumps: Jumps
    until: float
    memories: list[Any]
    # (time, kind, controller, number of the sample, values to act): what comes next is first
    agenda: list[tuple[float, int, int, int, Any]] = field(default_factory=list)
    start: float = 0.0

    @classmethod
    def of(
        cls,
        controllers: Sequence[Controller],
        mechanism: Mechanism | None,
        jumps: Jumps,
        start: float,
        until: float,
    ) -> Control:
        """The controllers at the start of a motion."""
        system = jumps.settings.system
        _require_possible(controllers, system, mechanism, start, until)
        names = [p.name for p in system.parameters]
        slots = tuple([names.index(key) for key in controller.inputs] for controller in controllers)
        memories = [deepcopy(controller.memory) for controller in controllers]
        control = cls(tuple(controllers), slots, jumps, until, memories, start=start)
        control.agenda = [(start, _SAMPLES, c, 0, None) for c in range(len(controllers))]
        return control

    def act(self, work: Memory) -> float:
        """Does what is due at the time of the memory; the time of what comes next, or the end."""
        t, acted = work.time, False
        # Three samples of 0.2 s and two of 0.3 s are the same instant, up to rounding; no step fits in between.
        slack = SAME_INSTANT * min(controller.period for controller in self.controllers)
        while self.agenda[0][0] <= t + slack:
            due, kind, c, number, values = heapq.heappop(self.agenda)
            controller = self.controllers[c]
            if kind == _ACTS:
                self.jumps.settings.parameters[self.slots[c]] = values
                acted = True
                continue
            values, self.memories[c] = controller.values(t, work.y.copy(), self.memories[c])
            heapq.heappush(self.agenda, (due + controller.delay, _ACTS, c, number, values))
            # From the start by products: sums of periods would drift.
            again = self.start + (number + 1) * controller.period
            heapq.heappush(self.agenda, (again, _SAMPLES, c, number + 1, None))
        if acted:
            self.jumps.begin_segment(t, work)
        following = self.agenda[0][0]
        return following if following < self.until - slack else self.until


def _require_possible(
    controllers: Sequence[Controller], system: System, mechanism: Mechanism | None, start: float, until: float
) -> None:
    known = [p.name for p in system.parameters]
    owners: dict[str, str] = {}
    for controller in controllers:
        for key in controller.inputs:
            if key not in known:
                raise TorseurError(
                    unknown_name("parameter", key, known, f"{controller.name}: inputs: ")
                    + " `with_motors` gives a mechanism one per joint."
                )
            if key in owners:
                raise TorseurError(f"{controller.name} and {owners[key]} both set '{key}'.")
            owners[key] = controller.name
    if until < start:
        raise UnsupportedError("controllers act forward in time; until lies before start.")
    if system.constrained is not None and system.constrained.contacts is not None:
        raise UnsupportedError("controllers cannot be combined with contacts that open and close.")
    if mechanism is not None:
        _require_loads_alone(mechanism, owners)


def _require_loads_alone(mechanism: Mechanism, owners: Mapping[str, str]) -> None:
    """Refuses to change bodies, joints and constraints in the middle of a motion: they would not fit any more."""
    shape = (mechanism.bodies, mechanism.joints, mechanism.constraints)
    used = {str(x.name) for x in symbols_of(list(_formulas(shape)))}
    for key, owner in owners.items():
        if key in used:
            raise UnsupportedError(f"{owner}: '{key}' is part of a body, joint or constraint; controllers set loads.")


def _formulas(part: Any) -> list[Expr]:
    if isinstance(part, Expr):
        return [part]
    if isinstance(part, tuple | list):
        return [formula for one in part for formula in _formulas(one)]
    if is_dataclass(part) and not isinstance(part, type):
        return [formula for one in fields(part) for formula in _formulas(getattr(part, one.name))]
    return []


def with_motors(
    mechanism: Mechanism, coordinates: Sequence[str] | None = None, *, limits: Mapping[str, float] | None = None
) -> Mechanism:
    """The mechanism with a force or torque along each coordinate that is a joint's only one, or along those named.

    Its parameter is called tau_COORDINATE and is zero until a controller, or `parameters`, gives it a value. With
    limits={"knee": 40} the motor of that coordinate gives no more than this force (N or N*m) in either direction.
    """
    joints: dict[str, Joint] = {q.name: joint for joint in mechanism.joints for q in joint.coordinates}
    plain = [q for q, joint in joints.items() if len(joint.coordinates) == 1]
    wanted = plain if coordinates is None else list(coordinates)
    loads, parameters = [], []
    for name, most in (limits or {}).items():
        if name not in wanted:
            raise TorseurError(unknown_name("driven coordinate", name, wanted, "with_motors: limits: "))
        if not most >= 0:
            raise TorseurError(f"with_motors: the limit of '{name}' is {most}: expected a force of zero or more.")
    for q in wanted:
        if q not in joints:
            raise TorseurError(unknown_name("coordinate", q, list(joints), "with_motors: "))
        unit = next(c.unit for c in joints[q].coordinates if c.name == q)
        if unit not in ("rad", "m"):
            raise TorseurError(
                f"with_motors: '{q}' is neither an angle nor a length, and a motor acts along one of these."
            )
        tau = parameter(f"tau_{q}", 0.0, "N*m" if unit == "rad" else "N", f"force along {q}")
        parameters.append(tau)
        most = (limits or {}).get(q, math.inf)
        force = tau.symbol if math.isinf(most) else scalar.minimum(scalar.maximum(tau.symbol, -most), most)
        loads.append(motor(f"motor_{q}", joints[q].name, q, force))
    return replace(mechanism, loads=(*mechanism.loads, *loads), parameters=(*mechanism.parameters, *parameters))
