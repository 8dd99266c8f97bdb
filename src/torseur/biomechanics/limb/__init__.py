"""A person's own inertias of a limb, from its movements and the ground's reaction (Monnet 2007)."""

from torseur.biomechanics.limb.identified import LimbEstimate, identified_limb, located_joint
from torseur.biomechanics.limb.setup import LIMBS, Limb, limb_of

__all__ = ["LIMBS", "Limb", "LimbEstimate", "identified_limb", "limb_of", "located_joint"]
