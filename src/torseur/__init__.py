"""torseur: mechanics of multibody systems. Equations to read, code that runs at the machine's limit, motions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "torseur.mechanism": (
        "EARTH",
        "Body",
        "Frame",
        "Joint",
        "Mechanism",
        "Parameter",
        "along",
        "body",
        "bushing",
        "coordinate_spring",
        "cylindrical",
        "denavit_hartenberg",
        "fixed",
        "force",
        "free",
        "helical",
        "inertia",
        "law",
        "motor",
        "parameter",
        "placement",
        "planar",
        "prismatic",
        "revolute",
        "rotation",
        "sequence",
        "solid",
        "spherical",
        "spring",
        "torque",
        "translation",
        "turn",
        "universal",
    ),
    "torseur.graph": ("PI", "Expr", "Table", "UndeterminedFunction", "symbol"),
    "torseur.graph.scalar": (
        "acos",
        "asin",
        "atan",
        "atan2",
        "cos",
        "exp",
        "log",
        "sin",
        "sqrt",
        "tan",
        "tanh",
        "where",
    ),
    "torseur.language": ("load", "parse", "to_text"),
    "torseur.tree": ("build_tree",),
    "torseur.formalisms": ("derive",),
    "torseur.equations": ("Equations",),
    "torseur.codegen": ("compile_program",),
    "torseur.simulation": ("Event", "Output", "Trajectory", "simulate"),
    "torseur.errors": ("MechanismError", "SimulationError", "TorseurError", "UnitError", "UnsupportedError"),
}
_HOME = {name: place for place, names in _PLACES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that importing the package costs little."""
    if name == "__version__":
        from importlib.metadata import version

        return version("torseur")
    if name not in _HOME:
        raise AttributeError(f"module 'torseur' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
