"""The commands and how they are listed."""

from __future__ import annotations

from typing import Annotated

import typer

from torseur.cli.certify import certify
from torseur.cli.check import check
from torseur.cli.convert import convert
from torseur.cli.equations import equations
from torseur.cli.equilibrium import equilibrium
from torseur.cli.exits import guarded
from torseur.cli.generate import generate
from torseur.cli.identify import identify
from torseur.cli.kinematics import kinematics
from torseur.cli.library import library
from torseur.cli.limb import limb
from torseur.cli.locus import locus
from torseur.cli.loops import loops
from torseur.cli.modes import modes
from torseur.cli.objects import objects
from torseur.cli.optimise import optimise
from torseur.cli.person import person
from torseur.cli.reactions import reactions
from torseur.cli.recording import recording
from torseur.cli.report import report
from torseur.cli.response import response
from torseur.cli.sensitivity import sensitivity
from torseur.cli.simplify import simplify
from torseur.cli.simulate import simulate
from torseur.cli.studio import studio
from torseur.cli.sweep import sweep
from torseur.cli.version import version

EPILOG = """Examples:

  torseur check library:double_pendulum

  torseur equations library:double_pendulum --level matrix --format latex

  torseur simulate library:double_pendulum --until 10 --set 'm1=5 kg' --out motion.csv

  torseur sensitivity library:double_pendulum --criterion kinetic_energy --parameters m1,r2 --until 5

  torseur report library:double_pendulum -o report.html

  torseur studio arm.lsd

Exit codes: 0 done, 1 wrong input, 2 wrong command line, 3 the motion ended early, 4 formalisms disagree.
"""

app = typer.Typer(
    name="torseur",
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
) -> None:
    """Mechanics of multibody systems: equations to read, motions, and reports, from one description."""


COMMANDS = (
    check,
    equations,
    simplify,
    objects,
    simulate,
    reactions,
    equilibrium,
    modes,
    locus,
    response,
    sensitivity,
    identify,
    recording,
    kinematics,
    person,
    limb,
    sweep,
    optimise,
    report,
    studio,
    generate,
    certify,
    loops,
    library,
    convert,
)
for command in COMMANDS:
    app.command(command.__name__)(guarded(command))
