"""Bodies and solids as text."""

from __future__ import annotations

from fractions import Fraction

from torseur.description.language.formulas.dimensions import LENGTH, MASS, NUMBER
from torseur.description.language.reading.read_bodies import DENSITIES, DENSITY, INERTIA
from torseur.description.language.writing.words import meaning_text, name_text
from torseur.description.language.writing.writing_context import WIDTH, Place, Script
from torseur.description.mechanism import Body, InertiaMatrix, Placement, Solid, along

_DIRECTIONS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, -1))


def body_text(body: Body, width: int, script: Script) -> str:
    """let arm = body ... end, its name padded to the width."""
    place = Place(body.name)
    properties = _properties(body, place, script)
    solids = [_solid(solid, place, script) for solid in body.solids]
    head, tail = f"let {name_text(body.name):<{width}} = body", f"end{meaning_text(body.meaning)} ;"
    line = " ".join([head, *([", ".join(properties)] if properties else []), *solids, tail])
    if len(line) <= WIDTH and len(solids) < 2:
        return line
    lines = [
        *(f"    {p}," for p in properties[:-1]),
        *(f"    {p}" for p in properties[-1:]),
        *(f"    {s}" for s in solids),
    ]
    return "\n".join([head, *lines, tail])


def _properties(body: Body, place: Place, script: Script) -> list[str]:
    properties = []
    if body.mass is not None:
        properties.append(f"mass = {script.formula(body.mass, MASS, place)}")
    if body.iframe is not None:
        properties.append(_centre(body.iframe, place, script))
    if body.inertia is not None:
        properties.append(f"inertia = {_inertia(body.inertia, place, script)}")
    return [*properties, "negative"] if body.negative else properties


def _centre(iframe: Placement, place: Place, script: Script) -> str:
    word = "iframe" if iframe.rotation or iframe.is_identity else "centre"
    return f"{word} = {script.placement(iframe, place)}"


def _inertia(inertia: InertiaMatrix, place: Place, script: Script) -> str:
    about = inertia.about if isinstance(inertia.about, str) else script.placement(inertia.about, place)
    where = "" if inertia.about == "iframe" else f" about {about}"
    if all(component.is_zero for component in inertia.components):
        return f"0{where}"
    diagonal = all(component.is_zero for component in inertia.components[3:])
    plain = not diagonal and all(c.is_constant and not isinstance(c.value, Fraction) for c in inertia.components)
    want, unit = (NUMBER, " kg*m^2") if plain else (INERTIA, "")
    xx, yy, zz, xy, xz, yz = (script.formula(component, want, place) for component in inertia.components)
    if diagonal:
        return f"diag({xx}, {yy}, {zz}){where}"
    return f"[[{xx}, {xy}, {xz}], [{xy}, {yy}, {yz}], [{xz}, {yz}, {zz}]]{unit}{where}"


def _solid(solid: Solid, place: Place, script: Script) -> str:
    sizes = [f"{name} = {script.formula(value, LENGTH, place)}" for name, value in solid.dimensions]
    if solid.mass is not None:
        sizes.append(f"mass = {script.formula(solid.mass, MASS, place)}")
    if solid.density is not None:
        density = DENSITIES.get(solid.shape, DENSITY)
        sizes.append(f"density = {script.formula(solid.density, density, place)}")
    return f"{solid.shape} {', '.join(sizes)}{_where(solid.placement, place, script)}"


def _where(placement: Placement, place: Place, script: Script) -> str:
    """The solid's direction when it is a coordinate axis, and its place."""
    for axis in _DIRECTIONS:
        turns = along(axis).rotation
        if placement.rotation[-len(turns) :] == turns:
            rest = Placement(placement.position, placement.rotation[: -len(turns)])
            at = "" if rest.is_identity else f" at {script.placement(rest, place)}"
            return f"{at} along [{', '.join(str(c) for c in axis)}]"
    return "" if placement.is_identity else f" at {script.placement(placement, place)}"
