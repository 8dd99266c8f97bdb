"""The commands and how they are listed."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.commands.analysis.identify import identify
from torseur.cli.commands.analysis.kinematics import kinematics
from torseur.cli.commands.analysis.limb import limb
from torseur.cli.commands.analysis.optimise import optimise
from torseur.cli.commands.analysis.person import person
from torseur.cli.commands.analysis.recording import recording
from torseur.cli.commands.analysis.sensitivity import sensitivity
from torseur.cli.commands.analysis.sweep import sweep
from torseur.cli.commands.computation.equilibrium import equilibrium
from torseur.cli.commands.computation.generate import generate
from torseur.cli.commands.computation.locus import locus
from torseur.cli.commands.computation.modes import modes
from torseur.cli.commands.computation.response import response
from torseur.cli.commands.computation.simulate import simulate
from torseur.cli.commands.derivation.certify import certify
from torseur.cli.commands.derivation.derivation import derivation
from torseur.cli.commands.derivation.equations import equations
from torseur.cli.commands.derivation.loops import loops
from torseur.cli.commands.derivation.objects import objects
from torseur.cli.commands.derivation.reactions import reactions
from torseur.cli.commands.derivation.simplify import simplify
from torseur.cli.commands.description.check import check
from torseur.cli.commands.description.convert import convert
from torseur.cli.commands.description.library import library
from torseur.cli.commands.installation.doctor import doctor
from torseur.cli.commands.presentation.animate import animate
from torseur.cli.commands.presentation.report import report
from torseur.cli.commands.presentation.studio import studio
from torseur.cli.commands.vehicles.handling import handling
from torseur.cli.commands.vehicles.road import road
from torseur.cli.commands.vehicles.suspension import suspension
from torseur.cli.shared.command_words import Command, Group
from torseur.cli.shared.exits import guard
from torseur.cli.shared.option_records import expand_options
from torseur.cli.shared.option_rules import check_rules
from torseur.cli.shared.output_files import version
from torseur.edges.budgets import allow_memory

EPILOG = """Examples:

  torseur check library:double_pendulum

  torseur equations library:double_pendulum --level matrix --format latex

  torseur simulate library:double_pendulum --until 10 --set 'm1=5 kg' --out motion.csv

  torseur sensitivity library:double_pendulum --criterion kinetic_energy --parameters m1,r2 --until 5

  torseur report library:double_pendulum -o report.html

  torseur studio arm.lsd

Exit codes: 0 done, 1 wrong input or failed check, 2 wrong command line, 3 motion ended early, 4 formalisms disagree.
"""

app = typer.Typer(
    name="torseur",
    cls=Group,
    help="Mechanics of multibody systems: equations to read, motions, and reports, from one description.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"torseur {version()}")
        raise typer.Exit


@app.callback()
def torseur(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory allowed, such as 16GB; half by default.")
    ] = None,
) -> None:
    """Mechanics of multibody systems: equations to read, motions, and reports, from one description."""
    if memory is not None:
        allow_memory(memory)


# In the order in which `torseur --help` lists them: from a description to its equations, motions, analyses and pages.
COMMANDS = (
    check,
    equations,
    derivation,
    simplify,
    objects,
    simulate,
    reactions,
    equilibrium,
    modes,
    locus,
    response,
    handling,
    suspension,
    road,
    sensitivity,
    identify,
    recording,
    kinematics,
    person,
    limb,
    sweep,
    optimise,
    report,
    animate,
    studio,
    generate,
    certify,
    loops,
    library,
    convert,
    doctor,
)
for command in COMMANDS:
    app.command(command.__name__, cls=Command)(guard(check_rules(command, expand_options(command))))
