"""Time to read robots and to generate their dynamics; a humanoid of 38 degrees of freedom must take less than a second.

The robots are those of the package example-robot-data. Checked before times are printed: inverse dynamics agrees with
Pinocchio at a random state. Not proven by these times: how fast the generated code is (bench_dynamics.py).
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio as pin

import torseur as ts
from torseur.computation.functions import program_of
from torseur.derivation import dynamics as td
from torseur.derivation.tree import build_tree
from torseur.presentation.report.compose.make_report import Occasion

ROBOTS = ("ur5_robot", "solo12", "anymal", "talos_reduced", "icub_reduced")
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")
REPEATS = 3
HUMANOID, MOST_SECONDS = "talos_reduced", 1.0


def robot_files() -> dict[str, Path]:
    """The URDF files of the package by name."""
    package = importlib.metadata.distribution("example-robot-data")
    files = [Path(str(package.locate_file(f))) for f in package.files or () if str(f).endswith(".urdf")]
    return {file.stem: file for file in files}


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of a few runs, in seconds of work, and the result."""
    times, result = [], None
    for _ in range(REPEATS):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def generate(file: Path) -> Any:
    """Forward dynamics of a floating robot as a program, from its file."""
    robot = ts.read_robot(file, base="floating")
    return program_of(ts.derive(robot.mechanism, formalism="recursive"), ["forward_dynamics"])


def check(file: Path) -> float:
    """The relative difference of inverse dynamics to Pinocchio's."""
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    tree = build_tree(ts.read_robot(file, base="floating").mechanism)
    rng = np.random.default_rng(1)
    v, a = rng.normal(size=(2, model.nv))
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    values = {f"root.{part}": q[k] for k, part in enumerate(POSE)}
    slots = {f"root.{part}": k for k, part in enumerate(SPEEDS)}
    for name, joint in list(zip(model.names, model.joints, strict=True))[2:]:
        part = q[joint.idx_q : joint.idx_q + joint.nq]
        values[name] = part[0] if joint.nq == 1 else np.arctan2(part[1], part[0])
        slots[f"{name}'"] = joint.idx_v
    order = [slots[name] for name in tree.layout.speed_names]
    state = [float(values[name]) for name in tree.layout.coordinate_names]
    ours = np.array(td.inverse_dynamics(tree, state, list(v[order]), list(a[order])), dtype=float)
    theirs = pin.rnea(model, model.createData(), q, v, a)[order]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def main() -> None:
    files = robot_files()
    print(f"{'robot':16s} {'freedoms':>8s} {'read':>8s} {'+ generate':>11s} {'report':>8s} {'page':>8s} {'error':>8s}")
    with TemporaryDirectory() as folder:
        for name in (name for name in ROBOTS if name in files):
            error = check(files[name])
            assert error < 1e-9, f"{name}: inverse dynamics differs by {error:.1e}"
            reading, robot = best(lambda name=name: ts.read_robot(files[name], base="floating"))
            seconds, program = best(lambda name=name: generate(files[name]))
            start = time.process_time()
            page = ts.write_report(robot, Path(folder) / f"{name}.html", Occasion(until=2.0))
            making = time.process_time() - start
            count, size = len(program.outputs[0].entries), page.stat().st_size
            times = f"{reading:7.3f}s {seconds:10.3f}s {making:7.1f}s"
            print(f"{name:16s} {count:8d} {times} {size / 1e6:6.2f}MB {error:8.0e}", flush=True)
            if name == HUMANOID:
                assert seconds < MOST_SECONDS, f"{name}: {seconds:.2f} s is more than {MOST_SECONDS:g} s"


if __name__ == "__main__":
    main()
