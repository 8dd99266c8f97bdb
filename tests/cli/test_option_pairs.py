"""Every option of every command has its effect beside every other one, or is refused with its name.

Each command runs with each pair of its options on a tiny mechanism (`make test` takes a third of them, `make thorough`
all), and again with either of the two alone: where the pair is accepted, leaving one of the two out has to change what is
printed or written. Values of samples are chosen so
that each option matters. What an option cannot show beside another is listed with its reason in `SAME`.
"""

from __future__ import annotations

import hashlib
import io
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import typer

from sampling import is_sampled
from torseur.cli.app import COMMANDS, app

ARM = """mechanism rig "an arm" ;
param g = 9.81 m/s^2, l = 0.4 m, m = 1 kg, k = 60 N/m, r = 0.3 m ;
gravity = [0, -g, 0] ;
let arm = body mass = m, centre = [l, r, 0], inertia = diag(0.01 kg*m^2, 0.02 kg*m^2, 0.02 kg*m^2) end ;
join earth and arm.frame as pivot with revolute(q) about [0, 0, 1] {torque} end ;
init q = 0.5 rad ;
"""
BELT = """let block = body mass = 2 kg, centre = [0, 0, 0], inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k, damping = 2 N*s/m end ;
constrain {left} = x - r*q as belt ;
"""
# On a turning shaft, so that there are steady motions besides equilibria.
RIG = ARM.replace("join earth and arm", """let shaft = body mass = 1 kg, centre = [0, 0, 0], inertia = diag(0.1 kg*m^2, 0.1 kg*m^2, 0.1 kg*m^2) end ;
join earth and shaft.frame as spin with revolute(s) about [0, 1, 0] end ;
join shaft.frame and arm""").replace("init ", "init s' = 3 rad/s, ") + BELT  # fmt: skip
CORNER = """mechanism corner ;
param l = 0.4 m, drop = 0.05 m, delta = 0 rad, k = 20 kN/m ;
let hub = body mass = 20 kg, centre = 0, inertia = diag(1, 1, 1) kg*m^2 end ;
let low = [0.02, 0, -0.1] m @ hub ;
let high = [0, -0.03, 0.1] m @ hub ;
join [0.5 m, 0.7 m, drop] @ earth and hub.frame as arm with link(q) dof1 = q || [0, 1, 0.1], dof2 = [-l, 0, 0], dof3 = delta || [0, 0.1, 1] end ;
apply spring stiffness = k between [0.1, 0.6, 0.5] m @ earth and hub.frame as strut ;
"""
TRACK = """mechanism track ;
param m = 1500 kg, a = 1.1 m, b = 1.6 m, Cf = 80 kN, Cr = 90 kN, u = 20 m/s, delta = 0 rad, push = 0 N ;
let body = body mass = m, centre = 0, inertia = diag(2500, 2500, 2500) kg*m^2 end ;
join earth and body with planar(x, y, psi) speeds vx = x'*cos(psi) + y'*sin(psi), vy = -x'*sin(psi) + y'*cos(psi), r = psi' end ;
apply force [push, -Cf*((vy + a*r)/vx - delta), 0] in body on [a, 0, 0] @ body as front ;
apply force [0, -Cr*(vy - b*r)/vx, 0] in body on [-b, 0, 0] @ body as rear ;
init vx = u ;
"""
ROBOT = """<robot name="robot"><link name="base"/>
<link name="arm"><inertial><origin xyz="0 0 -0.3"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"><visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="flange" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 -0.6"/></joint>
</robot>
"""
LOST = """<mujoco><asset><model name="hand" file="absent.xml"/></asset><worldbody><body><joint type="hinge"/>
<geom type="sphere" size="0.1"/><attach model="hand" body="palm" prefix="p"/></body></worldbody></mujoco>
"""
STRICT = ROBOT.replace('izz="0.05"', 'izz="5"')


FILES = {
    "rig.lsd": RIG.format(torque="", left="0"),
    "driven.lsd": ARM.format(torque="") + BELT.format(left="0.1 m/s * t"),
    "open.lsd": RIG.format(torque="torque = ?motor(t, q')", left="0"),
    "arm.lsd": ARM.format(torque=""),
    "motor.lsd": ARM.format(torque="torque = ?motor(t, q')"),
    "belt.lsd": ARM.format(torque="") + BELT.format(left="0"),
    "hung.lsd": (ARM.format(torque="") + BELT.format(left="0"))
    .replace("[l, r, 0]", "[0, -l, 0]")
    .replace("q = 0.5 rad", "q = 0")
    .replace("stiffness = k, ", ""),
    "timed.lsd": RIG.format(torque="torque = 3 N*m/s * t * q", left="0"),
    "corner.lsd": CORNER,
    "track.lsd": TRACK,
    "robot.urdf": ROBOT,
    "lost.xml": LOST,
    "strict.urdf": STRICT,
    "values.toml": "[parameters]\nm = 1.5\n[initial]\nq = 0.8\n",
    "sweep.toml": """mechanism = "library:mass_spring_damper"
until = "1 s"
[vary]
m = { uniform = ["0.5 kg", "2 kg"] }
[design]
kind = "saltelli"
count = 2
[criteria]
place = "x"
""",
    "optimise.toml": """mechanism = "library:mass_spring_damper"
until = "1 s"
objective = { maximise = "place" }
[vary]
k = { from = "10 N/m", to = "35 N/m" }
[criteria]
place = "x"
""",
    "identify.toml": """mechanism = "arm.lsd"
method = "weighted"
[data]
trials = ["run.csv"]
[data.forces]
q = "tau"
[treatment]
window = 5
order = 3
""",
}


def write_recordings(folder: Path) -> None:
    """A box on a string seen by markers for some frames, and an arm that was swung by a known torque."""
    from torseur.analysis.biomechanics import write_csv
    from torseur.analysis.published_studies import marker_count

    box = marker_count.box_markers()
    box = replace(box, positions=box.positions[:5], time=box.time[:5])
    write_csv(folder / "box.csv", box)
    # Another one's markers beside them, elsewhere.
    labels = [f"{name}:{label}" for name in ("Anna", "Ben") for label in box.labels]
    places = np.concatenate([box.positions, box.positions + 1.0], axis=1)
    write_csv(folder / "people.csv", replace(box, labels=tuple(labels), positions=places))
    t = np.linspace(0.0, 2.0, 101)
    q, bend = 0.6 * np.sin(3 * t) + 0.2 * np.sin(7 * t), -5.4 * np.sin(3 * t) - 9.8 * np.sin(7 * t)
    torque = (0.02 + 0.25) * bend + 9.81 * (0.4 * np.cos(q) - 0.3 * np.sin(q))
    lines = [",".join(f"{x:.9g}" for x in row) for row in zip(t, q, torque, strict=True)]
    (folder / "run.csv").write_text("\n".join(["time [s],q [rad],tau [N*m]", *lines]) + "\n", encoding="utf-8")


class Case(NamedTuple):
    """A command with what it cannot run without, and telling values of each of its options."""

    arguments: str
    options: tuple[str, ...]
    required: tuple[str, ...] = ()  # options that cannot be left out; a sample of the same name takes their place
    files: Mapping[str, str] = {}  # FILE in place of rig.lsd where an option needs another one


VALUES = ("--set 'r=0.2 m'", "--values values.toml")
STARTS = ("--init 'q=-0.9 rad'", "--law 'pivot.motor(t, w) = 0.3*sin(9*t)'")
ROBOTS = ("--strict", "--base floating", "--merge-fixed", "--density 500", "--symbolic inertia")
ROBOT_FILES = dict.fromkeys(("--base", "--merge-fixed", "--density", "--symbolic"), "robot.urdf") | {
    "--strict": "strict.urdf"
}
LAW = {"--law": "open.lsd"}
STATE = ("--equilibrium", "--moving s", '--fix "s\'"')
CASES = {
    "check": Case("rig.lsd", (*VALUES, *ROBOTS, "--json"), files=ROBOT_FILES),
    "check a robot in part": Case("lost.xml", ("--json",), ("--partial",)),
    "equations": Case("rig.lsd", (
        "--level scalar", "--level intrinsic", "--level recursive", "--format latex", "--format sympy",
        "--formalism hamilton", "--collect", "--linear", "--kinetic-energy", "--steps 2", "--fold 1", "--fold-size 4",
        "--fold-as A=l*m", "--open P1", "--out out.txt", "--force", "--json",
    )),
    "equations without multipliers": Case("belt.lsd", (
        "--level scalar", "--eliminate", "--solve", '--independent "q\'"', "--formalism kane", "--format latex", "--json",
    )),
    "equations of small motions": Case("hung.lsd", (
        "--level matrix", '--independent "x\'"', "--formalism kane", "--format latex", "--json", "--about q=pi",
    ), ("--linear",)),
    "derivation": Case("belt.lsd", (
        "--format latex", "--format html", '--independent "q\'"', "--out out.txt", "--force", "--json",
    )),
    "equations of derivatives": Case("rig.lsd", (
        "--level scalar", "--level intrinsic", "--criterion q", "--kind integral", "--when q", "--parameters l",
        "--second-order", "--formalism kane", "--format latex", "--fold 1", "--json",
    ), ("--sensitivity direct",)),
    "equations as vectors": Case("rig.lsd", ("--steps 2", "--format latex", "--fold 1", "--json"), ("--level intrinsic",)),
    "equations with names": Case("rig.lsd", (
        "--level scalar", "--open P1", "--fold-as A=m*l^2", "--format latex", "--json",
    ), ("--fold 2",)),
    "equations of a robot": Case("robot.urdf", ("--level scalar", "--symbolic inertia,geometry", "--json")),
    "simplify": Case("rig.lsd", (
        "--tolerance 0.3", "--box 'angles=-1 deg..1 deg'", "--method sampling", "--no-hold", "--small q", "--order 2",
        "--group", "--horner q", "--format latex", "--formalism lagrange", *VALUES, "--out out.txt", "--force", "--json",
    )),
    "simplify in a box": Case("arm.lsd", (
        "--method sampling", "--no-hold", "--group", "--horner m", "--format latex", *VALUES, "--out out.txt", "--json",
    ), ("--tolerance 0.3", "--box 'angles=-20 deg..20 deg' --box angular_speeds=-1..1 --box angular_accelerations=-1..1")),
    "simplify by a criterion": Case("arm.lsd", (
        "--method sampling", "--no-hold", "--allow 0.3", *VALUES, "--json",
    ), ("--criterion q", "--until 0.1", "--box 'angles=20 deg..32 deg' --box angular_speeds=-9..9 --box angular_accelerations=-50..50")),
    "simplify small": Case("rig.lsd", ("--order 2", "--group", "--format latex", "--json"), ("--small q",)),
    "objects": Case("rig.lsd", (
        "--formalism hamilton", "--only 'kinetic energy'", "--format latex", "--out out.txt", "--force", "--json",
    )),
    "simulate": Case("rig.lsd", (
        "--max-step '10 ms'",
        "--out out.csv", "--out out.json", "--out -", "--samples 4", "--output energy", "--event q", "--rtol 1e-4",
        "--method radau5", "--formulation projector", "--contact 'q >= 0.45'", "--restitution 0.5",
        "--formalism hamilton", *VALUES, *STARTS, "--force", "--json",
    ), ("--until 0.3",), LAW),
    "simulate drawn": Case("rig.lsd", ("--over q", "--output energy", "--samples 4", "--force", "--json"),
                           ("--until 0.3", "--plot out.svg")),
    "simulate a contact": Case("rig.lsd", ("--restitution 0.5", "--samples 4", "--method radau5", "--out out.csv", "--json"),
                               ("--until 0.3", "--contact 'q >= 0.2'")),
    "simulate a section": Case("rig.lsd", (
        "--output energy", "--samples 4", "--event x", "--method radau5", "--plot out.svg", "--over x", "--spectrum out.csv",
        "--out out.csv", "--force", "--json",
    ), ("--until 3", "--section q")),
    "simulate a spectrum": Case("rig.lsd", (
        "--output energy", "--event q", "--section q", "--plot out.svg", "--out out.json", "--force", "--json",
    ), ("--until 0.3", "--samples 16", "--spectrum out.csv")),
    "reactions": Case("rig.lsd", ("--joint pivot", "--method multipliers", "--json")),
    "equilibrium": Case("rig.lsd", ("--moving s", '--fix "s\'"', *VALUES, *STARTS, "--no-verify", "--json"), files=LAW),
    "modes": Case("rig.lsd", (*STATE, "--independent x", "--matrices", *VALUES, *STARTS, "--no-verify", "--json"),
                  files=LAW),
    "locus": Case("rig.lsd", (
        "--points 3", """--state q --state "q'" --state "s'" """, *STATE, "--independent x", *VALUES, *STARTS, "--force", "--no-verify", "--json",
    ), ("--over k", "--from 50", "--to 70", "--points 2"), LAW),
    "locus of a block": Case("rig.lsd", ("--independent s", "--plot out.svg", "--force", "--equilibrium", "--json"), (
        "--over k", "--from 50", "--to 70", "--points 2", """--state q --state "q'" --state "s'" """,
    )),
    "response": Case("rig.lsd", (
        "--from 0.1", "--to 9", "--points 3", "--time 2", *STATE, *VALUES, *STARTS, "--force", "--no-verify", "--json",
    ), ("--input q", "--output q"), LAW | {"--time": "timed.lsd"}),
    "response drawn": Case("rig.lsd", ("--plot out.svg", "--force", "--from 0.1", "--json"), ("--input q", "--output q")),
    "handling": Case("track.lsd", (
        "--drive push", "--body body", "--moving psi", "--speed '12 m/s'", "--step '2 m/s^2'", "--speeds 5..9", "--lane-change",
        "--up-to '2 m/s^2'", "--out out.csv", "--report out.html", "--set 'm=1700 kg'", "--force", "--json",
    ), ("--steering delta", "--no-turns")),
    "handling with values": Case("track.lsd", ("--values values.toml", "--init 'vx=9 m/s'", "--law 'pivot.motor(t, w) = 0'", "--no-verify", "--json"), (
        "--steering delta", "--no-turns",
    )),
    "handling in turns": Case("track.lsd", ("--up-to '2 m/s^2'", "--out out.csv", "--force", "--json"), ("--steering delta",)),
    "suspension": Case("corner.lsd", (
        "--body hub", "--radius '0.2 m'", "--steering delta", "--kingpin low,high", "--wheelbase '2 m'", "--height '0.3 m'",
        "--brake-share 0.3", "--travel '-10 mm..10 mm'", "--over -0.2..0.2", "--variant 'long: l=0.5 m'", "--vary 'drop=0 m..0.1 m'",
        "--target 'toe=1 deg'", "--set 'l=0.3 m'", "--init 'q=0.1 rad'", "--out out.csv", "--report out.html", "--force", "--json",
    ), ("--wheel hub", "--points 3")),
    "suspension over steering": Case("corner.lsd", (
        "--points 4", "--travel '-10 mm..10 mm'", "--wheelbase '2 m'", "--vary 'drop=0 m..0.1 m'", "--json",
    ), ("--wheel hub", "--steering delta", "--over -0.2..0.2")),
    "suspension with values": Case("corner.lsd", ("--values values.toml", "--init 'q=0.1 rad'", "--law 'pivot.motor(t, w) = 0'", "--json"), (
        "--wheel hub", "--points 3",
    )),
    "suspension with anti-dive": Case("corner.lsd", ("--height '0.3 m'", "--brake-share 0.3", "--json"), (
        "--wheel hub", "--points 3", "--wheelbase '2 m'",
    )),
    "suspension improved": Case("corner.lsd", ("--vary 'l=0.3 m..0.5 m'", "--target 'caster=1 deg'", "--over -0.2..0.2", "--json"), (
        "--wheel hub", "--points 3", "--target 'toe=1 deg'", "--vary 'drop=0 m..0.1 m'",
    )),
    "road": Case("C", ("--length 20", "--spacing 0.2", "--seed 3", "--force", "--json"), ("--out out.csv", "--length 10")),
    "animate": Case("rig.lsd", (
        "--until 0.4", "--at 0.2", "--height 80", "--fps 5", "--speed 0.5", "--out out.svg", "--out out.glb", "--arrows velocity=1",
        "--set 'r=0.2 m'", "--force", "--json",
    ), ("--out out.gif", "--until 0.6", "--width 64", "--height 64")),
    "animate a still": Case("rig.lsd", ("--at 0.2", "--width 90", *VALUES, *STARTS, "--force", "--json"), ("--out out.svg",), LAW),
    "animate a robot": Case("robot.urdf", (*ROBOTS, "--json"), ("--out out.svg",), ROBOT_FILES),
    "sensitivity": Case("arm.lsd", (
        "--integral", "--kind maximum", "--kind steady", "--kind eigenvalues", "--kind response", "--kind event",
        "--when q", "--direction 1", "--occurrence 2", "--parameters m", "--samples 3", "--method adjoint", "--second-order",
        "--integrator radau5", "--equilibrium", "--jump 'q falls: q=0.1'", "--contact 'q >= 0.2'", "--restitution 0.5",
        "--rtol 1e-3", "--input q", "--max-step '10 ms'", "--from 0.2", "--to 5", "--points 3", "--moving q", "--fix q", "--verify",
        "--no-verify", "--form per_percent", "--tolerance m=0.1", "--cost m=3", "--out out.csv", "--pareto out.svg",
        "--over m=1:2:2", *VALUES, "--init \"q'=1 rad/s\"", "--law 'pivot.motor(t, w) = 0.3*sin(9*t)'", "--force", "--json",
    ), ("--until 0.6", "--criterion q"), {"--law": "motor.lsd"}),
    "sensitivity at an event": Case("arm.lsd", (
        "--direction 1", "--occurrence 2", "--parameters m", "--form per_percent", "--json",
    ), ("--until 6", "--criterion \"q'\"", "--kind event", "--when q")),
    "sensitivity of eigenvalues": Case("arm.lsd", ("--parameters m", "--form per_percent", "--set 'r=0.2 m'", "--json"), (
        "--kind eigenvalues",
    )),
    "sensitivity of a response": Case("arm.lsd", (
        "--from 0.2", "--to 5", "--parameters m", "--form per_percent", "--set 'r=0.2 m'", "--json",
    ), ("--kind response", "--criterion q", "--input q", "--points 2")),
    "sensitivity of a steady state": Case("rig.lsd", (
        "--moving s", '--fix "s\'"', "--method adjoint", "--parameters m", "--form per_percent", *VALUES, "--json",
    ), ("--kind steady", "--criterion q")),
    "sensitivity over a parameter": Case("arm.lsd", (
        "--samples 3", "--second-order", "--form per_percent", "--out out.json", "--plot out.svg", "--rtol 1e-3", "--json",
    ), ("--until 0.6", "--criterion q", "--over m=1:2:2", "--parameters r")),
    "report": Case("rig.lsd", (
        "--until '0.3 s'", "--out out.html", "--rtol 1e-4", "--output energy", "--over q", "--formalism hamilton", "--set 'r=0.2 m'",
        *STARTS, "--arrows velocity=1", "--criterion q", "--parameters m", "--force", "--json",
    ), ("--until 0.2",), LAW),
    "report a robot": Case("robot.urdf", ("--values values.toml", *ROBOTS, "--json"), ("--until 0.2",), ROBOT_FILES),
    "report a criterion": Case("rig.lsd", ("--parameters m", "--set 'r=0.2 m'", "--json"), (
        "--until 0.2", "--criterion q",
    )),
    "generate": Case("rig.lsd", (
        "--target python", "--function mass_matrix", "--bake", "--batch", "--output energy", *VALUES,
        "--init 'q=-0.9 rad'", "--force", "--json",
    ), ("--target c", "--out made")),
    "generate an FMU": Case("rig.lsd", ("--output energy", "--set 'r=0.2 m'", "--init 'q=-0.9 rad'", "--json"), (
        "--target fmu", "--out out.fmu",
    )),
    "certify": Case("rig.lsd", ("--formalism kane", "--json")),
    "loops": Case("belt.lsd", (
        "--method precise", "--prefer x", "--lock x", "--assemble 3", "--syzygies", "--closed", "--algebraic", "--input q", "--output q",
        "--time 0.5", *VALUES, *STARTS, "--no-verify", "--json",
    ), files={"--time": "driven.lsd", "--law": "open.lsd"}),
    "loops on the way": Case("belt.lsd", ("--drive q=0..0.1", "--box q=0..0.1", "--json")),
    "loops with a map": Case("library:linkages/planar_3rpr", ("--picture out.svg", "--force"), (
        "--lock phi", "--map x=1..2 --map y=0..1",
    )),
    "library": Case("pendulum", ("--json",)),
    "doctor": Case("", ("--json",)),
    "recording": Case("box.csv", ("--unit mm", "--up y", "--segment box=P1,P2,P3,P4", "--fill 3", "--filter 10", "--rate 50", "--plates 1", "--zero",
        "--threshold 20", "--subject Ben", "--json",
    ), files={"--subject": "people.csv"}),
    "kinematics": Case("library:box_on_string box.csv", (
        "--weight P1=9", "--limit x=-0.01..0.01", "--hold x", "--fill 3", "--filter 10", "--rate 50", "--unit mm", "--up y", "--subject Ben", "--set 'l=0.7 m'", "--init 'x=0.1 m'",
        "--out out.csv", "--force", "--json",
    )),
    "sweep": Case("sweep.toml", (
        "--out made", "--cores 1", "--workers 0", "--scheduler nowhere", "--shared made", "--backend python", "--check",
        "--report out.html", "--force", "--json",
    )),
    "optimise": Case("optimise.toml", ("--log out.jsonl", "--cores 1", "--report out.html", "--force", "--json")),
    "identify": Case("identify.toml", (
        "--report out.html", "--out made.lsd", "--method ordinary", "--payload arm", "--base", "--no-verify", "--force", "--json",
    )),
    "convert": Case("rig.lsd made.lsd", ("--partial", *ROBOTS, "--force", "--json"), files=ROBOT_FILES),
}  # fmt: skip
NONSENSE = {
    # Results by another way are equal, or differ beyond the digits shown: that the value is read is seen by a wrong one.
    "--formalism": "newtonian", "--rtol": "-1", "--formulation": "loose", "--method": "guess", "--init": "nothing=1",
    "--set": "nothing=1", "--values": "absent.toml", "--independent": "nothing", "--time": "never", "--event": "nothing",
    "--prefer": "nothing", "--integrator": "leap", "--jump": "nothing falls: q=0.1", "--contact": "nothing >= 0",
    "--cores": "-1", "--max-step": "-1", "--drive": "nothing", "--body": "nothing", "--moving": "nothing",
}  # fmt: skip
ALWAYS = {
    ("modes", "--matrices", "--json"): "the document has the matrices in any case",
    ("animate", "--symbolic", ""): "the names with which --set changes what is drawn",
    ("sensitivity", "--form", ""): "a ranking shows the derivative in every form",
    ("sensitivity", "--equilibrium", "--values"): "initial values of the file replace those of the equilibrium",
    ("sensitivity", "--verify", "--no-verify"): "one option of two names",
    ("equations", "--level", "--collect"): "what is collected are the scalar equations",
    ("equations", "--level", "--eliminate"): "multipliers are eliminated from the scalar equations",
    ("equations", "--level", "--solve"): "the scalar equations are solved",
    ("equations", "--fold-size", "--fold"): "every part of that size has a name already, by its depth",
}
NOT_FOUND = re.compile("no (equilibrium|steady motion) was found")  # an answer: with this value kept there is none
PRESENT = (
    "out.txt",
    "out.csv",
    "out.json",
    "out.svg",
    "out.gif",
    "out.html",
    "rig.html",
    "made.lsd",
    "made/rig.c",
    "made/rig.py",
    "made/rig.fmu",
    "out.fmu",
)
OLD = b"here before"
TIMES = re.compile(r"[\d.e+-]+ ms|\"(wall_time|seconds)\": [\d.e+-]+|\(\d+ kB\)|\"bytes\": \d+")


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str
    files: Mapping[str, str]


class Bench:
    """A folder with the files of the samples, in which commands run in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._group: Any = typer.main.get_command(app)
        self._known: dict[tuple[str, ...], Outcome] = {}
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        write_recordings(folder)
        self._own = set(folder.iterdir())

    def run(self, *words: str, present: bool = False) -> Outcome:
        key = (*words, str(present))
        if key not in self._known:
            self._known[key] = self._outcome(words, present)
        return self._known[key]

    def _outcome(self, words: tuple[str, ...], present: bool) -> Outcome:
        for name in PRESENT if present else ():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(OLD)
        code, stdout, stderr = self._call(words)
        files = {}
        for path in sorted(set(self.folder.iterdir()) - self._own):
            for file in [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]:
                if (content := file.read_bytes()) != OLD:
                    files[str(file.relative_to(self.folder))] = hashlib.sha256(content).hexdigest()
            path.unlink() if path.is_file() else shutil.rmtree(path)
        return Outcome(code, TIMES.sub("", stdout), TIMES.sub("", stderr), files)

    def _call(self, words: tuple[str, ...]) -> tuple[int, str, str]:
        # Not by Typer's runner, which builds all 25 commands anew at every call: most of the time of this test.
        with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(io.StringIO()) as stderr:
            try:
                self._group.main(list(words), prog_name="torseur")
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
        return code, stdout.getvalue(), stderr.getvalue()


def command_line(name: str, case: Case, given: Sequence[list[str]], file: str = "") -> list[str]:
    """A command with the options given and those it cannot do without."""
    arguments = shlex.split(case.arguments)
    arguments[:1] = [file] if file else arguments[:1]
    names = {words[0] for words in given}
    default = [words for text in case.required if (words := shlex.split(text))[0] not in names]
    return [name.split()[0], *arguments, *(word for words in [*default, *given] for word in words)]


def command_lines(name: str, case: Case) -> Iterator[tuple[str, str, list[list[str]], bool]]:
    """(option, option, [both, without the first, without the second], whether output files are there already)."""
    for first, second in combinations(case.options, 2):
        one, other = (shlex.split(text) for text in (first, second))
        if one[0] == other[0]:
            continue
        files = {case.files[word] for word in (one[0], other[0]) if word in case.files}
        # Two options that need different files never meet; a robot's file shows that the other one is refused.
        file = max(files, key=lambda text: (text.endswith("urdf"), text)) if files else ""
        lines = [command_line(name, case, given, file) for given in ([one, other], [other], [one])]
        yield first, second, lines, "--force" in (first, second)


def violations(bench: Bench, name: str, thorough: bool) -> Iterator[str]:
    """One line per option that is neither used nor refused by its name; of a sample of the pairs, unless thorough."""
    for first, second, (both, *rest), present in command_lines(name, CASES[name]):
        if not thorough and not is_sampled(f"{name} {first} {second}", 3):
            continue
        outcome, text = bench.run(*both, present=present), shlex.join(both)
        options = [shlex.split(option)[0] for option in (first, second)]
        alone = [bench.run(*words, present=present) for words in rest]
        if outcome.code == 70 or "Traceback" in outcome.stderr:
            yield f"{text}: {outcome.stderr}"
        elif outcome.code in (1, 2) and (not outcome.stdout or '"error"' in outcome.stdout):
            words = {f"'{word}'" for option in (first, second) for word in shlex.split(option)[1:]}
            named = any(
                word in outcome.stderr for word in {*(o.strip("-") for o in options), *words}
            ) or NOT_FOUND.search(outcome.stderr)
            # What fails likewise without one of the two is the fault of the other alone, such as a body that --strict refuses.
            if not named and outcome not in alone:
                yield f"{text}: refused without a name of an option: {outcome.stderr.strip()}"
        else:
            for option, other, without in zip(options, reversed(options), alone, strict=True):
                known = {(both[0], option, other), (both[0], option, "")} & ALWAYS.keys()
                if without == outcome and not known and not _reads(bench, both, option):
                    yield f"{text}: {option} changes nothing"


def _reads(bench: Bench, words: list[str], option: str) -> bool:
    """Whether a command refuses a wrong value of an option, which shows that it is read."""
    if option not in NONSENSE:
        return False
    place = words.index(option) + 1
    return bench.run(*words[:place], NONSENSE[option], *words[place + 1 :]).code in (1, 2)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    yield Bench(tmp_path_factory.mktemp("pairs"))


SLOW = (
    "sensitivity", "report", "locus", "loops on the way", "generate an FMU", "simulate", "kinematics", "identify", "sweep",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CASES]
)
def test_every_option_of_a_pair_is_used_or_refused(
    bench: Bench, name: str, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.folder)
    # Pages hold the command line that made them, in which every option is seen.
    monkeypatch.setattr(sys, "argv", ["torseur"])
    plain = bench.run(*command_line(name, CASES[name], ()))
    assert plain.code == 0, plain.stderr
    assert list(violations(bench, name, thorough)) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.__name__))
def test_every_option_has_a_sample_and_every_rule_an_option(command: Any) -> None:
    group: Any = typer.main.get_command(app)
    parameters = group.commands[command.__name__].params
    options = {name for p in parameters for name in (*p.opts[:1], *p.secondary_opts[:1]) if name.startswith("--")}
    arguments = {p.opts[0].upper() for p in parameters if not p.opts[0].startswith("-")}
    rules = [
        word
        for rule in getattr(command, "rules", ())
        for word in f"{rule.options} {rule.needs} {rule.not_with}".split()
    ]
    assert {word.partition("=")[0] for word in rules} <= options | arguments
    cases = [case for name, case in CASES.items() if name.split()[0] == command.__name__]
    if cases:
        samples = {shlex.split(text)[0] for case in cases for text in (*case.options, *case.required)}
        switches = {p.opts[0] for p in parameters if p.secondary_opts}
        assert options - samples <= switches | {"--help"}
