"""Coordinates held where a closed configuration has them, as constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torseur.derivation.loops.assembly.assembly import assemble, closed_state, free_mask
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.named_coordinates import coordinates_at, initial_coordinates
from torseur.description.mechanism import Mechanism, driver
from torseur.errors import MechanismError

# A locked value counts as kept where closing moved it by no more than this, relative above 1.
_KEPT = 1e-6


def hold_coordinates(mechanism: Mechanism, at: Mapping[str, float] | None, locked: Sequence[str], time: float,
         seed: int) -> tuple[Mechanism, Mapping[str, float]]:  # fmt: skip
    """The mechanism with coordinates held where a closed configuration has them, and that configuration."""
    where = _closed_configuration(mechanism, at, locked, time, seed)
    chosen = [c for joint in mechanism.joints for c in joint.coordinates if {c.name, joint.name} & set(locked)]
    # A held coordinate is a constraint like any other, so that rank and redundancy count it.
    holds = [driver(f"{c.name} held", c, where[c.name]) for c in chosen]
    return replace(mechanism, constraints=(*mechanism.constraints, *holds)), where


def _closed_configuration(
    mechanism: Mechanism, at: Mapping[str, float] | None, locked: Sequence[str], time: float, seed: int
) -> Mapping[str, float]:
    """The closed configuration that is meant without the locks; where it moves a locked value that was given exactly,
    one that has this value."""
    system = loop_system(mechanism, time, named=locked)
    free_mask(system, locked)  # names that are not known are refused before anything is closed
    where = coordinates_at(system, closed_state(system, at, seed))
    described = initial_coordinates(system)
    exact = at if at is not None else {q: x for q, x in described.items() if q not in mechanism.guesses}
    held = {c.name for j in mechanism.joints for c in j.coordinates if {c.name, j.name} & set(locked)} & set(exact)
    if all(abs(where[name] - exact[name]) < _KEPT * max(1.0, abs(exact[name])) for name in held):
        return where
    assembly = assemble(mechanism, at, locked=locked, time=time, seed=seed)
    if not assembly.found:
        raise MechanismError(f"mechanism '{mechanism.name}': {assembly.explanation}")
    return assembly.configurations[0].coordinates
