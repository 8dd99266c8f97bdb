"""Sensitivity analysis: how criteria of a motion change with the parameters of a mechanism."""

import sys
from types import ModuleType
from typing import Any

from torseur.sensitivity.analysis import sensitivity
from torseur.sensitivity.jumps import Jump
from torseur.sensitivity.results import Rank, Response, Sensitivities
from torseur.sensitivity.surface import Surface, sensitivity_surface
from torseur.simulation.criterion import Criterion

__all__ = ["Criterion", "Jump", "Rank", "Response", "Sensitivities", "Surface", "sensitivity", "sensitivity_surface"]


class _Callable(ModuleType):
    """This package under the name of its function: `torseur.sensitivity(...)` works whichever of both came first."""

    def __call__(self, *arguments: Any, **options: Any) -> Sensitivities:
        return sensitivity(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
