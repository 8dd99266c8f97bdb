"""Kernels and rollouts from Python on a GPU: forward dynamics through CuPy, and whole motions of an arm under a law.

Run where CuPy and a GPU are:  PYTHONPATH=src python benchmarks/gpu/rollouts.py ARM.urdf [ROBOT.urdf ...]
Every answer is checked on the CPU before it is timed. Prototypes measured 9.8e9 (float32) and 3.5e9 (float64) steps
per second with the iiwa arm on one H200.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import cupy
import numpy as np

import torseur as ts
from torseur.algebra.graph import as_expr
from torseur.computation.simulation.rollouts.rollouts import Rollouts
from torseur.description import library
from torseur.description.mechanism import Mechanism
from torseur.description.mechanism.loads import CoordinateSpring
from torseur.description.readers import read_robot

STATES = 1 << 20
STEP, STEPS = 1e-3, 1000
STIFFNESS = (100, 100, 60, 60, 20, 10, 2)
DAMPING = (20, 20, 10, 10, 2, 0.5, 0.05)
GOAL = (0.3, -0.5, 0.2, 1.0, 0.1, -0.4, 0.5)


def under_law(arm: Mechanism) -> Mechanism:
    """The arm with a proportional and derivative law on each of its seven joints, and nothing else."""
    loads = [
        CoordinateSpring(f"law {k}", joint.name, joint.coordinates[0].name, *map(as_expr, (float(kp), goal, float(kd))))
        for k, (joint, kp, goal, kd) in enumerate(
            zip([j for j in arm.joints if j.coordinates], STIFFNESS, GOAL, DAMPING, strict=False)
        )
    ]
    return replace(arm, loads=tuple(loads))


def seconds(action: Callable[[], object], repetitions: int = 3) -> float:
    times = []
    for _ in range(repetitions):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        action()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def kernels(arm: Mechanism) -> None:
    random = np.random.default_rng(0)
    q, v, tau = (random.uniform(-1, 1, (7, STATES)) for _ in range(3))
    equations = ts.derive(arm)
    for precision, fast in (("float32", False), ("float32", True), ("mixed", False), ("float64", False)):
        kernel = ts.compile(equations, ["forward_dynamics"], backend="cuda", precision=precision, fast_sines=fast)
        found = kernel(q=q, v=v, tau=tau)["vdot"][:, 5]
        exact = np.array(kernel.program.evaluate({"q": q[:, 5], "v": v[:, 5], "tau": tau[:, 5]})["vdot"], dtype=float)
        error = np.abs(found - exact).max() / np.abs(exact).max()
        kind = "float64" if precision == "float64" else "float32"
        on_device = [cupy.asarray(x, dtype=kind) for x in (q, v, tau)]
        rate = 100 * STATES / seconds(lambda: [kernel(*on_device) for _ in range(100)])  # noqa: B023
        what = f"{precision}{', fast sines' * fast}"
        print(f"forward dynamics from Python, {what}: error {error:.1e}, {1e-9 * rate:.2f}e9 per second", flush=True)


def gradients(robot: Mechanism, precisions: tuple[str, ...]) -> None:
    """The gradient of forward dynamics by coordinates and speeds, in stages made for each precision."""
    random, equations = np.random.default_rng(3), ts.derive(robot)
    size, states = len(equations.layout.speeds), STATES // 4
    given = [random.uniform(-1, 1, (size, states)) for _ in range(3)]
    for precision in precisions:
        kernel = ts.compile(equations, ["forward_dynamics/q,v"], backend="cuda", precision=precision)
        kind = "float64" if precision == "float64" else "float32"
        on_device = [cupy.asarray(x, dtype=kind) for x in given]
        found = [x[..., 5].get().ravel() for x in kernel(*on_device).values()]
        one = {name: x[:, 5].get().astype(float) for name, x in zip(("q", "v", "tau"), on_device, strict=True)}
        exact = [np.array(x, dtype=float) for x in kernel.program.evaluate(one).values()]
        error = max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, exact, strict=True))
        rate = 10 * states / seconds(lambda: [kernel(*on_device) for _ in range(10)])  # noqa: B023
        what = f"gradient of forward dynamics, {size} joints, {precision}, zeroing of results included"
        print(f"{what}: error {error:.1e}, {1e-9 * rate:.3f}e9 per second", flush=True)


def start_of(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """One state by name."""
    names = [c.name for joint in mechanism.joints for c in joint.coordinates]
    start = {name: float(x) for name, x in zip(names, q, strict=True)}
    return start | {f"{name}'": float(x) for name, x in zip(names, v, strict=True)}


def rollouts(arm: Mechanism) -> None:
    mechanism = under_law(arm)
    random = np.random.default_rng(1)
    q, v = random.uniform(-1, 1, (7, STATES)), random.uniform(-0.5, 0.5, (7, STATES))
    start = start_of(mechanism, q[:, 3], v[:, 3])
    exact = ts.simulate(mechanism, STEP * STEPS, initial=start, rtol=1e-11, samples=2).values[-1]
    for precision, fast in (("float32", False), ("float32", True), ("mixed", False), ("float64", False)):
        kind = "float64" if precision == "float64" else "float32"
        states = [cupy.asarray(x, dtype=kind) for x in (q, v)]
        move = Rollouts(mechanism, precision=precision, fast_sines=fast)
        run = lambda: move(*states, step=STEP, steps=STEPS)  # noqa: B023, E731
        error = np.abs(cupy.asnumpy(run())[-1][:, 3] - exact).max()
        rate = STATES * STEPS / seconds(run)
        what = f"{precision}{', fast sines' * fast}"
        print(f"Runge-Kutta 4 under a law, {what}: error {error:.1e}, {1e-9 * rate:.2f}e9 steps/s", flush=True)


def adaptive() -> None:
    """Ten seconds of a double pendulum at rtol 1e-6, and the same with sensitivities to four parameters."""
    pendulum = library.load("double_pendulum")
    random = np.random.default_rng(2)
    q, v = random.uniform(-0.3, 0.3, (2, STATES)), np.zeros((2, STATES))  # no chaos: answers can be compared
    exact = ts.simulate(pendulum, 10.0, initial=start_of(pendulum, q[:, 3], v[:, 3]), rtol=1e-11, samples=2).values[-1]
    for precision in ("float32", "float64"):
        for parameters in ((), ("m1", "m2", "l2", "r2")):
            move = Rollouts(pendulum, "dopri5", precision, sensitivities=parameters)
            states = [cupy.asarray(x, dtype=precision) for x in (q, v)]
            run = lambda: move(*states, step=0.1, steps=100, rtol=1e-6, atol=1e-8)  # noqa: B023, E731
            found = cupy.asnumpy(run())[-1]
            error = np.abs((found[0] if parameters else found)[:, 3] - exact).max()
            rate = STATES / seconds(run)
            what = f"{precision}{' with 4 sensitivities' * bool(parameters)}"
            print(
                f"Dormand-Prince, 10 s at rtol 1e-6, {what}: error {error:.1e}, {1e-6 * rate:.2f}e6 motions/s",
                flush=True,
            )


def main() -> None:
    arm, *others = (replace(read_robot(word).mechanism, loads=()) for word in sys.argv[1:])
    kernels(arm)
    for robot in (arm, *others):
        gradients(robot, ("float32", "mixed", "float64"))
    rollouts(arm)
    adaptive()


if __name__ == "__main__":
    main()
