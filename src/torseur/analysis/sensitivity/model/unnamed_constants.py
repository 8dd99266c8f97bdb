"""Constants of a description that have no name of their own, made parameters: `arm.mass`, `gravity.y`, `grip[3]`.

Each varies as a shift, zero at first, that is added to what the description says: a number or a formula. A point of a
table shifts the table by the spline that is one there and zero at all its other points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torseur.algebra.graph import Expr, Table, as_expr, live_nodes, substitute, symbol
from torseur.algebra.graph.expr import intern
from torseur.algebra.graph.functions import TableLookup
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import Bound, Contact, Mechanism, Parameter
from torseur.description.mechanism.bodies import INERTIA_COMPONENTS, Body
from torseur.description.mechanism.solids import Solid
from torseur.errors import TorseurError

_POINT = re.compile(r"(.+)\[(\d+)\]")
_FIELDS = ("bodies", "joints", "loads", "constraints", "laws", "sensors", "frames", "gravity", "initial")
_AXES = "xyz"


@dataclass(frozen=True)
class Shift:
    """A constant that varies: the symbol of its shift, what it is shifted from, and its unit."""

    name: str
    symbol: Expr
    origin: Expr
    unit: str


def with_shifts(
    mechanism: Mechanism, names: Iterable[str], more: Mapping[str, float] | None = None
) -> tuple[Mechanism, dict[str, Shift]]:
    """The mechanism with shifts for those names that are constants of its bodies, loads, gravity or tables.

    `more` are plain numbers beside the mechanism that vary too.
    """
    shifts: dict[str, Shift] = {}
    known = {parameter.name for parameter in mechanism.parameters}
    for name in names:
        restitution = None if name in known else _with_restitution(mechanism, name, more or {})
        if restitution is not None:
            mechanism, shifts[name] = restitution
            continue
        changed = None if name in known else _shift_constant(mechanism, name)
        if changed is not None:
            mechanism, shifts[name] = changed
    return mechanism, shifts


def _with_restitution(mechanism: Mechanism, name: str, more: Mapping[str, float]) -> tuple[Mechanism, Shift] | None:
    """The restitution of all contacts or of one, of the mechanism and beside it."""
    owner, _, what = name.rpartition(".")
    own = [c for c in mechanism.contacts if isinstance(c, Bound | Contact) and owner in ("", c.name)]
    if what != "restitution" or not (own or name in more):
        return None
    shift = _shift(name, own[0].restitution if own else as_expr(more[name]), "1")
    contacts = [
        replace(c, restitution=c.restitution + shift.symbol) if isinstance(c, Bound | Contact) and c in own else c
        for c in mechanism.contacts
    ]
    return _with(mechanism, shift, contacts=tuple(contacts))


def _shift_constant(mechanism: Mechanism, name: str) -> tuple[Mechanism, Shift] | None:
    point = _POINT.fullmatch(name)
    if point:
        return _with_table_point(mechanism, name, point[1], int(point[2]))
    owner, _, rest = name.partition(".")
    if owner == "gravity" and rest in ("x", "y", "z"):
        return _with_gravity(mechanism, name, _AXES.index(rest))
    for k, body in enumerate(mechanism.bodies):
        if body.name == owner:
            return _with_body(mechanism, name, k, body, rest)
    for k, load in enumerate(mechanism.loads):
        value = getattr(load, rest, None) if load.name == owner and rest else None
        if isinstance(value, Expr):
            shift = _shift(name, value, "1")
            changed: dict[str, Any] = {rest: value + shift.symbol}
            loads = _replace_entry(mechanism.loads, k, replace(load, **changed))
            return _with(mechanism, shift, loads=loads)
    return None


def _shift(name: str, origin: Expr, unit: str) -> Shift:
    return Shift(name, symbol(shift_name(name), unit, shift_name(name)), origin, unit)


def shift_name(name: str) -> str:
    """The parameter that shifts a constant."""
    return f"shift of {name}"


def _with(mechanism: Mechanism, shift: Shift, **fields: Any) -> tuple[Mechanism, Shift]:
    parameters = (*mechanism.parameters, Parameter(shift.symbol, as_expr(0), shift.unit))
    return replace(mechanism, parameters=parameters, **fields), shift


def _replace_entry(things: tuple[Any, ...], place: int, new: Any) -> tuple[Any, ...]:
    return (*things[:place], new, *things[place + 1 :])


def _with_gravity(mechanism: Mechanism, name: str, axis: int) -> tuple[Mechanism, Shift]:
    shift = _shift(name, mechanism.gravity[axis], "m/s^2")
    return _with(mechanism, shift, gravity=_replace_entry(mechanism.gravity, axis, shift.origin + shift.symbol))


def _with_body(mechanism: Mechanism, name: str, k: int, body: Body, rest: str) -> tuple[Mechanism, Shift] | None:
    new: Body | None = None
    shift: Shift | None = None
    if rest == "mass" and body.mass is not None:
        shift = _shift(name, body.mass, "kg")
        new = replace(body, mass=body.mass + shift.symbol)
    elif rest.startswith("centre.") and rest[7:] in _AXES and body.iframe is not None:
        axis = _AXES.index(rest[7:])
        shift = _shift(name, body.iframe.position[axis], "m")
        position = _replace_entry(body.iframe.position, axis, shift.origin + shift.symbol)
        new = replace(body, iframe=replace(body.iframe, position=position))
    elif rest[:1] == "I" and rest[1:] in INERTIA_COMPONENTS and body.inertia is not None:
        place = INERTIA_COMPONENTS.index(rest[1:])
        shift = _shift(name, body.inertia.components[place], "kg*m^2")
        components = _replace_entry(body.inertia.components, place, shift.origin + shift.symbol)
        new = replace(body, inertia=replace(body.inertia, components=components))
    elif len(body.solids) == 1 and (of_solid := _with_solid(name, body.solids[0], rest)) is not None:
        shift = of_solid[1]
        new = replace(body, solids=(of_solid[0],))
    if new is None or shift is None:
        return None
    return _with(mechanism, shift, bodies=_replace_entry(mechanism.bodies, k, new))


def _with_solid(name: str, solid: Solid, rest: str) -> tuple[Solid, Shift] | None:
    """A body's only solid with its mass, its density or a dimension shifted."""
    lengths = dict(solid.dimensions)
    if rest in lengths:
        shift = _shift(name, lengths[rest], "m")
        lengths[rest] = shift.origin + shift.symbol
        return replace(solid, dimensions=tuple(lengths.items())), shift
    value = {"mass": solid.mass, "density": solid.density}.get(rest)
    if value is None:
        return None
    shift = _shift(name, value, "kg" if rest == "mass" else "1")
    changed: dict[str, Any] = {rest: value + shift.symbol}
    return replace(solid, **changed), shift


def _with_table_point(mechanism: Mechanism, name: str, table: str, number: int) -> tuple[Mechanism, Shift] | None:
    fields = {field: getattr(mechanism, field) for field in _FIELDS}
    leaves = [leaf for leaf in flatten(tuple(fields.values())) if isinstance(leaf, Expr)]
    # Lookups of derivatives of the table too (data.order): all of them shift.
    lookups = [node for node in live_nodes(leaves) if node.op == "table" and node.data.table.name == table]
    if not lookups:
        return None
    whole = lookups[0].data.table
    if not 1 <= number <= len(whole.points):
        raise TorseurError(f"parameter '{name}': table '{table}' has points 1 to {len(whole.points)}.")
    shift = _shift(name, as_expr(whole.values[number - 1]), whole.unit)
    # A spline is linear in its values: to shift one of them is to add so much of the spline that is 1 there and 0
    # elsewhere.
    bump = Table(
        f"{table} at point {number}",
        whole.points,
        tuple(float(k == number - 1) for k in range(len(whole.points))),
        whole.degree,
        "1",
    )
    new = {
        node: node + shift.symbol * intern("table", node.args, TableLookup(bump, node.data.order)) for node in lookups
    }
    changed = {field: _substitute_everywhere(value, new) for field, value in fields.items()}
    return _with(mechanism, shift, **changed)


def _substitute_everywhere(thing: Any, new: dict[Expr, Expr]) -> Any:
    leaves = flatten(thing)
    formulas = [leaf for leaf in leaves if isinstance(leaf, Expr)]
    results = iter(substitute(formulas, new) if formulas else [])
    return rebuild(thing, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
