"""Many motions of one system in one compiled call: no Python between points, only what was asked for comes out."""

from torseur.analysis.studies.batch.batch_motions import Batch, BatchResults, why_not
from torseur.analysis.studies.batch.batch_starts import Starts

__all__ = ["Batch", "BatchResults", "Starts", "why_not"]
