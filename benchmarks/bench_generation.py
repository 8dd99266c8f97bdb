"""Time to build expression graphs and to derive dynamics; how it grows with the number of links.

Checked before times are printed: forward dynamics undoes inverse dynamics at a random state of every chain.
"""

from __future__ import annotations

import random
import time

import torseur as ts
from torseur import dynamics as td
from torseur.graph import Input, Program, evaluate, live_nodes, symbol, vector
from torseur.tree import build_tree


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


def main() -> None:
    print(f"50,000 nodes: {nodes_per_second():.3f} s of CPU (goal 1 s)")
    print("links   inverse dynamics          forward dynamics")
    for n in (7, 25, 50, 100, 200, 300):
        t1, n1, t2, n2 = derive(n)
        print(f"{n:5}   {1e3 * t1:7.1f} ms {n1:7} ops   {1e3 * t2:7.1f} ms {n2:7} ops   {1e3 * t1 / n:.2f} ms a link")


if __name__ == "__main__":
    main()
