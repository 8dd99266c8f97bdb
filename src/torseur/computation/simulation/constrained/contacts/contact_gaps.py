"""Gaps of contacts as constraints that may be switched on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from torseur.algebra.graph import Expr, as_expr, evaluate, symbols_of
from torseur.cache import Recent
from torseur.computation.simulation.constrained.contacts.contact_geometry import contact_elements
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.constraint_equations import differentiate_residuals
from torseur.derivation.loops.closure.joint_closure import POSITION, Residual
from torseur.derivation.tree import resolve
from torseur.description.mechanism import Bound, Contact, DryFriction, Update
from torseur.errors import TorseurError, unknown_name

LAYERS = 2.0  # rates gained by falling through a layer up to which a gap does not open
TOUCHING = 1e-9  # gap that counts as none, in units of its own size

# With the equations themselves, so that no others can get their id meanwhile.
_kept_elements: Recent[tuple[Equations, tuple[Bound | DryFriction, ...]]] = Recent(8)


def mechanism_impacts(equations: Equations, values: Mapping[str, float]) -> tuple[Impact, ...]:
    """The bounds of a mechanism as contacts, with values of its parameters."""
    _require_sizes(equations, values)
    return tuple(
        Impact(element.name, element.gap, number_of(equations, element.restitution, values, f"bound '{element.name}'"))
        for element in switching_elements(equations)
        if isinstance(element, Bound)
    )


def _require_sizes(equations: Equations, values: Mapping[str, float]) -> None:
    """Refuses shapes whose sizes are negative for these values."""
    for contact in equations.mechanism.contacts:
        if isinstance(contact, Contact):
            ground = () if contact.ground_radius is None else (("ground_radius", contact.ground_radius),)
            for name, size in (*contact.sizes, *ground):
                owner = f"contact '{contact.name}'"
                value = number_of(equations, size, values, owner)
                if not value >= 0.0:
                    raise TorseurError(f"{owner}: {name} is {value:g}, expected zero or more.")


def switching_elements(equations: Equations) -> tuple[Bound | DryFriction, ...]:
    """Bounds and friction of a mechanism, those of contacts among them; updates leave the equations as they are."""
    return _kept_elements.get(id(equations), lambda: (equations, _switching_elements(equations)))[1]


def _switching_elements(equations: Equations) -> tuple[Bound | DryFriction, ...]:
    elements: list[Bound | DryFriction] = []
    for element in equations.mechanism.contacts:
        if isinstance(element, Contact):
            elements += contact_elements(equations, element)
        elif not isinstance(element, Update):
            elements.append(element)
    _require_agreement(elements)
    return tuple(elements)


def _require_agreement(elements: Sequence[Bound | DryFriction]) -> None:
    """Refuses bounds of the same gap that contradict each other, and friction on them likewise."""
    friction = {e.on: (e.force, e.coefficient, e.breakaway, e.static, e.stribeck) for e in elements
                if isinstance(e, DryFriction)}  # fmt: skip
    by_gap: dict[Expr, Bound] = {}
    for element in elements:
        if isinstance(element, Bound):
            other = by_gap.setdefault(element.gap, element)
            if (other.restitution, friction.get(other.name)) != (element.restitution, friction.get(element.name)):
                raise TorseurError(
                    f"contacts '{other.name}' and '{element.name}' are of the same gap, with different restitution or "
                    "friction. Give the contact once."
                )


def number_of(equations: Equations, formula: Expr, values: Mapping[str, float], owner: str) -> float:
    """What a formula of parameters is worth; it must have a value."""
    tree = equations.tree
    (resolved,) = resolve(tree.mechanism, dict(tree.definitions), [formula])
    known = {p: values[str(p.name)] for p in equations.layout.parameters if str(p.name) in values}
    lacking = [str(x.name) for x in symbols_of([resolved]) if x not in known]
    if lacking:
        raise TorseurError(f"{owner}: no value is given for '{lacking[0]}'.")
    return float(evaluate([resolved], known or {as_expr(0): 0.0})[0])


def contact_equations(
    equations: Equations, impacts: Sequence[Impact], resolve: Callable[[Expr], Expr]
) -> tuple[ConstraintEquation, ...]:
    """Gap = 0 with its velocity and acceleration levels, for each contact."""
    gaps = [_gap(equations, impact, resolve) for impact in impacts]
    units = [_unit(equations, impact) for impact in impacts]
    owners = [f"impact '{impact.name}'" for impact in impacts]
    parts = zip(owners, gaps, units, strict=True)
    return differentiate_residuals(
        equations.tree, [Residual(owner, "", gap, unit, POSITION) for owner, gap, unit in parts]
    )


def _gap(equations: Equations, impact: Impact, resolve: Callable[[Expr], Expr]) -> Expr:
    layout = equations.layout
    if isinstance(impact.gap, str):
        return layout.coordinates[_slot(equations, impact)]
    gap = resolve(impact.gap)
    used = set(symbols_of([gap]))
    for speed in layout.speeds:
        if speed in used:
            raise TorseurError(f"impact '{impact.name}': its gap depends on the speed '{speed.name}'.")
    if not used & set(layout.coordinates):
        raise TorseurError(f"impact '{impact.name}': its gap does not depend on any coordinate.")
    return gap


def _slot(equations: Equations, impact: Impact) -> int:
    names = equations.layout.coordinate_names
    if impact.gap not in names:
        raise TorseurError(unknown_name("coordinate", str(impact.gap), names, f"impact '{impact.name}': "))
    return names.index(str(impact.gap))


def _unit(equations: Equations, impact: Impact) -> str:
    if isinstance(impact.gap, str):
        return str(equations.layout.coordinates[_slot(equations, impact)].data.unit)
    return "m"


def require_open_gaps(impacts: Sequence[Impact], gaps: Vector, sizes: Vector) -> None:
    """Refuses a start with bodies in each other."""
    for impact, gap, size in zip(impacts, gaps.tolist(), sizes.tolist(), strict=True):
        if gap < -TOUCHING * size:
            raise TorseurError(
                f"impact '{impact.name}': the motion starts {-gap:.4g} inside it, with a gap of {gap:.4g}. "
                "Start where the gap is zero or more."
            )


def slow_rates(
    mass: Vector, found: dict[str, Vector], first: int, rest_speeds: Vector, thickness: Vector, springs: Sequence[bool]
) -> Vector:
    """Rates of gaps that count as none: those of rest, or what falling through the layer of a contact gains.

    Else a block that rocks to rest is kept going by what each corner falls below the ground. What springs back, and
    what has a speed of rest of its own, keeps the former.
    """
    falling = found["rows"] @ np.linalg.lstsq(mass, found["force"], rcond=None)[0] - found["gamma"]
    gained = LAYERS * np.sqrt(2.0 * thickness * np.abs(falling[first : first + len(rest_speeds)]))
    return np.where(springs, rest_speeds, np.maximum(rest_speeds, gained))


def rows_of_contacts(numbers: StateNumbers, t: float, y: Vector) -> dict[str, Vector]:
    """Gaps and rows of the constraints in a state; a disc that lies flat has no lowest point, which is said."""
    try:
        return numbers.of(numbers.programs.velocities, t, y)
    except TorseurError as error:
        contacts = numbers.programs.equations.mechanism.contacts
        round_ = [c for c in contacts if isinstance(c, Contact) and c.shape in ("disc", "torus")]
        if not round_ or not isinstance(error.__cause__, ZeroDivisionError):
            raise
        names = ", ".join(f"'{c.name}'" for c in round_)
        raise TorseurError(
            f"contact {names}: a {round_[0].shape} that lies parallel to its ground touches it along a whole circle, "
            "and none of its points is the lowest. Start it tilted by a small angle, or let points on its rim touch."
        ) from error
