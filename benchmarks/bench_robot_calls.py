"""Calls from Python: the robot object beside Pinocchio's bindings, in one run, after the answers have been compared.

    python benchmarks/bench_robot_calls.py [results/robot_calls.md]

Needs the packages pin and example-robot-data; with casadi, calls of `ts.casadi_function` from Python stand beside (the
bindings of Pinocchio on PyPI come without theirs for CasADi). Times are the least of several rounds and hold the call
itself and the array of the result; an empty Python call is taken off. Pinocchio writes into its `data` and returns
arrays that refer to it. What is not proven here: behaviour under load of many threads, other processors.
"""

from __future__ import annotations

import importlib.metadata
import sys
import timeit
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import torseur as ts

ROUNDS, CALLS = 15, 3000
ROBOTS = {"ur5_robot": ("arm, 6 freedoms", "tool0", False), "solo12": ("quadruped, 18 freedoms", "HR_FOOT", True)}


def least(function, calls: int = CALLS) -> float:
    """Seconds per call."""
    empty = min(timeit.repeat(lambda: None, number=calls, repeat=ROUNDS))
    return (min(timeit.repeat(function, number=calls, repeat=ROUNDS)) - empty) / calls


def path_of(name: str) -> Path:
    package = importlib.metadata.distribution("example-robot-data")
    return next(Path(str(package.locate_file(f))) for f in package.files or () if str(f).endswith(f"/{name}.urdf"))


def compare(name: str, kind: str, frame: str, floating: bool) -> list[str]:
    import pinocchio as pin

    path = path_of(name)
    robot = ts.Robot(path, base="floating" if floating else "fixed", damping=False, friction=False)
    model = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if floating else ()))
    data, rng = model.createData(), np.random.default_rng(0)
    theirs = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv) * 0.5)
    q = np.array([*theirs[:3], theirs[6], *theirs[3:6], *theirs[7:]]) if floating else theirs.copy()
    v, a = rng.normal(size=(2, model.nv))
    tau, number, axes = robot.rnea(q, v, a), model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED

    def place():
        pin.framesForwardKinematics(model, data, theirs)
        return data.oMf[number].homogeneous

    def upper(matrix):
        return np.triu(matrix) + np.triu(matrix, 1).T

    cases = {
        "rnea": (lambda: robot.rnea(q, v, a), lambda: pin.rnea(model, data, theirs, v, a), lambda x: x),
        "aba": (lambda: robot.aba(q, v, tau), lambda: pin.aba(model, data, theirs, v, tau), lambda x: x),
        "crba": (lambda: robot.crba(q), lambda: pin.crba(model, data, theirs), upper),
        "fk": (lambda: robot.fk(frame, q), place, lambda x: x),
        "jacobian": (
            lambda: robot.jacobian(frame, q),
            lambda: pin.computeFrameJacobian(model, data, theirs, number, axes),
            lambda x: x,
        ),
    }
    casadi = casadi_calls(robot, (q, v, a, tau)) if find_spec("casadi") is not None else {}
    lines = []
    for case, (ours, other, shape) in cases.items():
        difference = np.abs(ours() - shape(other())).max() / max(1.0, np.abs(ours()).max())
        assert difference < 1e-11, (name, case, difference)
        mine, peer = least(ours), least(other)
        through = f"{1e9 * least(casadi[case], 300):.0f}" if case in casadi else ""
        times = f"{1e9 * mine:.0f} | {1e9 * peer:.0f} | {peer / mine:.1f} | {through}"
        lines.append(f"| {kind} | {case} | {times} | {difference:.0e} |")
    return lines


def casadi_calls(robot: ts.Robot, state: tuple[np.ndarray, ...]) -> dict[str, Callable[[], Any]]:
    """The same functions as functions of CasADi, called from Python."""
    q, v, a, tau = state
    functions = {"rnea": "inverse_dynamics", "aba": "forward_dynamics", "crba": "mass_matrix"}
    arguments = {"rnea": (q, v, a), "aba": (q, v, tau), "crba": (q,)}
    made = {case: ts.casadi_function(robot.mechanism, name) for case, name in functions.items()}
    return {case: lambda case=case: made[case](*arguments[case]) for case in functions}


def main() -> None:
    rows = [line for name, words in ROBOTS.items() for line in compare(name, *words)]
    table = [
        "# Calls from Python beside Pinocchio's bindings",
        "",
        f"Pinocchio {importlib.metadata.version('pin')}; nanoseconds per call, one state, results as arrays.",
        "",
        "| robot | function | torseur | Pinocchio | ratio | ours through CasADi | difference |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
    print("\n".join(table))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
