"""Studies of the source documents: sensitivities (Sandel 2007), a closed-loop suspension, the human body (Monnet 2007).

Each module computes what its page in docs/ shows: oscillator, double_pendulum, vehicle, suspension, upper_limb,
shoulder_moment, shoulder, marker_count.
"""

from importlib import import_module
from types import ModuleType

__all__ = [
    "double_pendulum", "marker_count", "oscillator", "shoulder", "shoulder_moment", "suspension", "upper_limb",
    "vehicle",
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    """A study, imported when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'torseur.analysis.published_studies' has no attribute '{name}'")
    return import_module(f"{__name__}.{name}")
