"""Which routines and programs each method is made of, for systems with and without constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from torseur.codegen.recent import Recent
from torseur.graph import Program, vector
from torseur.sensitivity.backward import weigh_manifold
from torseur.sensitivity.constrained_programs import ConstrainedPrograms
from torseur.sensitivity.constrained_tangent import (
    constrained_pullback,
    constrained_slope_with_integrals,
    constrained_tangent_slope,
)
from torseur.sensitivity.manifold import constrain_with_changes, constrain_with_integrals, weigh_constraints
from torseur.sensitivity.open_systems import OpenPrograms
from torseur.sensitivity.tangent import project_with_changes, tangent_slope
from torseur.sensitivity.variation import Variation
from torseur.simulation.constrained.accelerations import constrained_slope
from torseur.simulation.constrained.manifold import on_manifold
from torseur.simulation.constrained.setup import Constrained
from torseur.simulation.dop853 import PIECE_STATE
from torseur.simulation.radau.setup import implicit_externals
from torseur.simulation.tableau import STAGES

MOST_FACTORED = 10  # speeds up to which a mass matrix is factored as formulas
kept_programs: Recent[tuple[Variation, OpenPrograms | ConstrainedPrograms]] = Recent(64)


def open_programs(variation: Variation) -> OpenPrograms:
    """The programs of a system without constraints, kept for others that differ in numbers only."""
    found = _programs_of(OpenPrograms, variation)
    assert isinstance(found, OpenPrograms)
    return found


def constrained_programs(variation: Variation) -> ConstrainedPrograms:
    """The programs of a mechanism, kept for others that differ in numbers only."""
    found = _programs_of(ConstrainedPrograms, variation)
    assert isinstance(found, ConstrainedPrograms)
    return found


def _programs_of(
    kind: type[OpenPrograms] | type[ConstrainedPrograms], variation: Variation
) -> OpenPrograms | ConstrainedPrograms:
    system = variation.system
    constants = tuple(parameter.constants for parameter in variation.varied)
    key = (kind, id(system.rhs), id(system.programs), constants, variation.integrands)
    return kept_programs.get(key, lambda: (variation, kind(variation)))[1]


class Routines(Protocol):
    """Compile-time numbers and externals: of the loop with and without changes, the way back, implicit steps."""

    @property
    def variation(self) -> Variation: ...
    @property
    def statics(self) -> dict[str, int]: ...
    @property
    def direct_statics(self) -> dict[str, int]: ...
    @property
    def direct(self) -> dict[str, Any]: ...
    @property
    def forward(self) -> dict[str, Any]: ...
    @property
    def backward(self) -> dict[str, Any]: ...
    @property
    def implicit(self) -> dict[str, Any]: ...


def routines_of(variation: Variation) -> Routines:
    """The routines that fit the system."""
    return OpenRoutines(variation) if variation.system.constrained is None else ConstrainedRoutines(variation)


def _sizes(variation: Variation) -> dict[str, int]:
    size = variation.size
    width = PIECE_STATE + (1 + STAGES) * size
    states = {"NX": size, "NY": len(variation.states), "NPAR": variation.columns, "WIDTH": width}
    return {**states, "NQ": variation.system.coordinates, "LENGTH": size, "GAINS": variation.columns}


@dataclass(frozen=True, eq=False)
class OpenRoutines:
    """Of systems without constraints; a formula may bring their states back on a manifold."""

    variation: Variation

    @cached_property
    def programs(self) -> OpenPrograms:
        return open_programs(self.variation)

    @property
    def is_large(self) -> bool:
        """Whether the mass matrix is factored by numbers: its factors as formulas take long to make and compile."""
        programs = self.variation.system.programs
        return programs is not None and len(programs.equations.layout.speeds) > MOST_FACTORED

    @cached_property
    def statics(self) -> dict[str, int]:
        project = {"PROJECT": int(self.variation.system.project is not None)}
        if not self.is_large:
            leading = {"LEADING": self.programs.leading, "FROM": self.variation.system.coordinates}
            return {**_sizes(self.variation), **leading, **project}
        assert self.variation.system.programs is not None
        own = {**self.variation.system.programs.statics, "NZ": len(self.variation.integrands)}
        return {**own, **_sizes(self.variation), **project}

    @cached_property
    def direct_statics(self) -> dict[str, int]:
        return {**self.statics, "NSHARED": len(self.solved.slopes[0].output("s"))} if self.is_large else self.statics

    @property
    def solved(self) -> ConstrainedPrograms:
        """The programs whose accelerations are solved for by numbers."""
        return constrained_programs(self.variation)

    @cached_property
    def direct(self) -> dict[str, Any]:
        found: dict[str, Any]
        if self.is_large:
            terms, slopes = self.solved.slopes
            found = {"rhs": constrained_tangent_slope, "motion_terms": terms, "slopes": slopes}
            found["integrands"] = self.solved.integrands
        else:
            found = {"rhs": tangent_slope, "tangent": self.programs.tangent}
        if self.variation.system.project is not None:
            found |= {
                "project": project_with_changes,
                "project_state": self.variation.system.project,
                "settled_change": self.programs.settled_change,
            }
        return found

    @cached_property
    def forward(self) -> dict[str, Any]:
        own = self.variation.rhs
        slopes = [*own.outputs[0].entries, *self.variation.integrands]
        program = own if not self.variation.integrands else Program("rhs", own.inputs, (vector("dy", slopes),))
        project = self.variation.system.project
        return {"rhs": program, **({} if project is None else {"project": project})}

    @cached_property
    def implicit(self) -> dict[str, Any]:
        return implicit_externals(self.variation.system)

    @cached_property
    def backward(self) -> dict[str, Any]:
        found: dict[str, Any] = {**self.forward, "pullback": self.programs.pullback}
        if self.variation.system.project is not None:
            found |= {"settle_back": weigh_manifold, "settled_weights": self.programs.settled_weights}
        return found


@dataclass(frozen=True, eq=False)
class ConstrainedRoutines:
    """Of mechanisms whose accelerations follow together with multipliers."""

    variation: Variation

    @cached_property
    def programs(self) -> ConstrainedPrograms:
        return constrained_programs(self.variation)

    @property
    def _constrained(self) -> Constrained:
        constrained = self.variation.system.constrained
        assert constrained is not None
        return constrained

    @cached_property
    def statics(self) -> dict[str, int]:
        own = {**self._constrained.statics, "NZ": len(self.variation.integrands)}
        return {**_sizes(self.variation), **own, "PROJECT": 2, "NSHARED": len(self.programs.pulled[0].output("s"))}

    @cached_property
    def direct_statics(self) -> dict[str, int]:
        own = {**self._constrained.statics, "NZ": len(self.variation.integrands)}
        return {**_sizes(self.variation), **own, "PROJECT": 2, "NSHARED": len(self.programs.slopes[0].output("s"))}

    @cached_property
    def direct(self) -> dict[str, Any]:
        return {
            **self._common,
            "rhs": constrained_tangent_slope,
            "motion_terms": self.programs.slopes[0],
            "slopes": self.programs.slopes[1],
            "constrain": constrain_with_changes,
            "on_constraints": on_manifold,
            "level_slopes": self.programs.level_slopes,
            "normalised_change": self.programs.normalised_change,
        }

    @cached_property
    def forward(self) -> dict[str, Any]:
        if not self.variation.integrands:
            own = self._constrained.externals
            return {
                **self._common,
                "rhs": constrained_slope,
                "accelerated": own["accelerated"],
                "constrain": on_manifold,
            }
        return {
            **self._common,
            "rhs": constrained_slope_with_integrals,
            "motion_terms": self.programs.pulled[0],
            "constrain": constrain_with_integrals,
            "on_constraints": on_manifold,
        }

    @cached_property
    def backward(self) -> dict[str, Any]:
        return {
            **self.forward,
            "pullback": constrained_pullback,
            "motion_terms": self.programs.pulled[0],
            "pulled": self.programs.pulled[1],
            "settle_back": weigh_constraints,
            "level_slopes": self.programs.level_slopes,
            "normalised_weights": self.programs.normalised_weights,
        }

    @cached_property
    def implicit(self) -> dict[str, Any]:
        return {**implicit_externals(self.variation.system), "accelerated": self._constrained.externals["accelerated"]}

    @property
    def _common(self) -> dict[str, Any]:
        own = self._constrained.externals
        names = ("dynamics", "positions", "velocities", "displaced", "normalised")
        return {**{name: own[name] for name in names}, "integrands": self.programs.integrands}
