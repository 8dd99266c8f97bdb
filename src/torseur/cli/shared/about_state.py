"""The state that small motions are about: the initial one, or an equilibrium or steady motion found from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.exits import USAGE, CommandError
from torseur.cli.shared.option_rules import Rule

if TYPE_CHECKING:
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.linearisation import RootLocus, SmallMotions, Steady
    from torseur.computation.linearisation.operating_point import Kinematics
    from torseur.computation.linearisation.verification import Check
    from torseur.derivation.equations import Equations
    from torseur.derivation.tree import Tree

STATE = "State"
MOVES = 1e-6  # acceleration, in units of the mechanism, from which a state is called neither rest nor steady motion
LEAST = 1e-9  # scale of a state, in SI, below which rounding is all that moves it

EquilibriumOption = Annotated[
    bool,
    typer.Option("--equilibrium", help="Find the equilibrium near the initial state first.", rich_help_panel=STATE),
]
MovingOption = Annotated[
    list[str] | None,
    typer.Option("--moving", metavar="NAME", help="Coordinate that may move in the steady motion. Repeatable.",
                 rich_help_panel=STATE),
]  # fmt: skip
FixOption = Annotated[
    list[str] | None,
    typer.Option("--fix", metavar="NAME", help="Coordinate or speed that keeps its value. Repeatable.",
                 rich_help_panel=STATE),
]  # fmt: skip
IndependentOption = Annotated[
    list[str] | None,
    typer.Option("--independent", metavar="NAME", help="Coordinate to take as independent. Repeatable."),
]


VerifyOption = Annotated[
    bool,
    typer.Option("--verify/--no-verify",
                 help="Check the result by an independent method; exit code 1 if the two disagree.",
                 show_default=False),
]  # fmt: skip


class SteadyOptions(NamedTuple):
    """Which steady motion is looked for: what moves in it, and what keeps its value."""

    moving: MovingOption = None
    fix: FixOption = None

    def require_movable(self, tree: Tree) -> None:
        """Refuses speeds that should be kept where nothing moves: they would be zero, whatever was asked for."""
        for name in self.fix or () if not self.moving else ():
            if name not in tree.layout.coordinate_names:
                reason = "nothing moves in an equilibrium; --moving names coordinates that move in a steady motion"
                raise CommandError(f"--fix {name}: {reason}.", USAGE)


STATE_RULES = (
    Rule("--equilibrium", not_with="--moving", why="in a steady motion coordinates move, in an equilibrium none does"),
    Rule("--fix", needs="--equilibrium --moving", why="it keeps a value while such a state is looked for"),
)


@dataclass(frozen=True)
class Surroundings:
    """A mechanism with its values, and whether a state of rest or a steady motion is looked for near them."""

    work: Work
    equilibrium: bool
    near: SteadyOptions

    @cached_property
    def equations(self) -> Equations:
        equations = self.work.equations("recursive")
        self.work.require_determined(equations)
        return equations

    @cached_property
    def kinematics(self) -> Kinematics:
        """The programs of the mechanism, made once for all states that are looked for."""
        from torseur.computation.linearisation.operating_point import kinematics_of

        return kinematics_of(self.equations)

    @property
    def name(self) -> str:
        return self.work.source.mechanism.name

    def steady(self, parameters: Mapping[str, float] | None = None, at: Mapping[str, float] | None = None) -> Steady:
        """The equilibrium or steady motion near the given values."""
        from torseur.computation.linearisation import steady_motion

        given = self._values_with(parameters, at)
        moving, fixed = self.near.moving or (), self.near.fix or ()
        self.near.require_movable(self.work.tree)
        return steady_motion(self.kinematics, moving=moving, fixed=fixed, **given)

    def state(
        self, parameters: Mapping[str, float] | None = None, at: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Initial values of the state that small motions are about."""
        if self.is_searched:
            return self.steady(parameters, at).state
        return dict(self._values_with(parameters, at)["at"])

    @property
    def is_searched(self) -> bool:
        """Whether small motions are about a state that is looked for."""
        return bool(self.equilibrium or self.near.moving)

    def small_motions(self, independent: Sequence[str], verify: bool) -> tuple[SmallMotions, list[Check]]:
        """Small motions about the state, with the checks of both."""
        from torseur.computation.linearisation import linearise

        parameters = self._values_with(None, None)["parameters"]
        rest = self.steady() if self.is_searched else None
        at = rest.state if rest is not None else self.state()
        motions = linearise(self.equations, at, parameters=parameters, independent=independent)
        return motions, checks_of(verify, *([rest] if rest is not None else []), motions)

    def _values_with(self, parameters: Mapping[str, float] | None, at: Mapping[str, float] | None) -> dict[str, Any]:
        values = self.work.values
        return {
            "parameters": {**values.parameters, **(parameters or {})},
            "at": {**values.initial, **(at or {})},
        }


def checks_of(verify: bool, *results: Steady | SmallMotions | RootLocus) -> list[Check]:
    """The checks of some results; none where they are not wanted."""
    return [result.check for result in results] if verify else []


def report_checks(checks: Sequence[Check], json: bool) -> None:
    """Says how far the checks agree, and ends the command with exit code 1 where one does not."""
    from torseur.cli.shared.console import say
    from torseur.cli.shared.exits import WRONG

    for check in checks:
        if not json:
            say(str(check))
    # Not as an error message: the result stands above, with the same in it for those who read JSON.
    if not all(check.agrees for check in checks):
        raise SystemExit(WRONG)


def unsteadiness(motions: SmallMotions) -> str | None:
    """What has to be said when the state is neither at rest nor in steady motion."""
    import numpy as np

    point = motions.point
    layout = point.equations.layout
    changing = np.concatenate([point.solution[0], point.state_rates])
    scaled = np.abs(changing) / np.concatenate([point.numbers.scales, np.maximum(point.state_scales, LEAST)])
    if not len(scaled) or scaled.max() <= MOVES:
        return None
    worst = int(np.argmax(scaled))
    name = (*layout.accelerations, *layout.rates[len(layout.joint_rates) :])[worst].name
    return (
        f"The state is not an equilibrium: {name} = {changing[worst]:.4g}. These are small motions about a motion "
        "at its start; --equilibrium looks for a state of rest."
    )
