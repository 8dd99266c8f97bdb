"""Optimal motions: iterations and time with our dynamics and with Pinocchio's on CasADi's scalar, in one run.

    python benchmarks/bench_optimal_motion.py [results/optimal_motion.md]

Needs casadi, and for the peer libpinocchio, pin and cmeel-eigen with a C++ compiler; without them it times ours alone.
Both are given to the same plan (`ts.OptimalMotion`, the same grid, start of the search and options of IPOPT), after
their accelerations have been compared. Times are the least of three solutions, without making the functions. What is
not proven: global optima, other grids and tolerances.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import casadi
import numpy as np

import torseur as ts

PEERS = Path(__file__).parent / "peers"
ROUNDS = 3

CART_POLE = """mechanism cart_pole ;
gravity = [0, -9.81, 0] m/s^2 ;
let cart = body mass = 1 kg, iframe = 0, inertia = 0 end ;
let pole = body mass = 0.3 kg, centre = [0, -0.5, 0] m, inertia = 0 end ;
join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] end ;
join cart.frame and pole.frame as hinge with revolute(theta) about [0, 0, 1] end ;
actuate x ;"""

ACROBOT = """mechanism acrobot ;
gravity = [0, -9.81, 0] m/s^2 ;
let upper = body mass = 1 kg, centre = [0, -0.5, 0] m, inertia = diag(0, 0, 0.083) kg*m^2 end ;
let lower = body mass = 1 kg, centre = [0, -0.5, 0] m, inertia = diag(0, 0, 0.33) kg*m^2 end ;
join earth and upper.frame as shoulder with revolute(q1) about [0, 0, 1] end ;
join [0, -1, 0] m @ upper and lower.frame as elbow with revolute(q2) about [0, 0, 1] end ;
actuate q2 ;"""

# Masses, lengths and inertias of Rabbit, as Kelly takes them (SIAM Review 59(4), 2017, table 7).
BIPED = """mechanism biped ;
gravity = [0, -9.81, 0] m/s^2 ;
let tibia1 = body mass = 3.2 kg, centre = [0, 0.272, 0] m, inertia = diag(0, 0, 0.93) kg*m^2 end ;
let femur1 = body mass = 6.8 kg, centre = [0, 0.237, 0] m, inertia = diag(0, 0, 1.08) kg*m^2 end ;
let torso  = body mass = 20 kg, centre = [0, 0.2, 0] m, inertia = diag(0, 0, 2.22) kg*m^2 end ;
let femur2 = body mass = 6.8 kg, centre = [0, -0.163, 0] m, inertia = diag(0, 0, 1.08) kg*m^2 end ;
let tibia2 = body mass = 3.2 kg, centre = [0, -0.128, 0] m, inertia = diag(0, 0, 0.93) kg*m^2 end ;
join earth and tibia1.frame as ankle with {base} end ;
join [0, 0.4, 0] m @ tibia1 and femur1.frame as knee1 with revolute(k1) about [0, 0, 1] end ;
join [0, 0.4, 0] m @ femur1 and torso.frame as hip1 with revolute(h1) about [0, 0, 1] end ;
join torso.frame and femur2.frame as hip2 with revolute(h2) about [0, 0, 1] end ;
join [0, -0.4, 0] m @ femur2 and tibia2.frame as knee2 with revolute(k2) about [0, 0, 1] end ;
let foot = [0, -0.4, 0] m @ tibia2 ;"""
STEP = 0.5  # m


def swing_up_of_a_cart_pole(dynamics: Any = None) -> ts.OptimalMotion:
    plan = ts.OptimalMotion(ts.parse(CART_POLE), 2.0, dynamics=dynamics)
    plan.start({"x": 0, "theta": 0})
    plan.end({"x": 1, "theta": np.pi})
    plan.bound("tau_x", -20, 20)
    plan.bound("x", -2, 2)
    return plan


def swing_up_of_an_acrobot(dynamics: Any = None) -> ts.OptimalMotion:
    plan = ts.OptimalMotion(ts.parse(ACROBOT), 3.0, intervals=60, dynamics=dynamics)
    plan.start({"q1": 0, "q2": 0})
    plan.end({"q1": np.pi, "q2": 0})
    plan.bound("tau_q2", -20, 20)
    return plan


def least_effort_of_an_arm(dynamics: Any = None) -> ts.OptimalMotion:
    robot = ts.Robot(urdf("ur5_robot"), damping=False, friction=False)
    plan = ts.OptimalMotion(robot.mechanism, 1.5, intervals=30, method="trapezoidal", dynamics=dynamics)
    names = plan.coordinate_names
    plan.start(dict(zip(names, (0, -1.5, 1.0, 0, 0, 0), strict=True)))
    plan.end(dict(zip(names, (1.5, -0.5, 0.2, 0.5, -1, 1), strict=True)))
    for name, most in zip(names, (150, 150, 150, 28, 28, 28), strict=True):
        plan.bound(f"tau_{name}", -most, most)
    return plan


def gait_of_a_biped(dynamics: Any = None) -> ts.OptimalMotion:
    """A step after which the legs have changed places; the foot that lands takes a blow, the other leaves the ground.

    M (v₊ - v₋) = Jᵀ Λ and J v₊ = 0 with the mechanism free of the ground and J of the foot that lands.
    """
    plan = ts.OptimalMotion(
        ts.parse(BIPED.format(base="revolute(a1) about [0, 0, 1]")), 0.7, intervals=20, dynamics=dynamics
    )
    free = ts.parse(BIPED.format(base="planar(x, y, a1)"))
    mass, foot = ts.casadi_function(free, "mass_matrix"), ts.casadi_function(free, "frame:foot")
    place = casadi.MX.sym("q", 7)
    jacobian = casadi.Function("jacobian", [place], [casadi.jacobian(foot(place)[0][:2], place)])
    plan.require(plan.function("frame:foot")(plan.q[:, -1])[0][:2] == casadi.DM([STEP, 0]))
    heights = plan.function("frame:foot").map(plan.intervals + 1)(plan.q)[0][1, :]
    plan.require(heights[1:-1] >= 0)
    q, before = casadi.vertcat(0, 0, plan.q[:, -1]), casadi.vertcat(0, 0, plan.v[:, -1])
    after, blow = plan.opti.variable(7), plan.opti.variable(2)
    plan.require(mass(q) @ (after - before) == jacobian(q).T @ blow, jacobian(q) @ after == 0)
    changed = [4, 3, 2, 1, 0]  # links from the foot that stands to the one that swings, by their angles to the ground
    plan.require(casadi.cumsum(plan.q[:, 0]) == casadi.cumsum(plan.q[:, -1])[changed])
    plan.require(casadi.cumsum(plan.v[:, 0]) == casadi.cumsum(after[2:])[changed])
    for name, course in {"a1": (0.33, -0.33), "h1": (-0.33, 0.33), "h2": (-0.33, 0.33)}.items():
        plan.guess(name, course)
    return plan


PROBLEMS: dict[str, Callable[..., ts.OptimalMotion]] = {
    "swing-up of a cart-pole": swing_up_of_a_cart_pole,
    "swing-up of an acrobot": swing_up_of_an_acrobot,
    "least effort of a UR5": least_effort_of_an_arm,
    "gait of a five-link biped": gait_of_a_biped,
}


def urdf(name: str) -> Path:
    package = distribution("example-robot-data")
    return next(Path(str(package.locate_file(f))) for f in package.files or () if str(f).endswith(f"/{name}.urdf"))


def peer_program(folder: Path) -> Path | None:
    """Pinocchio's articulated bodies on CasADi's scalar as a program that saves a function; None where it is not."""
    try:
        prefix = Path(str(distribution("libpinocchio").locate_file("cmeel.prefix")))
    except PackageNotFoundError:
        return None
    compiler = shutil.which("g++")
    if compiler is None or not (prefix / "include" / "eigen3").is_dir():
        return None
    root = Path(casadi.__file__).parent
    words = ["-std=c++17", "-O1", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"]
    paths = [f"-I{prefix}/include", f"-I{prefix}/include/eigen3", f"-I{root}/include"]
    links = [f"-L{root}", "-lcasadi", f"-Wl,-rpath,{root}"]
    program = folder / "pinocchio_casadi"
    subprocess.run(
        [compiler, *words, *paths, str(PEERS / "pinocchio_casadi.cpp"), "-o", str(program), *links], check=True
    )
    return program


def peer_dynamics(plan: ts.OptimalMotion, program: Path, folder: Path) -> Any:
    """The same mechanism's accelerations by Pinocchio, from the URDF that we write of it."""
    import pinocchio as pin

    path, text, saved = (folder / name for name in ("robot.urdf", "model.txt", "forward_dynamics.casadi"))
    ts.write_robot(plan.equations.mechanism, path, partial=True)
    model = pin.buildModelFromUrdf(str(path))
    lines = [str(model.njoints - 1)]
    for j in range(1, model.njoints):
        kind, inertia, place = model.joints[j].shortname(), model.inertias[j], model.jointPlacements[j]
        numbers = [*place.rotation.ravel(), *place.translation, inertia.mass, *inertia.lever, *inertia.inertia.ravel()]
        axis = ("s" if kind.startswith("JointModelP") else "") + kind[-1].lower()
        lines.append(" ".join([axis, str(model.parents[j]), *(repr(float(x)) for x in numbers)]))
    text.write_text("\n".join(lines), encoding="utf-8")
    gravity = [repr(float(g)) for g in plan.equations.mechanism.gravity]
    subprocess.run([str(program), str(text), str(saved), *gravity], check=True)
    names = [model.names[j] for j in range(1, model.njoints)]
    order = [names.index(name) for name in plan.coordinate_names]
    theirs, back = casadi.Function.load(str(saved)), [order.index(k) for k in range(len(order))]
    given = [casadi.SX.sym(name, len(order)) for name in ("q", "v", "tau")]
    return casadi.Function("peer", given, [theirs(*[x[back] for x in given])[order]], {"never_inline": True})


def difference(ours: Any, theirs: Any) -> float:
    rng = np.random.default_rng(0)
    states = [rng.normal(size=ours.size1_in(k)) for k in range(3)]
    a, b = np.array(ours(*states)), np.array(theirs(*states))
    return float(np.abs(a - b).max() / np.abs(a).max())


def best(make: Callable[..., ts.OptimalMotion], dynamics: Any) -> Any:
    return min((make(dynamics).solve() for _ in range(ROUNDS)), key=lambda motion: motion.seconds)


def main() -> None:
    table = [
        "# Optimal motions with our dynamics and with Pinocchio's",
        "",
        f"CasADi {casadi.__version__}, IPOPT with exact Hessians; seconds and iterations of one solution.",
        "",
        "| motion | grid | least | iterations | s | with Pinocchio: least | iterations | s | ratio | operations |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = peer_program(folder)
        for name, make in PROBLEMS.items():
            plan, ours = make(), best(make, None)
            row = [name, f"{plan.method}, {plan.intervals}", f"{ours.cost:.6g}", ours.iterations, f"{ours.seconds:.2f}"]
            if program is not None:
                peer = peer_dynamics(plan, program, folder)
                assert difference(plan.dynamics, peer) < 1e-9, name
                theirs = best(make, peer)
                sizes = f"{plan.dynamics.n_instructions()} / {peer.n_instructions()}"
                ratio = f"{theirs.seconds / ours.seconds:.2f}"
                row += [f"{theirs.cost:.6g}", theirs.iterations, f"{theirs.seconds:.2f}", ratio, sizes]
            table.append("| " + " | ".join(str(x) for x in row) + " |")
            print(table[-1], flush=True)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
