"""Newton's and Euler's equations of a mechanism without components, and their expansion step by step.

For what joint k carries, with R_k and N_k the force and the moment that go through the joint at O_k:

    R_k + Σ m g + Σ F = Σ m a(G)                       N_k + Σ O_kG x m g + Σ ... = Σ [I ω' + ω x I ω + O_kG x m a(G)]

and along the joint's speeds, where R_k and N_k do no work. Step 1 expands a(G) by the origins of the links, step 2
those by their parents, step 3 the angular velocities by the rates of the coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.intrinsic.operators import Cross, Dot, scale, vector
from torseur.derivation.dynamics import generalised_loads
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.intrinsic.expansion import (
    Definition,
    acceleration,
    angular_velocity,
    definitions,
    flat,
    turns,
    vector_sum,
)
from torseur.derivation.equations.intrinsic.frames_catalogue import Advance, FramesCatalogue, Mass
from torseur.derivation.equations.intrinsic.partial_velocities import partial_velocity
from torseur.description.mechanism import AppliedWrench, Bushing, PointSpring

STEPS = 3
INERTIA, SPIN, WEIGHT, LOAD, REACTION = "Inertia of {}", "Spin of {}", "Weight of {}", "{}", "Through joint {}"


@dataclass(frozen=True)
class Term:
    """A term with where it comes from."""

    expression: Any
    sentence: str
    bodies: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Balance:
    """Forces = inertia, for what one joint carries; "force" and "moment" are vectors, "along" is a scalar of slot k."""

    kind: str
    title: str
    forces: tuple[Term, ...]
    inertia: tuple[Term, ...]
    slot: int | None = None


@dataclass(frozen=True)
class IntrinsicEquations:
    """The intrinsic level of a mechanism's equations."""

    equations: Equations

    @cached_property
    def catalogue(self) -> FramesCatalogue:
        return FramesCatalogue(self.equations.tree)

    @cached_property
    def balances(self) -> list[Balance]:
        """For every joint from the earth outward: force, moment, and one equation along each of its coordinates."""
        balances: list[Balance] = []
        for i in range(len(self.equations.tree.links)):
            if self.catalogue.masses_beyond(i):
                balances += [self.force_balance(i), self.moment_balance(i)]
            balances += self._along(i)
        return balances

    def force_balance(self, i: int) -> Balance:
        """R + Σ m g + Σ F = Σ m a(G) of what the joint of link i carries."""
        name, carried = self._name(i), self.catalogue.masses_beyond(i)
        forces = [Term(vector(f"R_{name}"), REACTION.format(name), (), (name,))]
        forces += self._weights(carried, None) + self._load_forces(i)
        return Balance("force", f"Forces on what {name} carries", tuple(forces), tuple(self._resisting(i, None)))

    def moment_balance(self, i: int) -> Balance:
        """The moments at the origin of link i."""
        name, carried = self._name(i), self.catalogue.masses_beyond(i)
        forces = [Term(vector(f"N_{name}"), REACTION.format(name), (), (name,))]
        origin = (i, len(self.catalogue.advances[i]))
        forces += self._weights(carried, origin) + self._load_moments(i)
        return Balance(
            "moment",
            f"Moments of what {name} carries, at O_{self.equations.tree.links[i].name}",
            tuple(forces),
            tuple(self._resisting(i, origin)),
        )

    def _along(self, i: int) -> list[Balance]:
        """One equation per speed of a joint; one that says 0 = 0 is left out."""
        link = self.equations.tree.links[i]
        rates = {rate for _, rate in link.symbols.ordinary}
        balances = []
        for slot in range(link.v.start, link.v.stop):
            is_rate = self.equations.layout.speeds[slot] in rates and link.symbols.speeds == link.symbols.natural
            forces, inertia = self._by_motions(slot) if is_rate else self._by_partial_velocities(i, slot)
            forces += self._generalised_forces(slot)
            speed = str(self.equations.layout.speeds[slot].name).rstrip("'")
            if forces or inertia:
                balances.append(Balance("along", f"Along {speed}", tuple(forces), tuple(inertia), slot))
        return balances

    def _by_motions(self, slot: int) -> tuple[list[Term], list[Term]]:
        """u · (moment at a turn's point) and u · (force along a move), each by how much the speed drives it.

        Joints that follow the coordinate take their part.
        """
        forces: list[Term] = []
        inertia: list[Term] = []
        advances = self.catalogue.advances
        moved = [(i, k) for i in self.equations.tree.moved_by[slot] for k in range(len(advances[i]))]
        for i, place in moved:
            advance = advances[i][place]
            if slot not in advance.partials:
                continue
            here = (i, place) if advance.kind == "rotation" else None
            drive = self._drive(advance, slot)
            forces += [
                _project(term, drive, advance.axis) for term in self._weights(self.catalogue.masses_beyond(i), here)
            ]
            inertia += [_project(term, drive, advance.axis) for term in self._resisting(i, here)]
        return forces, inertia

    def _by_partial_velocities(self, i: int, slot: int) -> tuple[list[Term], list[Term]]:
        """∂ω/∂v · (moment at O) and ∂v(O)/∂v · (force), for a speed that is not the rate of a coordinate."""
        part = partial_velocity(self.catalogue, i, slot)
        forces: list[Term] = []
        inertia: list[Term] = []
        origin = (i, len(self.catalogue.advances[i]))
        for axis, sign, here in ((part.angular, part.angular_sign, origin), (part.linear, part.linear_sign, None)):
            if axis is not None:
                forces += [_project(term, sign, axis) for term in self._weights(self.catalogue.masses_beyond(i), here)]
                inertia += [_project(term, sign, axis) for term in self._resisting(i, here)]
        return forces, inertia

    def _resisting(self, i: int, here: tuple[int, int] | None) -> list[Term]:
        """Σ m a(G) of what a joint carries, or its moments and spins at a point."""
        carried = self.catalogue.masses_beyond(i)
        if here is None:
            return [self._inertia(one, None) for one in carried if one.mass != 0]
        return self._spins(carried) + self._moments_of_inertia_forces(carried, here)

    def _drive(self, advance: Advance, slot: int) -> Any:
        """∂(rate of the amount)/∂speed as a SymPy number or symbol."""
        import sympy

        from torseur.algebra.graph import to_sympy

        partial = advance.partials[slot]
        if partial.is_constant:
            return to_sympy([partial])[0]
        shown = sympy.Symbol(f"k_{advance.axis.name.removeprefix('u_')}")
        self.catalogue.components[shown] = partial
        return shown

    def _spins(self, carried: Sequence[Mass]) -> list[Term]:
        turning = [one for one in carried if one.inertia is not None and turns(self.catalogue.frames[one.link])]
        return [Term(self._spin(one), SPIN.format(one.body), (one.body,)) for one in turning]

    def _spin(self, one: Mass) -> Any:
        """I ω' + ω x I ω."""
        if one not in self._cache:
            frame = self.catalogue.frames[one.link]
            omega, change = angular_velocity(frame), angular_velocity(frame, 1)
            self._cache[one] = vector_sum([scale(one.inertia, change), Cross(omega, scale(one.inertia, omega))])
        return self._cache[one]

    def _moments_of_inertia_forces(self, carried: Sequence[Mass], here: tuple[int, int]) -> list[Term]:
        """O_kG x m a(G)."""
        levers = [(one, self.lever(here, one.link, one.centre)) for one in carried if one.mass != 0]
        return [self._inertia(one, lever) for one, lever in levers if lever is not None]

    def _inertia(self, one: Mass, lever: Any) -> Term:
        return Term(self._massive(one, lever, acceleration(f"G_{one.body}")), INERTIA.format(one.body), (one.body,))

    def _weights(self, carried: Sequence[Mass], here: tuple[int, int] | None) -> list[Term]:
        """Σ m g, or its moments at a point."""
        terms = []
        for one in carried if self.catalogue.has_gravity else ():
            lever = None if here is None else self.lever(here, one.link, one.centre)
            if one.mass == 0 or (here is not None and lever is None):
                continue
            weight = self._massive(one, lever, self.catalogue.gravity)
            terms.append(Term(weight, WEIGHT.format(one.body), (one.body,)))
        return terms

    def _massive(self, one: Mass, lever: Any, per_mass: Any) -> Any:
        """m x, or with a lever r x m x."""
        key = (one, lever, per_mass)
        if key not in self._cache:
            self._cache[key] = scale(one.mass, per_mass if lever is None else Cross(lever, per_mass))
        return self._cache[key]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        """What was made before: the balances of all joints that carry a body have its terms in common."""
        return {}

    def lever(self, here: tuple[int, int], link: int, last: Any) -> Any:
        """From the point of motion (i, place) to a point of a link: the sum of the vectors between, or None."""
        key = (here, link, last)
        if key not in self._cache:
            made = self._lever(here, link, last)
            self._cache[key] = self._cache.setdefault(made, made)  # equal ones are one: compared at a glance
        return self._cache[key]

    def _lever(self, here: tuple[int, int], link: int, last: Any) -> Any:
        i, place = here
        parts = [] if last is None else [last]
        # From the far end inward; reversed at the end, so that the vector is read from the joint outward.
        while link != i:
            parts += _moves(self.catalogue.advances[link])
            if self.catalogue.bases[link] is not None:
                parts.append(self.catalogue.bases[link])
            link = self.equations.tree.parent(link)
        parts += _moves(self.catalogue.advances[i][place:])
        return vector_sum(parts[::-1]) if parts else None

    def _load_forces(self, i: int) -> list[Term]:
        """Applied forces, and the springs that lead out of what the joint carries."""
        terms = []
        for load, bodies in self._acting(i):
            if not isinstance(load, AppliedWrench) or any(not as_expr(x).is_zero for x in load.force):
                terms.append(Term(vector(f"F_{load.name}"), LOAD.format(f"Load {load.name}"), bodies))
        return terms

    def _load_moments(self, i: int) -> list[Term]:
        return [
            Term(vector(f"M_{load.name}"), LOAD.format(f"Moment of load {load.name}"), bodies)
            for load, bodies in self._acting(i)
        ]

    def _acting(self, i: int) -> list[tuple[Any, tuple[str, ...]]]:
        """The loads from outside on the bodies that a joint carries."""
        places, inside = self.equations.tree.places, set(self.equations.tree.subtrees[i])
        loads: list[tuple[Any, tuple[str, ...]]] = []
        for load in self.equations.mechanism.loads:
            ends: tuple[str, ...] = ()
            if isinstance(load, AppliedWrench):
                ends = (load.on.body,)
            elif isinstance(load, PointSpring | Bushing):
                ends = (load.first.body, load.second.body)
            within = tuple(b for b in dict.fromkeys(ends) if b in places and places[b][0] in inside)
            if within and not (len(ends) == 2 and all(b in within for b in ends)):
                loads.append((load, within))
        return loads

    def _generalised_forces(self, slot: int) -> list[Term]:
        """What each load and constraint does along a speed, as a scalar of its own name."""
        tree, layout = self.equations.tree, self.equations.layout
        speed = str(layout.speeds[slot].name).rstrip("'")
        # By components, not by vectors: what springs do along a coordinate is a scalar whose vectors nobody would write
        # out.
        terms = []
        for load in tree.mechanism.loads:
            alone = replace(tree, mechanism=replace(tree.mechanism, loads=(load,)))
            value = as_expr(generalised_loads(alone, layout.coordinates, layout.speeds)[slot])
            if not value.is_zero:
                joint = (load.joint,) if hasattr(load, "joint") else ()
                terms.append(
                    self._scalar(
                        f"Q_{load.name.replace('.', '_')}_{speed}", value, f"Load {load.name} along {speed}", joint
                    )
                )
        for constraint, multiplier in zip(self.equations.constraints, self.equations.multipliers, strict=True):
            value = -constraint.row[slot] * multiplier
            if not value.is_zero:
                name = f"Q_{_bare(constraint.name)}_{speed}"
                terms.append(self._scalar(name, value, f"Constraint force of {constraint.name}", ()))
        return terms

    def _scalar(self, name: str, value: Expr, sentence: str, joints: tuple[str, ...]) -> Term:
        import sympy

        shown = sympy.Symbol(name)
        self.catalogue.components[shown] = value
        return Term(shown, sentence, (), joints)

    def _name(self, i: int) -> str:
        return self.equations.tree.links[i].joint.name

    @cached_property
    def definitions(self) -> list[Definition]:
        """Accelerations and angular velocities, expanded one step at a time."""
        return definitions(self.catalogue)

    def size(self, expression: Any, steps: int) -> int:
        """How many symbols an expression has with the definitions of the first steps put in."""
        rules = {d.symbol: d.expression for d in self.definitions if d.step <= steps}
        known: dict[Any, int] = self._cache.setdefault(("sizes", steps), {})

        def count(e: Any) -> int:
            if e not in known:
                inner = (rules[e],) if e in rules else () if hasattr(e, "properties") or not e.args else e.args
                known[e] = sum(map(count, inner)) if inner else 1
            return known[e]

        return count(expression)

    def expanded(self, expression: Any, steps: int) -> Any:
        """An expression with the definitions of the first steps put in; what vanishes is left out."""
        rules = {d.symbol: d.expression for d in self.definitions if d.step <= steps}
        for _ in range(len(rules)):
            replaced = expression.xreplace(rules)
            if replaced == expression:
                break
            expression = replaced
        return flat(expression)


def _moves(advances: Sequence[Advance]) -> list[Any]:
    return [scale(one.amount, one.axis) for one in reversed(advances) if one.kind in ("translation", "offset")]


def _project(term: Term, drive: Any, axis: Any) -> Term:
    """drive · (axis · term)."""
    coefficient, rest = term.expression.as_coeff_mmul() if hasattr(term.expression, "as_coeff_mmul") else (1, None)
    inner = term.expression if rest is None else rest
    return replace(term, expression=drive * coefficient * Dot(axis, inner))


def _bare(constraint: str) -> str:
    """hoist of "constraint 'hoist'", wrist_x of "joint 'wrist': x"."""
    return "_".join(re.findall(r"[^\W_]+", constraint.split(" ", 1)[-1]))
