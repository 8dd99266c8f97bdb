"""Inertias of bodies: given or from geoms, with the corrections that the model asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.spatial import NO_INERTIA, Symmetric3
from torseur.description.mechanism import Body, Turn
from torseur.description.readers.attribute_numbers import number, number_list, numbers
from torseur.description.readers.mjcf.elements.mjcf_geoms import Geom
from torseur.description.readers.mjcf.mjcf_places import ORIGIN, orientation
from torseur.description.readers.mjcf.mjcf_scene import Scene
from torseur.description.readers.mjcf.mjcf_settings import Settings
from torseur.description.readers.rigid_placement import array_of
from torseur.description.readers.robot_file import MISSING_MESH
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.xml_document import Element


@dataclass(frozen=True)
class Weight:
    """A body's mass, mass centre and inertia about it along the turned axes; None when it is not known."""

    body: str
    element: Element
    inertia: tuple[float, tuple[float, ...], tuple[Turn, ...], Symmetric3] | None


def read_weight(element: Element, body: str, geoms: Sequence[Geom], scene: Scene) -> Weight:
    """What a body weighs, from its <inertial> or from its geoms."""
    given = element.first("inertial")
    how = scene.settings.inertia_from_geoms
    # As MuJoCo does it: geoms replace what is given only where the body has any in the groups that count.
    if given is not None and (how != "true" or not any(geom.counts for geom in geoms)):
        return Weight(body, given, _correct(_explicit_inertia(given, scene), scene.settings))
    if given is not None:
        given.take()
    if how == "false":
        scene.assembly.ledger.note_assumption(f"body '{body}' has no <inertial>: it has no mass.", element)
        return Weight(body, element, (0.0, ORIGIN, (), Symmetric3(0, 0, 0, 0, 0, 0)))
    unknown = next((geom for geom in geoms if geom.inertia is None), None)
    if unknown is not None:
        scene.assembly.ledger.note(
            MISSING_MESH, f"body '{body}': mass, centre and inertia are left as symbols, for {unknown.reason}.", element
        )
        return Weight(body, element, None)
    total = sum((geom.inertia for geom in geoms if geom.inertia is not None), NO_INERTIA)
    return Weight(body, element, _correct(central(total), scene.settings))


Values = tuple[float, tuple[float, ...], tuple[Turn, ...], Symmetric3]


def _explicit_inertia(element: Element, scene: Scene) -> Values:
    full, diagonal = number_list(element, "fullinertia"), number_list(element, "diaginertia")
    for name, values, count in (("fullinertia", full, 6), ("diaginertia", diagonal, 3)):
        if values is not None and len(values) != count:
            raise element.fault(f"{name} has {len(values)} numbers; expected {count}.")
    if full is None and diagonal is None:
        scene.assembly.ledger.note_assumption("an <inertial> without inertia is a point.", element)
    entries = full if full is not None else (*(diagonal or ORIGIN), 0.0, 0.0, 0.0)
    turns = orientation(element, scene.settings)
    return number(element, "mass"), numbers(element, "pos", 3, ORIGIN), turns, Symmetric3(*entries)


def _correct(values: Values, settings: Settings) -> Values:
    """The inertia with the least mass and moments that the model asks for, and balanced if it asks for that."""
    mass, centre, turns, matrix = values
    if settings.least_inertia > 0.0 or settings.balance:
        moments, axes = np.linalg.eigh(array_of(matrix))
        moments = np.maximum(moments, settings.least_inertia)
        # As MuJoCo's balanceinertia: impossible moments are replaced by their mean.
        if settings.balance and moments[0] + moments[1] < moments[2]:
            moments = np.full(3, moments.mean())
        full = axes @ np.diag(moments) @ axes.T
        entries = (full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2])
        matrix = Symmetric3(*(float(entry) for entry in entries))
    return max(mass, settings.least_mass), centre, turns, matrix


def add_bodies(weights: Sequence[Weight], scene: Scene) -> None:
    """Adds all bodies, scaled to the total mass that the model asks for."""
    for weight in _scale_to_total(weights, scene):
        if weight.inertia is None:
            scene.assembly.add_body(Body(weight.body), weight.element)
            continue
        mass, centre, turns, matrix = weight.inertia
        if mass == 0.0 and not any(matrix):
            scene.assembly.add_massless(weight.body, weight.element)
        else:
            scene.assembly.add_inertial(weight.body, mass, centre, turns, matrix, weight.element)


def _scale_to_total(weights: Sequence[Weight], scene: Scene) -> Sequence[Weight]:
    wanted = scene.settings.total_mass
    if wanted <= 0.0:
        return weights
    if any(weight.inertia is None for weight in weights):
        scene.assembly.ledger.note_unmodelled("settotalmass: the mass of some bodies is not known.")
        return weights
    total = sum(weight.inertia[0] for weight in weights if weight.inertia is not None)
    factor = wanted / total if total > 0.0 else 1.0
    return [replace(weight, inertia=_times(weight.inertia, factor)) for weight in weights]


def _times(values: Values | None, factor: float) -> Values | None:
    if values is None:
        return None
    mass, centre, turns, matrix = values
    return mass * factor, centre, turns, Symmetric3(*(entry * factor for entry in matrix))
