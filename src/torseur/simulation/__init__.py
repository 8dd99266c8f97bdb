"""Motions: integrators that run whole in compiled code, events, and trajectories."""

from torseur.simulation.requests import Event, Output
from torseur.simulation.simulate import simulate
from torseur.simulation.system import Law, Quantity, System
from torseur.simulation.trajectory import Column, Kind, Occurrence, Trajectory

__all__ = ["Column", "Event", "Kind", "Law", "Occurrence", "Output", "Quantity", "System", "Trajectory", "simulate"]
