"""Motions: integrators that run whole in compiled code, events, and trajectories."""

from torseur.computation.simulation.constrained.parametrisation import parametrised
from torseur.computation.simulation.constrained.reduced_model import ReducedModel, reduced_model
from torseur.computation.simulation.controllers import Controller, with_motors
from torseur.computation.simulation.model.outputs_and_events import Event, Impact, Output
from torseur.computation.simulation.model.system import Law, Quantity, System
from torseur.computation.simulation.output.trajectory import Column, Kind, Occurrence, Trajectory
from torseur.computation.simulation.sections_and_spectra import PoincareSection, Spectrum, poincare_section, spectrum
from torseur.computation.simulation.simulate import simulate

__all__ = [
    "Column",
    "Controller",
    "Event",
    "Impact",
    "Kind",
    "Law",
    "Occurrence",
    "Output",
    "PoincareSection",
    "Quantity",
    "ReducedModel",
    "Spectrum",
    "System",
    "Trajectory",
    "parametrised",
    "poincare_section",
    "reduced_model",
    "simulate",
    "spectrum",
    "with_motors",
]
