"""Identification: masses, centres, inertias and other parameters of a mechanism from measured motion and forces."""

from torseur.analysis.identification.data.channel_faults import Treatment
from torseur.analysis.identification.data.data_files import read_table
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.analysis.identification.data.trials import Trial, make_trial
from torseur.analysis.identification.estimators.priors import Prior, description_parameters, description_prior
from torseur.analysis.identification.estimators.resampling import cross_validate
from torseur.analysis.identification.excitation import CoordinateLimits, Excitation, FourierMotion, design_excitation
from torseur.analysis.identification.identify import Options, identify
from torseur.analysis.identification.model.base_parameters import BaseParameters, base_parameters
from torseur.analysis.identification.model.columns import Column, Extras
from torseur.analysis.identification.model.linear_model import LinearModel, linear_model
from torseur.analysis.identification.model.pseudo_inertia import Limits
from torseur.analysis.identification.output_error import MotionEstimate, Recording, fit_motion
from torseur.analysis.identification.results.estimate import Estimate
from torseur.analysis.identification.results.fits import Fit
from torseur.analysis.identification.results.write_back import write_back
from torseur.analysis.identification.segments import identify_segments, segment_trial
from torseur.edges.arguments import explain_names

__all__ = [
    "BaseParameters", "Column", "CoordinateLimits", "Derivatives", "Estimate", "Excitation", "Extras", "Fit",
    "FourierMotion", "Limits", "LinearModel", "MotionEstimate", "Options", "Prior", "Recording", "Treatment",
    "Trial", "base_parameters", "cross_validate", "description_parameters", "description_prior",
    "design_excitation", "fit_motion", "identify", "identify_segments", "linear_model", "make_trial", "read_table",
    "segment_trial", "write_back",
]  # fmt: skip

explain_names(globals())
