"""Bounds, friction and contact as text."""

from __future__ import annotations

from torseur.algebra.graph import Expr
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, TIME, dimension_of
from torseur.description.language.writing.words import name_text
from torseur.description.language.writing.write_loads import name_clause
from torseur.description.language.writing.writing_context import Place, Script
from torseur.description.mechanism import Bound, Contact, DryFriction, Frame, Switching, Update
from torseur.description.mechanism.contacts import GROUND_X, GROUND_Y
from torseur.errors import UnsupportedError

_VECTORS = {"box": "size", "ellipsoid": "semiaxes"}


def contact_text(element: Switching, script: Script) -> str:
    """constrain ... >= 0 ... ;, apply friction ... ; contact ... ; or every ... ;"""
    if isinstance(element, Bound):
        return _bound_text(element, script)
    if isinstance(element, Update):
        return _update_text(element, script)
    return _friction_text(element, script) if isinstance(element, DryFriction) else _shape_text(element, script)


def _bound_text(element: Bound, script: Script) -> str:
    place = Place(element.name, after_joints=True)
    keeps = _number("restitution", element.restitution, place, script)
    gap = script.formula(element.gap, None, place)
    return f"constrain {gap} >= 0{keeps}{name_clause(element.name, 'bound', script)} ;"


def _number(word: str, value: Expr | None, place: Place, script: Script) -> str:
    return "" if value is None or value.is_zero else f" {word} {script.formula(value, NUMBER, place)}"


def _friction_text(element: DryFriction, script: Script) -> str:
    place = Place(element.name, after_joints=True)
    slips = ", ".join(script.formula(slip, None, place) for slip in element.slip)
    given = {"force": element.force, "coefficient": element.coefficient, "breakaway": element.breakaway,
             "static": element.static, "stribeck": element.stribeck}  # fmt: skip
    # A force of zero says nothing, but friction needs something to say.
    kept = {w: v for w, v in given.items() if v is not None and not (v.is_zero and w in ("force", "coefficient"))}
    items = ", ".join(f"{w} = {script.formula(v, None, place)}" for w, v in (kept or {"force": element.force}).items())
    on = f" on {name_text(element.on)}" if element.on else ""
    return f"apply friction {items} against {slips}{on}{name_clause(element.name, 'friction', script)} ;"


def _update_text(element: Update, script: Script) -> str:
    place = Place(element.name, after_joints=True)
    pairs = zip(element.targets, element.values, strict=True)
    values = ", ".join(
        f"{name_text(str(target.name))} = {script.formula(value, dimension_of(target.data.unit), place)}"
        for target, value in pairs
    )
    if element.period is not None:
        head = f"every {script.formula(element.period, TIME, place)}"
    else:
        assert element.condition is not None
        head = f"when {script.formula(element.condition, None, place)} > 0"
    return f"{head}: {values}{name_clause(element.name, 'update', script)} ;"


def _shape_text(element: Contact, script: Script) -> str:
    place = Place(element.name, after_joints=True)
    sizes = [script.formula(size, LENGTH, place) for _, size in element.sizes]
    if element.shape in _VECTORS:
        parts = f" {_VECTORS[element.shape]} [{', '.join(sizes)}]"
    else:
        parts = "".join(f" {word} {size}" for (word, _), size in zip(element.sizes, sizes, strict=True))
    ground = _reference(element.ground, script)
    if element.ground_radius is not None:
        ground += f".sphere radius {script.formula(element.ground_radius, LENGTH, place)}"
    elif element.height is not None:
        ground += f" height {_law_of_heights(element)}"
    elif element.normal is not None:
        ground += f" normal {script.direction(element.normal, place)}"
    ground += _number("friction", element.coefficient, place, script)
    ground += "" if element.static is None else f" static {script.formula(element.static, NUMBER, place)}"
    ground += _number("restitution", element.restitution, place, script)
    own = _reference(element.frame, script)
    name = name_clause(element.name, "contact", script)
    return f"contact {own}.{element.shape}{parts} with {ground}{name} ;"


def _law_of_heights(element: Contact) -> str:
    height = element.height
    if height is None or height.op != "apply" or height.args != (GROUND_X, GROUND_Y) or any(height.data.orders):
        raise UnsupportedError(f"the height of contact '{element.name}', which is a formula: make it a law")
    return name_text(str(height.data.function.name))


def _reference(frame: Frame, script: Script) -> str:
    """The name of a frame: the reader takes names of frames and bodies there."""
    text = script.frame(frame, Place("contact"))
    if "@" in text or "++" in text:
        raise UnsupportedError(f"contact at a frame of '{frame.body}' that has no name: name it in `frames`")
    return text
