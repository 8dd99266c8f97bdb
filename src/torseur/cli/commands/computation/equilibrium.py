"""`torseur equilibrium`: a state of rest, or a steady motion."""

from __future__ import annotations

from torseur.cli.shared.about_state import SteadyOptions
from torseur.cli.shared.options import JsonOption, SourceArgument, ValueOptions

ROUNDING = 1e-9  # what is left of zero


def equilibrium(source: SourceArgument, steady: SteadyOptions, values: ValueOptions, json: JsonOption = False) -> None:
    """A state of rest near the initial state, or a steady motion in which some coordinates move.

    Example: torseur equilibrium library:flyball_governor --moving psi --fix "psi'"
    """
    from torseur.cli.shared.about_state import Surroundings
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.linearisation.small_motions import small_motions

    about = Surroundings(Work.begin(source, values), True, steady)
    rest = about.steady()
    motions = small_motions(rest.point)
    layout = about.equations.layout
    units = [x.data.unit for x in (*layout.coordinates, *layout.speeds)]
    forces = dict(zip([c.name for c in rest.point.programs.constraints], rest.multipliers.tolist(), strict=True))
    if json:
        print_json({"name": about.name, "state": rest.state, "multipliers": forces, "stable": motions.is_stable})
        return
    pairs = zip(rest.state.items(), units, strict=True)
    rows = [[name, f"{value if abs(value) > ROUNDING else 0.0:.9g}", unit] for (name, value), unit in pairs]
    kind = "steady motion" if steady.moving else "equilibrium"
    say(f"{about.name}: {kind}")
    show_table("", ["state", "value", "unit"], rows, numeric=[1])
    show_table("constraints", ["constraint", "multiplier"], [[n, f"{v:.6g}"] for n, v in forces.items()], numeric=[1])
    say(f"{'stable' if motions.is_stable else 'unstable'} to first order")
