"""Identification: masses, centres, inertias and other parameters of a mechanism from measured motion and forces."""

from torseur.identification.base_parameters import BaseParameters, base_parameters
from torseur.identification.columns import Column, Extras
from torseur.identification.data_files import read_table
from torseur.identification.differentiation import Derivatives
from torseur.identification.estimate import Estimate
from torseur.identification.excitation import Excitation, design_excitation
from torseur.identification.faults import Treatment
from torseur.identification.fits import Fit
from torseur.identification.fourier import CoordinateLimits, FourierMotion
from torseur.identification.identify import Options, identify
from torseur.identification.linear_model import LinearModel, linear_model
from torseur.identification.output_error import MotionEstimate, Recording, fit_motion
from torseur.identification.priors import Prior, described_prior
from torseur.identification.pseudo_inertia import Limits
from torseur.identification.resampling import cross_validate
from torseur.identification.trials import Trial, make_trial
from torseur.identification.write_back import described

__all__ = [
    "BaseParameters",
    "Column",
    "CoordinateLimits",
    "Derivatives",
    "Estimate",
    "Excitation",
    "Extras",
    "Fit",
    "FourierMotion",
    "Limits",
    "LinearModel",
    "MotionEstimate",
    "Options",
    "Prior",
    "Recording",
    "Treatment",
    "Trial",
    "base_parameters",
    "cross_validate",
    "described",
    "described_prior",
    "design_excitation",
    "fit_motion",
    "identify",
    "linear_model",
    "make_trial",
    "read_table",
]
