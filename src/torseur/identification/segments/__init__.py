"""Identification from external forces: A J Bᵀ - B J Aᵀ = T for one body and for trees of segments."""

from torseur.identification.segments.conjugate_gradient import Descent, Iterate, Stopping, descend
from torseur.identification.segments.cost import PoinsotCost
from torseur.identification.segments.identify import SegmentEstimate, identify_segments
from torseur.identification.segments.poinsot import (
    SegmentChain,
    inertia_from_poinsot,
    joint_centre,
    poinsot_from_inertia,
    poinsot_matrix,
    segment_chain,
)
from torseur.identification.segments.trials import (
    SegmentTrial,
    rotations_from_markers,
    second_difference,
    segment_trial,
    trial_of_mechanism,
)

__all__ = [
    "Descent",
    "Iterate",
    "PoinsotCost",
    "SegmentChain",
    "SegmentEstimate",
    "SegmentTrial",
    "Stopping",
    "descend",
    "identify_segments",
    "inertia_from_poinsot",
    "joint_centre",
    "poinsot_from_inertia",
    "poinsot_matrix",
    "rotations_from_markers",
    "second_difference",
    "segment_chain",
    "segment_trial",
    "trial_of_mechanism",
]
