"""Time to build expression graphs, to derive dynamics and how it grows with the number of links, and to write sources.

Checked before times are printed: forward dynamics undoes inverse dynamics at a random state of every chain; the sources
of robots are those whose values bench_dynamics.py checks. Best of five in one process, seconds of CPU.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from pathlib import Path

from peers import robots

import torseur as ts
from torseur.algebra.graph import Input, Program, evaluate, live_nodes, symbol, vector
from torseur.computation.codegen import compile_program
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.generate_sources import generate
from torseur.derivation import dynamics as td
from torseur.derivation.tree import build_tree

REQUESTS = {"forward dynamics": "forward_dynamics", "its derivatives": "forward_dynamics/displacement,v,tau"}
GOALS = {"forward dynamics": 0.15, "its derivatives": 1.5}
LLVM_GOAL = 0.2


def nodes_per_second(count: int = 50_000) -> float:
    x, y = symbol("x"), symbol("y")
    start = time.process_time()
    total = x
    for _ in range(count // 2):
        total = total * y + x
    seconds = time.process_time() - start
    assert len(live_nodes([total])) == count + 2
    return seconds


def chain(n: int) -> ts.Mechanism:
    """n rods in space, each hinge turned a quarter from the one before."""
    bodies, joints, hook = [], [], ts.EARTH
    for k in range(1, n + 1):
        link = ts.body(f"link{k}", mass=1, centre=(0.1, 0, 0), inertia=ts.inertia(0.01, 0.02, 0.03))
        bodies.append(link)
        joints.append(ts.revolute(f"hinge{k}", hook, link, f"q{k}"))
        hook = link.at((0.2, 0, 0), ts.turn(ts.PI / 2, (1, 0, 0)))
    return ts.Mechanism("chain", bodies=bodies, joints=joints, gravity=(0, 0, -9.81))


def derive(n: int) -> tuple[float, int, float, int]:
    mechanism = chain(n)
    start = time.process_time()
    tree = build_tree(mechanism)
    layout = tree.layout
    tau = td.inverse_dynamics(tree, layout.coordinates, layout.speeds, layout.accelerations)
    middle = time.process_time()
    forces = [symbol(f"tau{k}") for k in range(n)]
    vdot = td.forward_dynamics(tree, layout.coordinates, layout.speeds, forces)
    end = time.process_time()
    inputs = tuple(
        Input(name, nodes)
        for name, nodes in (
            ("q", layout.coordinates),
            ("v", layout.speeds),
            ("a", layout.accelerations),
            ("tau", tuple(forces)),
        )
    )
    inverse, forward = (Program("p", inputs, (vector("out", out),)) for out in (tau, vdot))
    check(layout, tau, vdot, forces)
    return middle - start, len(inverse.operations), end - middle, len(forward.operations)


def check(layout, tau, vdot, forces) -> None:
    numbers = random.Random(1)
    state = {s: numbers.uniform(-1, 1) for s in (*layout.coordinates, *layout.speeds)}
    applied = {f: numbers.uniform(-1, 1) for f in forces}
    accelerations = evaluate(list(vdot), {**state, **applied})
    back = evaluate(list(tau), {**state, **dict(zip(layout.accelerations, accelerations, strict=True))})
    assert max(abs(a - b) for a, b in zip(back, applied.values(), strict=True)) < 1e-6


def written(mechanism: ts.Mechanism, request: str) -> float:
    """Seconds from a mechanism to the C source of a function, the best of five."""
    found = []
    for _ in range(5):
        start = time.process_time()
        generate(ts.derive(mechanism), request, "c", baked=True)
        found.append(time.process_time() - start)
    return min(found)


def compiled(mechanism: ts.Mechanism, request: str) -> float:
    """Seconds in which LLVM compiles a function, the best of five."""
    (program,) = programs_of(ts.derive(mechanism), [request])
    found = []
    for _ in range(5):
        start = time.process_time()
        compile_program(program, "llvm")
        found.append(time.process_time() - start)
    return min(found)


def sources() -> None:
    """Goals are for the humanoid, and for LLVM on the arm."""
    os.environ["TORSEUR_CACHE"] = "off"
    for name in ("panda", "anymal", "talos"):
        with tempfile.TemporaryDirectory() as folder:
            equations = robots.load(name, Path(folder))
        if equations is None:
            print(f"{name}: its file is not here (pip install example-robot-data)")
            continue
        for label, request in REQUESTS.items():
            goal = f" (goal {GOALS[label]} s)" if name == "talos" else ""
            print(f"{name}, {label}: derived and written as C in {written(equations.mechanism, request):.3f} s{goal}")
            if name == "panda":
                seconds = compiled(equations.mechanism, request)
                print(f"{name}, {label}: compiled by LLVM in {seconds:.3f} s (goal {LLVM_GOAL} s)")


def main() -> None:
    print(f"50,000 nodes: {nodes_per_second():.3f} s of CPU (goal 1 s)")
    print("links   inverse dynamics          forward dynamics")
    for n in (7, 25, 50, 100, 200, 300):
        t1, n1, t2, n2 = derive(n)
        print(f"{n:5}   {1e3 * t1:7.1f} ms {n1:7} ops   {1e3 * t2:7.1f} ms {n2:7} ops   {1e3 * t1 / n:.2f} ms a link")
    sources()


if __name__ == "__main__":
    main()
