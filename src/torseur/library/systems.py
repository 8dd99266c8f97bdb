"""Ready systems of equations by name, for models that are no mechanisms of bodies and joints."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from torseur.simulation import System

SYSTEMS: Mapping[str, str] = {"roll_yaw_vehicle": "torseur.library.studies.vehicle"}
"""Each with the module that makes it, by a function of the same name."""


def system(name: str) -> System:
    """The system of that name."""
    made: System = getattr(import_module(SYSTEMS[name]), name)()
    return made
