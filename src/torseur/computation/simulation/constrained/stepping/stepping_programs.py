"""Structure of a mechanism in time steps: blocks of speeds, rows of contacts and friction, and programs of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Output, Program, as_expr, jacobian, live_nodes, substitute, symbol, vector
from torseur.computation.simulation.constrained.contacts.friction_rows import FrictionRows
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.derivation.loops import ConstraintEquation
from torseur.errors import UnsupportedError

Integers = NDArray[np.int64]
# An elimination of n³/3 operations beside sweeps of n times a few entries.
MOST_UNKNOWNS = 36  # impulses that linear equations are solved for; sweeps go on alone with more


@dataclass(frozen=True)
class SteppingPrograms:
    """`programs` hold contacts and friction; `lasting` are those without them, which bring the inputs."""

    programs: MechanismPrograms
    lasting: MechanismPrograms

    def __post_init__(self) -> None:
        strange = [node for node in self.programs.undetermined if node not in self.lasting.undetermined]
        if strange or len(self.programs.undetermined) != len(self.lasting.undetermined):
            names = ", ".join(f"'{node.data.name}'" for node in strange)
            raise UnsupportedError(
                f"law {names}: a Python function in a contact or in friction is not covered by time steps. "
                "Write it as a formula, or choose method='auto'."
            )

    @cached_property
    def order(self) -> list[int]:
        """Speeds, those of a block one after the other."""
        return [speed for block in self.blocks for speed in block]

    # Why blocks: docs/decisions/0099-time-steps-by-blocks.md.
    @cached_property
    def blocks(self) -> list[list[int]]:
        """Speeds that the mass matrix or lasting constraints couple."""
        mass, count = self.programs.equations.mass_matrix, len(self.programs.equations.layout.speeds)
        parent = list(range(count))

        def root(i: int) -> int:
            while parent[i] != i:
                i = parent[i]
            return i

        # Union and find over whatever couples two speeds within the metric: inertia, damping, a lasting constraint.
        couplings = [[i, j] for i in range(count) for j in range(i) if not as_expr(mass[i][j]).is_zero]
        couplings += [[i, j] for i, j in self.damping if j < i]
        couplings += [columns_of(c) for c in self.lasting.constraints]
        for group in couplings:
            for other in group[1:]:
                a, b = root(group[0]), root(other)
                parent[max(a, b)] = min(a, b)
        blocks: dict[int, list[int]] = {}
        for i in range(count):
            blocks.setdefault(root(i), []).append(i)
        return list(blocks.values())

    @cached_property
    def damping(self) -> dict[tuple[int, int], Expr]:
        """Minus the symmetric part of the derivative of the loads by the speeds, lower triangle without zeros."""
        equations = self.programs.equations
        # What a Python function adds to the damping is not known; the iteration finds its force nevertheless.
        known = {node: symbol(f"law {k}", "1") for k, node in enumerate(self.programs.undetermined)}
        back = {replacement: node for node, replacement in known.items()}
        entries = jacobian(substitute(list(equations.loads), known), equations.layout.speeds)
        entries = dict(zip(entries, substitute(list(entries.values()), back), strict=True))
        pairs = sorted({(max(i, j), min(i, j)) for i, j in entries})
        zero, half = as_expr(0), as_expr(1) / 2
        sums = {(i, j): -half * (entries.get((i, j), zero) + entries.get((j, i), zero)) for i, j in pairs}
        return {pair: entry for pair, entry in sums.items() if not entry.is_zero}

    @cached_property
    def block_of(self) -> dict[int, int]:
        """The block of each speed."""
        return {speed: b for b, block in enumerate(self.blocks) for speed in block}

    @cached_property
    def place_of(self) -> dict[int, int]:
        """Where each speed stands in the order of the blocks."""
        return {speed: place for place, speed in enumerate(self.order)}

    @cached_property
    def lasting_of_block(self) -> list[list[int]]:
        """Lasting constraints of each block; those that no speed enters belong to none."""
        numbers: list[list[int]] = [[] for _ in self.blocks]
        for number, constraint in enumerate(self.lasting.constraints):
            columns = columns_of(constraint)
            if columns:
                numbers[self.block_of[columns[0]]].append(number)
        return numbers

    @property
    def contacts(self) -> tuple[ConstraintEquation, ...]:
        return self.programs.contacts

    @property
    def friction(self) -> tuple[FrictionRows, ...]:
        return self.programs.friction

    @cached_property
    def rows(self) -> list[ConstraintEquation]:
        """Rows of contacts, then of friction."""
        return [*self.contacts, *(row for element in self.friction for row in element.rows)]

    @cached_property
    def columns(self) -> list[list[int]]:
        """Speeds that enter each row, in the order of the blocks."""
        return [sorted(columns_of(row), key=self.place_of.__getitem__) for row in self.rows]

    @cached_property
    def touched(self) -> list[list[int]]:
        """Blocks that each row touches; both rows of friction in a plane touch those of either."""
        own = [sorted({self.block_of[c] for c in columns}) for columns in self.columns]
        first = len(self.contacts)
        for element in self.friction:
            both = slice(first, first + len(element.rows))
            # Their product w₁·w₂ runs over both rows side by side: they must have the same columns.
            union = sorted({b for blocks in own[both] for b in blocks})
            own[both] = [union] * len(element.rows)
            first += len(element.rows)
        return own

    @cached_property
    def tables(self) -> dict[str, Integers]:
        """Integers of the structure, by the names of its record."""
        sizes = [len(block) for block in self.blocks]
        counts = [len(own) for own in self.lasting_of_block]
        lasting = {c.name: k for k, c in enumerate(self.programs.constraints)}
        widths = [sum(sizes[b] for b in blocks) for blocks in self.touched]
        rubbing_first = len(self.programs.constraints) - sum(len(e.rows) for e in self.friction)
        contact_first = self.lasting.holonomic
        row_of = [*range(contact_first, contact_first + len(self.contacts))]
        row_of += range(rubbing_first, len(self.programs.constraints))
        chosen = [k for own in self.lasting_of_block for k in own]
        return {
            "first_speed": starts(sizes),
            "first_row": starts(counts),
            "mass_at": starts([n * n for n in sizes]),
            "rows_at": starts([n * m for n, m in zip(sizes, counts, strict=True)]),
            "r_at": starts([m * m for m in counts]),
            "speed_of": integers(self.order),
            "lasting_of": integers([lasting[self.lasting.constraints[k].name] for k in chosen]),
            "row_of": integers(row_of),
            "first_entry": starts([len(columns) for columns in self.columns]),
            "column": integers([self.place_of[c] for columns in self.columns for c in columns]),
            "first_block": starts([len(blocks) for blocks in self.touched]),
            "blocks": integers([b for blocks in self.touched for b in blocks]),
            "row_at": starts(widths),
            "pressed_by": integers([self._pressed_by(element) for element in self.friction]),
        }

    def _pressed_by(self, element: FrictionRows) -> int:
        owners = [f"impact '{element.on}'" == contact.owner for contact in self.contacts]
        if element.on and not any(owners):
            raise UnsupportedError(
                f"friction '{element.name}' is pressed by '{element.on}', a constraint that lasts: time steps cover "
                "friction on bounds and contacts, and friction of a given force. Choose method='auto'."
            )
        return owners.index(True) if element.on else -1

    @cached_property
    def externals(self) -> dict[str, Program]:
        """Programs behind the externals of the routines."""
        inputs, equations = self.lasting.inputs, self.programs.equations
        force = vector("force", [self.lasting.force[speed] for speed in self.order])
        gaps = vector("gaps", [contact.residual for contact in self.contacts])
        entries = [row.row[c] for row, columns in zip(self.rows, self.columns, strict=True) for c in columns]
        amounts = [amount for element in self.friction for amount in element.amounts]
        touching = (gaps, vector("entries", entries), vector("drifts", [row.drift for row in self.rows]),
                    vector("amounts", amounts))  # fmt: skip
        return {
            "smooth": Program("smooth", inputs, (*self._lasting_outputs, force)),
            "forces": Program("forces", inputs, (force,)),
            "rates": Program("rates", inputs, (vector("rates", equations.rates),)),
            "touching": Program("touching", inputs, touching),
            "gaps_at": Program("gaps_at", inputs, (gaps,)),
            "displaced": self.lasting.displaced,
            "normalised": self.lasting.normalised,
        }

    @property
    def _lasting_outputs(self) -> tuple[Output, ...]:
        """Lower triangles of the mass matrix and the damping, rows and drifts of the constraints, block by block."""
        mass, zero = self.programs.equations.mass_matrix, as_expr(0)
        squares: list[Expr] = []
        dampings: list[Expr] = []
        for block in self.blocks:
            for i, first in enumerate(block):
                squares += [as_expr(mass[first][second]) if j <= i else zero for j, second in enumerate(block)]
                # Blocks keep the order of the layout: the first of two speeds stands behind the second there too.
                dampings += [self.damping.get((first, second), zero) for second in block]
        rows: list[Expr] = []
        drifts: list[Expr] = []
        for block, own in zip(self.blocks, self.lasting_of_block, strict=True):
            for number in own:
                constraint = self.lasting.constraints[number]
                rows += [constraint.row[speed] for speed in block]
                drifts.append(constraint.drift)
        return vector("mass", squares), vector("damping", dampings), vector("rows", rows), vector("drift", drifts)

    @property
    def statics(self) -> dict[str, int]:
        """Compile-time numbers beside those of the lasting programs."""
        speeds = set(self.programs.equations.layout.speeds)
        return {
            "NB": len(self.blocks),
            "NR": len(self.rows),
            "NL": sum(len(own) for own in self.lasting_of_block),
            "CONTACTS": len(self.contacts),
            "LINES": sum(len(element.rows) == 1 for element in self.friction),
            "PLANES": sum(len(element.rows) == 2 for element in self.friction),
            "MULTIPLIERS": len(self.programs.constraints),
            "MOST": min(len(self.rows), MOST_UNKNOWNS),
            "DAMPED": int(bool(self.damping)),
            "SPEEDY": int(not speeds.isdisjoint(live_nodes(self.lasting.force))),
        }


def columns_of(constraint: ConstraintEquation) -> list[int]:
    """Speeds that enter a constraint."""
    return [i for i, entry in enumerate(constraint.row) if not as_expr(entry).is_zero]


def integers(values: Sequence[int]) -> Integers:
    """An array that is never empty: compiled code takes empty ones the slow way."""
    return np.array([*values] or [0], dtype=np.int64)


def starts(sizes: Sequence[int]) -> Integers:
    """Where each of several parts begins, and where the last one ends."""
    return np.array([0, *accumulate(sizes)], dtype=np.int64)
