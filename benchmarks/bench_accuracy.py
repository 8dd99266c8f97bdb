"""Errors of inverse and forward dynamics, the mass matrix and their derivatives, beside Pinocchio's, for many robots.

Run: python benchmarks/bench_accuracy.py [--short] [--states N] [--robots WORD ...] [--files FILE ...] [--out FILE]

Every robot file of the package example-robot-data and of the tests is computed in 100 digits from the numbers in it, by
a program of its own (peers/exact_dynamics.py). Errors are relative to the largest entry of a vector or matrix, the
largest over some random states. Torseur's are those of its compiled C for single states; Pinocchio's those of its
functions called from Python, of two ways to compute (its conventions "local" and "world") the better. Mechanisms of the
library, which have joints that Pinocchio lacks, are compared with the graph's own evaluation in 50 digits.

Not proven here: states near singular ones, speeds of more than one radian per second, other compilers.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import mpmath
import numpy as np
from bench_dynamics import FUNCTIONS
from peers.exact_dynamics import ExactRobot, exact_values
from peers.robots import OWN, prefix

import torseur as ts
from torseur.algebra.graph import Program
from torseur.computation.codegen import Kernel, compile_program
from torseur.computation.functions.function_requests import programs_of
from torseur.derivation.equations.parameter_values import known_values
from torseur.description import library
from torseur.description.readers import read_robot
from torseur.errors import TorseurError

HERE = Path(__file__).parent
NOISE = 1e-14
"""Errors up to which nobody is worse than anybody."""

STANDING = (
    "left_arm", "panda", "ur3", "ur5", "ur10", "xarm", "z1_", "kinova_", "allegro", "asr_", "baxter", "pendulum",
    "finger", "iiwa", "pr2", "so_arm", "tiago",
)  # fmt: skip
"""Words in the names of robots whose base is held."""

REQUESTS = FUNCTIONS | {"mass matrix": "mass_matrix"}
Values = dict[str, list[np.ndarray]]


@dataclass
class Line:
    """The errors of one robot: by function, torseur's and Pinocchio's."""

    name: str
    speeds: int
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)
    note: str = ""

    @property
    def cells(self) -> list[str]:
        pairs = [self.errors.get(label, ()) for label in REQUESTS]
        texts = [", ".join(f"{error:.0e}" for error in pair if error == error) for pair in pairs]
        return [self.name, str(self.speeds), *texts, self.note]

    @property
    def worse(self) -> list[str]:
        """Functions in which torseur is worse than Pinocchio by more than noise."""
        return [label for label, (own, other) in self.errors.items() if own > NOISE and own > 3 * other]


def robot_files() -> list[tuple[str, Path]]:
    """The names and files of all robots that are here."""
    found = [(path.stem.removesuffix("_nomesh"), path) for path in sorted(OWN.glob("*.urdf"))]
    root = prefix()
    shipped = root / "share" / "example-robot-data" / "robots" if root is not None else None
    if shipped is not None and shipped.is_dir():
        found += [(f"{p.relative_to(shipped).parts[0]}/{p.stem}", p) for p in sorted(shipped.rglob("*.urdf"))]
    return [(name, path) for name, path in found if "<link" in path.read_text(encoding="utf-8")]


def plain_text(path: Path) -> str:
    """The file without pictures, friction and couplings of joints."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<(visual|collision|transmission|gazebo)\b[^>]*?(?<!/)>.*?</\1>", "", text, flags=re.S)
    return re.sub(r"<(mimic|dynamics|visual|collision|gazebo)\b[^>]*/>", "", text)


class Torseur:
    """A robot and its compiled functions."""

    def __init__(self, name: str, text: str, folder: Path, free: bool) -> None:
        path = folder / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        mechanism = read_robot(path, base="floating" if free else "fixed").mechanism
        self.equations = ts.derive(replace(mechanism, loads=(), name=name), formalism="recursive")
        self.free = free
        links = self.equations.tree.links
        self.joints = [link.joint.name for link in (links[1:] if free else links)]
        self.functions: dict[str, Callable[..., dict[str, np.ndarray]]] = {}
        self.refused = ""
        for label, request in REQUESTS.items():
            try:
                (program,) = programs_of(self.equations, [request])
                self.functions[label] = compile_program(program, "c")
            except TorseurError as problem:
                self.refused = str(problem).splitlines()[0]

    def values(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Values:
        found = {}
        for label, kernel in self.functions.items():
            given = {"q": q, "v": v, "vdot": a, "tau": a}
            names = [group.name for group in kernel.program.inputs]
            results = kernel(**{name: given[name] for name in names}).values()
            found[label] = [np.atleast_2d(r.T).T for r in results]
        return found


class Pinocchio:
    """The same robot in Pinocchio."""

    def __init__(self, text: str, joints: list[str], free: bool) -> None:
        import pinocchio

        self.pin, self.free = pinocchio, free
        root = [pinocchio.JointModelFreeFlyer()] if free else []
        self.model = pinocchio.buildModelFromXML(text, *root)
        self.data = self.model.createData()
        self.ids = [self.model.getJointId(name) for name in joints]
        assert all(i < self.model.njoints for i in self.ids) and len(self.ids) + 1 + free == self.model.njoints
        self.order = [*range(6 * free), *(self.model.idx_vs[i] for i in self.ids)]

    def _coordinates(self, q: np.ndarray) -> np.ndarray:
        found = self.pin.neutral(self.model)
        if self.free:
            found[:7] = q[[0, 1, 2, 4, 5, 6, 3]]
        for i, angle in zip(self.ids, q[7:] if self.free else q, strict=True):
            start, size = self.model.idx_qs[i], self.model.nqs[i]
            found[start : start + size] = angle if size == 1 else (np.cos(angle), np.sin(angle))
        return found

    def values(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Iterable[Values]:
        """What the functions give, in both conventions where they have them."""
        place, speeds, third = self._coordinates(q), np.empty(self.model.nv), np.empty(self.model.nv)
        speeds[self.order], third[self.order] = v, a
        pin, model, data, both = self.pin, self.model, self.data, np.ix_(self.order, self.order)
        for way in (pin.Convention.LOCAL, pin.Convention.WORLD):
            found = {"inverse dynamics": [pin.rnea(model, data, place, speeds, third)[self.order, None]]}
            found["forward dynamics"] = [pin.aba(model, data, place, speeds, third, way)[self.order, None]]
            M = pin.crba(model, data, place, way).copy()
            found["mass matrix"] = [(np.triu(M) + np.triu(M, 1).T)[both]]
            parts = pin.computeRNEADerivatives(model, data, place, speeds, third)
            found["d inverse dynamics"] = [np.array(part)[both] for part in parts[:2]]
            parts = pin.computeABADerivatives(model, data, place, speeds, third)
            full = np.triu(parts[2]) + np.triu(parts[2], 1).T
            found["d forward dynamics"] = [np.array(part)[both] for part in (*parts[:2], full)]
            yield found


def error(found: list[np.ndarray], exact: list[np.ndarray]) -> float:
    """The largest error, relative to the largest entry of each matrix."""
    pairs = zip(found, exact, strict=True)
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) for a, b in pairs)


def random_states(count: int, robot: Torseur) -> list[tuple[np.ndarray, ...]]:
    random = np.random.default_rng(5)
    layout, n, states = robot.equations.layout, len(robot.equations.layout.speeds), []
    for _ in range(count):
        q = random.uniform(-3, 3, len(layout.coordinates))
        if robot.free:
            q[3:7] /= np.linalg.norm(q[3:7])
        states.append((q, random.uniform(-1, 1, n), random.uniform(-1, 1, n)))
    return states


def measure(name: str, path: Path, folder: Path, count: int) -> Line:
    text = plain_text(path)
    free = not any(word in name for word in STANDING)
    robot = Torseur(name, text, folder, free)
    line = Line(name, len(robot.equations.layout.speeds), note=robot.refused)
    exact = ExactRobot(text, robot.joints, free)
    try:
        peer = Pinocchio(text, robot.joints, free)
    except ImportError:
        peer = None
        line.note = "Pinocchio is not installed"
    for q, v, a in random_states(count, robot):
        true = exact_values(exact, q, v, a)
        own = robot.values(q, v, a)
        others = list(peer.values(q, v, a)) if peer is not None else []
        for label in (label for label in REQUESTS if label in true and label in own):
            theirs = min((error(other[label], true[label]) for other in others), default=float("nan"))
            before = line.errors.get(label, (0.0, 0.0))
            line.errors[label] = (max(before[0], error(own[label], true[label])), max(before[1], theirs))
    return line


def measure_library(name: str, count: int) -> Line | None:
    """A mechanism of the library; None if it has none of the functions."""
    equations = ts.derive(library.load(name))
    line = Line(f"library:{name}", len(equations.layout.speeds))
    for label, request in REQUESTS.items():
        try:
            (program,) = programs_of(equations, [request])
        except TorseurError:  # loops and constraints tie its speeds
            continue
        kernel = compile_program(program, "c", [g.name for g in program.inputs if g.name == "p"])
        wrong = max(_own_error(kernel, _random_values(equations, program, k)) for k in range(count))
        line.errors[label] = (wrong, float("nan"))
    return line if line.errors else None


def _random_values(equations: ts.Equations, program: Program, seed: int) -> dict[str, np.ndarray]:
    """A random state, and the parameters that the description gives."""
    random = np.random.default_rng(seed)
    found = {group.name: random.uniform(-1, 1, len(group)) for group in program.inputs}
    for link in equations.tree.links:
        if link.symbols.quaternion:
            end = link.q.stop
            found["q"][end - 4 : end] /= np.linalg.norm(found["q"][end - 4 : end])
    if "p" in found:
        known = list(known_values(equations, {}).values())
        others = random.uniform(1, 2, len(known))
        found["p"] = np.array([x if v is None else v for x, v in zip(others, known, strict=True)])
    return found


def _own_error(kernel: Kernel, values: dict[str, np.ndarray]) -> float:
    with mpmath.workdps(50):
        exact = kernel.program.evaluate({name: [mpmath.mpf(float(x)) for x in v] for name, v in values.items()})
    found = kernel(**values)
    return error([r.ravel() for r in found.values()], [np.array([float(x) for x in exact[name]]) for name in found])


def table(lines: list[Line]) -> str:
    head = ["robot", "speeds", *REQUESTS, ""]
    text = ["# Errors of generated code beside Pinocchio's", "", *(__doc__ or "").split("\n\n")[2:3], ""]
    text += [
        "In each cell torseur's error, then Pinocchio's.",
        "",
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
    ]
    text += [f"| {' | '.join(line.cells)} |" for line in lines]
    pairs = [pair for line in lines for pair in line.errors.values() if pair[1] == pair[1]]
    better, largest = sum(own <= other for own, other in pairs), [max(errors) for errors in zip(*pairs, strict=True)]
    text += [
        "",
        f"Of {len(pairs)} errors beside Pinocchio's, torseur's is the smaller one in {better}; the largest are",
    ]
    text += [" and ".join(f"{e:.0e}" for e in largest) + "."]
    worse = [f"{line.name}: {', '.join(line.worse)}" for line in lines if line.worse]
    text += [f"Above {NOISE:.0e} and more than three times Pinocchio's: {'; '.join(worse) or 'none'}.", ""]
    return "\n".join([*text, (__doc__ or "").split("\n\n")[-1].strip(), ""])


def main(arguments: list[str] | None = None) -> list[Line]:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--short", action="store_true", help="the robots of the tests only")
    parser.add_argument("--states", type=int, default=2, help="random states per robot")
    parser.add_argument("--robots", nargs="*", default=[], help="only robots with one of these words in their names")
    parser.add_argument("--files", nargs="*", type=Path, default=[], help="more robot files")
    parser.add_argument("--out", type=Path, default=None, help="where the table goes")
    options = parser.parse_args(arguments)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in [*robot_files(), *((path.stem, path) for path in options.files)]:
            own = path.is_relative_to(OWN)
            if (options.short and not own) or (options.robots and not any(word in name for word in options.robots)):
                continue
            begin = time.perf_counter()
            lines.append(measure(name, path, Path(folder), options.states))
            print(" | ".join(lines[-1].cells), f"{time.perf_counter() - begin:.1f} s", flush=True)
        for entry in library.entries() if not options.short and not options.robots else ():
            line = measure_library(entry.name, options.states)
            lines += [line] if line is not None else []
            print(" | ".join(lines[-1].cells), flush=True)
    out = options.out or (HERE / "results" / "accuracy.md" if not options.short and not options.robots else None)
    if out is not None:
        out.write_text(table(lines), encoding="utf-8")
        print(f"written: {out}")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
