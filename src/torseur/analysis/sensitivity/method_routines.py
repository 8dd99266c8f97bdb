"""Which routines and programs each method is made of, for systems with and without constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from torseur.algebra.graph import Program, vector
from torseur.analysis.sensitivity.adjoint.backward_routines import project_back
from torseur.analysis.sensitivity.constrained.constrained_programs import ConstrainedPrograms
from torseur.analysis.sensitivity.constrained.constrained_tangents import (
    constrained_pullback,
    constrained_rhs_with_integrals,
    constrained_tangent_rhs,
)
from torseur.analysis.sensitivity.constrained.projection_tangents import (
    constrain_with_integrals,
    constrain_with_tangents,
    settle_constraints_back,
)
from torseur.analysis.sensitivity.direct.tangent_routines import project_with_tangents, tangent_rhs
from torseur.analysis.sensitivity.model.open_systems import OpenPrograms
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.cache import Recent
from torseur.computation.simulation.constrained.solver.accelerations import constrained_rhs
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.constrained.solver.manifold import on_manifold
from torseur.computation.simulation.implicit.implicit_setup import implicit_externals

MOST_FACTORED = 10  # speeds up to which a mass matrix is factored as formulas
kept_programs: Recent[tuple[Variation, OpenPrograms | ConstrainedPrograms]] = Recent(64)


def open_programs(variation: Variation) -> OpenPrograms:
    """The programs of a system without constraints, kept for others that differ in numbers only."""
    programs = _programs_of(OpenPrograms, variation)
    assert isinstance(programs, OpenPrograms)
    return programs


def constrained_programs(variation: Variation) -> ConstrainedPrograms:
    """The programs of a mechanism, kept for others that differ in numbers only."""
    programs = _programs_of(ConstrainedPrograms, variation)
    assert isinstance(programs, ConstrainedPrograms)
    return programs


def _programs_of(
    kind: type[OpenPrograms] | type[ConstrainedPrograms], variation: Variation
) -> OpenPrograms | ConstrainedPrograms:
    system = variation.system
    constants = tuple(parameter.constants for parameter in variation.varied)
    # By identity: systems that differ in values share their programs. The entry holds its variation, so that no other
    # object gets these ids while it lives.
    key = (kind, id(system.rhs), id(system.programs), constants, variation.integrands)
    return kept_programs.get(key, lambda: (variation, kind(variation)))[1]


class Routines(Protocol):
    """Compile-time numbers and externals: of the loop with and without tangents, the way back, implicit steps."""

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
    states = {"NX": size, "NY": len(variation.states), "NPAR": variation.columns}
    return {**states, "NQ": variation.system.coordinates, "GAINS": variation.columns}


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
        # Without constraints, but solved as with them (NC = 0): the statics of the mechanism are needed then.
        assert self.variation.system.programs is not None
        own = {**self.variation.system.programs.statics, "NZ": len(self.variation.integrands)}
        return {**own, **_sizes(self.variation), **project}

    @cached_property
    def direct_statics(self) -> dict[str, int]:
        if not self.is_large:
            return self.statics
        return {**self.statics, "NSHARED": len(self.solved_programs.motion_derivatives[0].output("s"))}

    @property
    def solved_programs(self) -> ConstrainedPrograms:
        """The programs whose accelerations are solved for by numbers."""
        return constrained_programs(self.variation)

    @cached_property
    def direct(self) -> dict[str, Any]:
        externals: dict[str, Any]
        if self.is_large:
            terms, derivatives = self.solved_programs.motion_derivatives
            externals = {"rhs": constrained_tangent_rhs, "motion_terms": terms, "motion_derivatives": derivatives}
            externals["integrands"] = self.solved_programs.integrands
        else:
            externals = {"rhs": tangent_rhs, "tangent": self.programs.tangent}
        if self.variation.system.project is not None:
            externals |= {
                "project": project_with_tangents,
                "project_state": self.variation.system.project,
                "settled_tangent": self.programs.settled_tangent,
            }
        return externals

    @cached_property
    def forward(self) -> dict[str, Any]:
        own = self.variation.rhs
        derivatives = [*own.outputs[0].entries, *self.variation.integrands]
        program = own if not self.variation.integrands else Program("rhs", own.inputs, (vector("dy", derivatives),))
        project = self.variation.system.project
        return {"rhs": program, **({} if project is None else {"project": project})}

    @cached_property
    def implicit(self) -> dict[str, Any]:
        return implicit_externals(self.variation.system)

    @cached_property
    def backward(self) -> dict[str, Any]:
        externals: dict[str, Any] = {**self.forward, "pullback": self.programs.pullback}
        if self.variation.system.project is not None:
            externals |= {"settle_back": project_back, "settled_adjoint": self.programs.settled_adjoint}
        return externals


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
        return self._statics(self.programs.pullback[0])

    @cached_property
    def direct_statics(self) -> dict[str, int]:
        return self._statics(self.programs.motion_derivatives[0])

    def _statics(self, motion_terms: Program) -> dict[str, int]:
        own = {**self._constrained.statics, "NZ": len(self.variation.integrands)}
        return {**_sizes(self.variation), **own, "PROJECT": 2, "NSHARED": len(motion_terms.output("s"))}

    @cached_property
    def direct(self) -> dict[str, Any]:
        return {
            **self._common,
            "rhs": constrained_tangent_rhs,
            self._motion_terms: self.programs.motion_derivatives[0],
            "motion_derivatives": self.programs.motion_derivatives[1],
            **({"friction_derivatives": self.programs.friction_derivatives} if self._has_friction else {}),
            "constrain": constrain_with_tangents,
            "on_constraints": on_manifold,
            "level_derivatives": self.programs.level_derivatives,
            "normalised_tangent": self.programs.normalised_tangent,
        }

    @cached_property
    def forward(self) -> dict[str, Any]:
        # Without integrals the motion is that of a simulation, whose routine is taken.
        if not self.variation.integrands:
            own = self._constrained.externals
            return {
                **self._common,
                "rhs": constrained_rhs,
                "accelerated": own["accelerated"],
                "constrain": on_manifold,
            }
        return {
            **self._common,
            "rhs": constrained_rhs_with_integrals,
            self._motion_terms: self.programs.pullback[0],
            "constrain": constrain_with_integrals,
            "on_constraints": on_manifold,
        }

    @cached_property
    def backward(self) -> dict[str, Any]:
        return {
            **self.forward,
            "pullback": constrained_pullback,
            self._motion_terms: self.programs.pullback[0],
            "equations_pullback": self.programs.pullback[1],
            "settle_back": settle_constraints_back,
            "level_derivatives": self.programs.level_derivatives,
            "normalised_adjoint": self.programs.normalised_adjoint,
        }

    @cached_property
    def implicit(self) -> dict[str, Any]:
        return {**implicit_externals(self.variation.system), "accelerated": self._constrained.externals["accelerated"]}

    @property
    def _has_friction(self) -> bool:
        return bool(self.programs.programs.friction)

    @property
    def _motion_terms(self) -> str:
        """The name under which routines call the terms of the motion."""
        return "eliminated_motion_terms" if self._constrained.is_recursive else "motion_terms"

    @property
    def _common(self) -> dict[str, Any]:
        own = self._constrained.externals
        others = ("rhs", "accelerated", "constrain", "is_regular", "gaps")
        return {**{name: own[name] for name in own if name not in others}, "integrands": self.programs.integrands}
