"""Identification from external forces: A J Bᵀ - B J Aᵀ = T for one body and for trees of segments."""

from torseur.analysis.identification.segments.conjugate_gradient import Descent, Iterate, Stopping, descend
from torseur.analysis.identification.segments.identify_segments import SegmentEstimate, identify_segments
from torseur.analysis.identification.segments.poinsot import (
    SegmentChain,
    inertia_from_poinsot,
    joint_centre,
    poinsot_matrix,
    segment_chain,
)
from torseur.analysis.identification.segments.poinsot_cost import PoinsotCost
from torseur.analysis.identification.segments.segment_trials import (
    MechanismMotion,
    SegmentTrial,
    segment_trial,
    trial_of_mechanism,
)

__all__ = [
    "Descent",
    "Iterate",
    "MechanismMotion",
    "PoinsotCost",
    "SegmentChain",
    "SegmentEstimate",
    "SegmentTrial",
    "Stopping",
    "descend",
    "identify_segments",
    "inertia_from_poinsot",
    "joint_centre",
    "poinsot_matrix",
    "segment_chain",
    "segment_trial",
    "trial_of_mechanism",
]
