"""`torseur equilibrium`: a state of rest, or a steady motion."""

from __future__ import annotations

from torseur.cli.shared.about_state import SteadyOptions, VerifyOption
from torseur.cli.shared.options import JsonOption, SourceArgument, ValueOptions

ROUNDING = 1e-9  # what is left of zero


def equilibrium(
    source: SourceArgument,
    steady: SteadyOptions,
    values: ValueOptions,
    verify: VerifyOption = True,
    json: JsonOption = False,
) -> None:
    """Find an equilibrium near the initial state, or a steady motion in which some coordinates move.

    Example: torseur equilibrium library:flyball_governor --moving psi --fix "psi'"
    """
    from torseur.cli.shared.about_state import Surroundings, checks_of, report_checks
    from torseur.cli.shared.console import print_json, say, show_table
    from torseur.cli.shared.prepared_model import Work

    about = Surroundings(Work.begin(source, values), True, steady)
    rest = about.steady()
    motions = rest.small_motions
    checks = checks_of(verify, rest, motions)
    layout = about.equations.layout
    units = [x.data.unit for x in (*layout.coordinates, *layout.speeds)]
    forces = dict(zip([c.name for c in rest.point.programs.constraints], rest.multipliers.tolist(), strict=True))
    if json:
        checked = [check.to_dict() for check in checks]
        stable = motions.is_stable
        print_json(
            {"name": about.name, "state": rest.state, "multipliers": forces, "stable": stable, "checks": checked}
        )
        report_checks(checks, json)
        return
    pairs = zip(rest.state.items(), units, strict=True)
    rows = [[name, f"{value if abs(value) > ROUNDING else 0.0:.9g}", unit] for (name, value), unit in pairs]
    kind = "steady motion" if steady.moving else "equilibrium"
    say(f"{about.name}: {kind}")
    show_table("", ["state", "value", "unit"], rows, numeric=[1])
    show_table("constraints", ["constraint", "multiplier"], [[n, f"{v:.6g}"] for n, v in forces.items()], numeric=[1])
    say(f"{'stable' if motions.is_stable else 'unstable'} to first order")
    report_checks(checks, json)
