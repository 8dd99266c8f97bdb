"""Motions: integrators that run whole in compiled code, events, and trajectories."""

from torseur.simulation.constrained.parametrisation import parametrised
from torseur.simulation.constrained.reduced import ReducedModel, reduced_model
from torseur.simulation.requests import Event, Impact, Output
from torseur.simulation.simulate import simulate
from torseur.simulation.system import Law, Quantity, System
from torseur.simulation.trajectory import Column, Kind, Occurrence, Trajectory

__all__ = [
    "Column",
    "Event",
    "Impact",
    "Kind",
    "Law",
    "Occurrence",
    "Output",
    "Quantity",
    "ReducedModel",
    "System",
    "Trajectory",
    "parametrised",
    "reduced_model",
    "simulate",
]
