"""Many motions of one system in one compiled call: no Python between points, only what was asked for comes out."""

from torseur.studies.batch.batch import Batch, Found, why_not
from torseur.studies.batch.starts import Starts

__all__ = ["Batch", "Found", "Starts", "why_not"]
