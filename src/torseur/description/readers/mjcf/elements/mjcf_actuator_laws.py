"""Laws of actuators: what an actuator's element and the defaults of its class make of gain, bias and activation.

Inside MuJoCo all actuators are of one kind: position, motor, muscle, ... are shortcuts that set numbers of it. Defaults
of a class, whatever their shortcut, are taken one after the other, and then the element itself; a shortcut keeps the
numbers of what was before it only where that was the same shortcut, or a <general> of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr
from torseur.description.readers.attribute_numbers import choice, number, number_list, numbers
from torseur.description.readers.mjcf.elements.mjcf_activations import Activation, MuscleCurves
from torseur.description.readers.xml_document import Element

FOLLOWING = {"integrator": 0, "filter": 1, "filterexact": 1, "muscle": 3}
"""Activations that are modelled, with how many times each has."""
MUSCLE = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
_GAIN, _BIAS, _TIMES = (1.0, *[0.0] * 8), (0.0,) * 9, (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Law:
    """gain and bias, each affine in length and speed: force = (g0 + g1 l + g2 v) u + b0 + b1 l + b2 v.

    u is the control, or the activation that follows it. A muscle has curves instead.
    """

    gain: Sequence[float] = (0.0, 0.0, 0.0)
    bias: Sequence[float] = (0.0, 0.0, 0.0)
    activation: Activation | None = None
    curves: MuscleCurves | None = None

    def force(self, u: Expr, length: Expr, rate: Expr) -> Expr:
        if self.curves is not None:
            return self.curves.tension(u, length, rate)
        return _affine(self.gain, length, rate) * u + _affine(self.bias, length, rate)


def _affine(c: Sequence[float], length: Expr, rate: Expr) -> Expr:
    return as_expr(c[0]) + c[1] * length + c[2] * rate


@dataclass(frozen=True)
class _Setting:
    """The numbers of an actuator after some elements, the kinds they are of, and the shortcut that was last."""

    gain: tuple[float, ...] = _GAIN
    bias: tuple[float, ...] = _BIAS
    times: tuple[float, ...] = _TIMES
    dynamics: str = "none"
    gain_kind: str = "fixed"
    bias_kind: str = "none"
    shortcut: str | None = None


def law_of(actuator: Element, steps: Sequence[Element]) -> Law | None:
    """The law of an actuator, from the defaults of its class, outer ones first, and its element as it is written.

    `actuator` is that element with the defaults in it. None for a law that is not modelled.
    """
    setting = _Setting()
    for step in steps:
        if step.tag not in _SHORTCUTS:
            setting = replace(setting, gain_kind=step.tag, shortcut=step.tag)
            continue
        kinds, read = _SHORTCUTS[step.tag]
        setting = read(step, _inherited(setting, step.tag, kinds))
    return _law(actuator, setting)


def _inherited(setting: _Setting, shortcut: str, kinds: tuple[str, str, str]) -> _Setting:
    """What a shortcut finds: the numbers before it, or those of a new actuator; and the kinds that it sets."""
    if shortcut == "general":
        return replace(setting, shortcut=None)
    dynamics, gain, bias = kinds
    is_alike = (
        setting.gain_kind == gain and setting.dynamics in ("none", dynamics) and setting.bias_kind in ("none", bias)
    )
    keeps = setting.shortcut == shortcut if setting.shortcut is not None else is_alike
    base = setting if keeps else _Setting()
    if shortcut == "position":  # a time constant that was given stays
        dynamics = base.dynamics
    return replace(base, shortcut=shortcut, dynamics=dynamics, gain_kind=gain, bias_kind=bias)


def _law(element: Element, setting: _Setting) -> Law | None:
    if setting.dynamics not in ("none", *FOLLOWING):
        return None
    activation = None if setting.dynamics == "none" else _activation(element, setting)
    if setting.gain_kind == setting.bias_kind == "muscle":
        curves = _curves(element, setting.gain) if setting.gain == setting.bias else None
        return None if curves is None else Law(activation=activation, curves=curves)
    if setting.gain_kind not in ("fixed", "affine") or setting.bias_kind not in ("none", "affine"):
        return None
    gain = setting.gain[:3] if setting.gain_kind == "affine" else (setting.gain[0], 0.0, 0.0)
    return Law(gain, setting.bias[:3] if setting.bias_kind == "affine" else (0.0, 0.0, 0.0), activation)


def _activation(element: Element, setting: _Setting) -> Activation:
    """The dynamics of an activation: its times, and its range where it has one."""
    low, high = numbers(element, "actrange", 2, (0.0, 0.0))
    said = choice(element, "actlimited", ("false", "true", "auto"), "auto")
    limited = said == "true" or (said == "auto" and "actrange" in element.attributes)
    choice(element, "actearly", ("false", "true"), "false")  # which of two steps a force sees; here there are none
    return Activation(setting.dynamics, setting.times[: FOLLOWING[setting.dynamics]], (low, high) if limited else None)


def _curves(element: Element, given: Sequence[float]) -> MuscleCurves | None:
    """The curves of a muscle; None where its force or its lengths would have to be computed by MuJoCo."""
    low, high, force, _, shortest, longest, speed, passive, eccentric = given
    lengths = numbers(element, "lengthrange", 2, (0.0, 0.0))
    if force < 0.0 or lengths[0] >= lengths[1]:
        return None
    return MuscleCurves((lengths[0], lengths[1]), (low, high), force, shortest, longest, speed, passive, eccentric)


def _over(before: tuple[float, ...], given: Sequence[float] | None) -> tuple[float, ...]:
    """The numbers with the first ones replaced by those that are given."""
    first = tuple(given or ())[: len(before)]
    return (*first, *before[len(first) :])


def _general(step: Element, setting: _Setting) -> _Setting:
    kinds = {
        field: (step.text(name) or getattr(setting, field)).strip()
        for field, name in (("dynamics", "dyntype"), ("gain_kind", "gaintype"), ("bias_kind", "biastype"))
    }
    gain, bias = _over(setting.gain, number_list(step, "gainprm")), _over(setting.bias, number_list(step, "biasprm"))
    return replace(setting, gain=gain, bias=bias, times=_over(setting.times, number_list(step, "dynprm")), **kinds)


def _motor(step: Element, setting: _Setting) -> _Setting:
    return replace(setting, gain=_over(setting.gain, (1.0,)))


def _servo(step: Element, setting: _Setting) -> _Setting:
    """position, intvelocity: bias[2] is minus the gain of speeds, or plus a damping ratio."""
    kp, damping = number(step, "kp", setting.gain[0]), setting.bias[2]
    if "kv" in step.attributes:
        damping = -number(step, "kv", 0.0)
    if "dampratio" in step.attributes:
        damping = number(step, "dampratio", 0.0)
    setting = replace(
        setting, gain=_over(setting.gain, (kp,)), bias=_over(setting.bias, (setting.bias[0], -kp, damping))
    )
    if "timeconst" not in step.attributes:
        return setting
    time = number(step, "timeconst", 0.0)
    follows = {"position": "filterexact" if time > 0.0 else "none"}.get(step.tag, setting.dynamics)
    return replace(setting, times=_over(setting.times, (time,)), dynamics=follows)


def _velocity(step: Element, setting: _Setting) -> _Setting:
    kv = number(step, "kv", setting.gain[0])
    return replace(setting, gain=_over(setting.gain, (kv,)), bias=_over(_BIAS, (0.0, 0.0, -kv)))


def _damper(step: Element, setting: _Setting) -> _Setting:
    return replace(setting, gain=_over(_BIAS, (0.0, 0.0, -number(step, "kv", -setting.gain[2]))))


def _cylinder(step: Element, setting: _Setting) -> _Setting:
    area, diameter = number(step, "area", setting.gain[0]), number(step, "diameter", -1.0)
    area = math.pi / 4 * diameter * diameter if diameter >= 0.0 else area
    bias = numbers(step, "bias", 3, setting.bias[:3])
    times = _over(setting.times, (number(step, "timeconst", setting.times[0]),))
    return replace(setting, gain=_over(setting.gain, (area,)), bias=_over(setting.bias, bias), times=times)


def _muscle(step: Element, setting: _Setting) -> _Setting:
    # What has the value of a new actuator gets that of a new muscle.
    fresh = tuple(m if g == g0 else g for g, g0, m in zip(setting.gain, _GAIN, MUSCLE, strict=True))
    times = tuple(m if t == t0 else t for t, t0, m in zip(setting.times, _TIMES, (0.01, 0.04, 0.0), strict=True))
    words = ("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax")
    span = numbers(step, "range", 2, fresh[:2])
    gain = (*span, *(number(step, word, default) for word, default in zip(words, fresh[2:], strict=True)))
    rates = (*numbers(step, "timeconst", 2, times[:2]), number(step, "tausmooth", times[2]))
    return replace(setting, gain=gain, bias=gain, times=rates)


_SHORTCUTS: dict[str, tuple[tuple[str, str, str], Callable[[Element, _Setting], _Setting]]] = {
    "general": (("none", "fixed", "none"), _general),
    "motor": (("none", "fixed", "none"), _motor),
    "position": (("none", "fixed", "affine"), _servo),
    "velocity": (("none", "fixed", "affine"), _velocity),
    "damper": (("none", "affine", "none"), _damper),
    "intvelocity": (("integrator", "fixed", "affine"), _servo),
    "cylinder": (("filter", "fixed", "affine"), _cylinder),
    "muscle": (("muscle", "muscle", "muscle"), _muscle),
}
"""Of each kind of element: the kinds of activation, gain and bias that it sets, and how it sets the numbers."""
