"""The mass on a spring and a damper: its sensitivities in closed form, over its parameters, and as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from torseur.analysis.sensitivity import Sensitivities, sensitivity
from torseur.computation.simulation.model.system import Vector
from torseur.description.library.catalogue import load

START_SPEED = 5.0  # m/s


@dataclass(frozen=True)
class ClosedForm:
    """The displacement u(t, k, c) for unit mass and initial speed, and its derivatives, as SymPy expressions."""

    displacement: Any
    by_k: Any
    by_c: Any

    def at(self, t: float, k: float, c: float) -> tuple[float, float, float]:
        """Displacement and derivatives as numbers; complex roots under critical damping are fine: the sum is real."""
        from sympy import N, symbols

        t_, k_, c_ = symbols("t k c", positive=True)
        values = {t_: t, k_: k, c_: c}
        parts = (self.displacement, self.by_k, self.by_c)
        u, du_dk, du_dc = (float(N(part.subs(values), 30).as_real_imag()[0]) for part in parts)
        return u, du_dk, du_dc


@cache
def closed_form() -> ClosedForm:
    """x'' + c x' + k x = 0 from rest at the origin with speed 5 m/s, solved and differentiated by SymPy.

    u = 5 e^(-c t / 2) sinh(w t) / w with w² = c²/4 - k: no damping regime is assumed, w may be imaginary.
    """
    from sympy import diff, exp, sinh, sqrt, symbols

    t, k, c = symbols("t k c", positive=True)
    w = sqrt(c**2 / 4 - k)
    u = 5 * exp(-c * t / 2) * sinh(w * t) / w
    return ClosedForm(u, diff(u, k), diff(u, c))


def numeric(until: float, k: float, c: float, rtol: float = 1e-11) -> Sensitivities:
    """The same by integration, with second derivatives."""
    return sensitivity(
        load("mass_spring_damper"),
        "x",
        "k,c",
        until=until,
        second_order=True,
        values={"k": k, "c": c, "m": 1.0},
        initial={"x": 0.0, "x'": START_SPEED},
        rtol=rtol,
    )


def influence_map(until: float, stiffnesses: Vector, dampings: Vector) -> Vector:
    """|du/dk k| - |du/dc c| over a grid: positive where a percent of stiffness matters more than one of damping."""
    rows = []
    for k in np.asarray(stiffnesses, dtype=float):
        pairs = [numeric(until, float(k), float(c)).derivatives("x", "per_percent")[-1] for c in dampings]
        rows.append([abs(by_k) - abs(by_c) for by_k, by_c in pairs])
    return np.array(rows)
