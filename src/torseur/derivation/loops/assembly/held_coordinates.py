"""Coordinates held where a closed configuration has them, as constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torseur.derivation.loops.assembly.assembly import assemble
from torseur.description.mechanism import Mechanism, driver
from torseur.errors import MechanismError


def hold_coordinates(mechanism: Mechanism, at: Mapping[str, float] | None, locked: Sequence[str], time: float,
         seed: int) -> tuple[Mechanism, Mapping[str, float]]:  # fmt: skip
    """The mechanism with coordinates held where a closed configuration has them, and that configuration."""
    assembly = assemble(mechanism, at, locked=locked, time=time, seed=seed)
    if not assembly.found:
        raise MechanismError(f"mechanism '{mechanism.name}': {assembly.explanation}")
    where = assembly.configurations[0].coordinates
    chosen = [c for joint in mechanism.joints for c in joint.coordinates if {c.name, joint.name} & set(locked)]
    # A held coordinate is a constraint like any other, so that rank and redundancy count it.
    holds = [driver(f"{c.name} held", c, where[c.name]) for c in chosen]
    return replace(mechanism, constraints=(*mechanism.constraints, *holds)), where
