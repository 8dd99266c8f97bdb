"""How long readable equations take: the scalar level of arms, and a certified simplification.

    python benchmarks/bench_readable.py

Each text is checked before it is timed: it has one equation per speed, and the certificate holds at fresh states. Times
are the best of three in one process, without the start of Python (about 0.4 s) and without a first import of SymPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torseur as ts
from torseur.derivation.equations.simplification import box_of, simplify
from torseur.description import library
from torseur.presentation.levels.levels import size_note, statements
from torseur.presentation.levels.write_equations import write_statements

DEPLOYED = {"angles": (-0.1, 0.1), "angular_speeds": (-0.05, 0.05), "angular_accelerations": (-0.02, 0.02),
            "lengths": (-1, 1), "velocities": (-0.1, 0.1), "accelerations": (-0.05, 0.05), "alpha": (0.0, 0.2),
            "d": (1.3, 1.5)}  # fmt: skip


def best(job: Callable[[], object], times: int = 3) -> float:
    """The least of several times, in seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        found.append(time.perf_counter() - start)
    return min(found)


def scalar_level(name: str) -> str:
    """The text of the scalar level, derived afresh."""
    equations = ts.derive(library.load(name))
    return write_statements(equations, statements(equations, "scalar"), "text")


def beside_sympy(name: str, formalism: str) -> None:
    """Length and time beside SymPy's simplify of the same residuals, multiplied out by nobody."""
    import sympy

    from torseur.algebra.graph import to_sympy

    equations = ts.derive(library.load(name), formalism)
    raw = to_sympy(list(equations.residual))
    start = time.perf_counter()
    shortest = [min((sympy.simplify(row), sympy.trigsimp(row)), key=sympy.count_ops) for row in raw]
    theirs = time.perf_counter() - start
    form = ts.derive(library.load(name), formalism).sympy()
    ours = best(lambda: ts.derive(library.load(name), formalism).sympy())
    # Derivatives count as operations in SymPy, and as symbols in what it was given.
    moving = [*form.accelerations, *form.speeds, *form.coordinates]
    rows = [row.subs([(one, sympy.Dummy()) for one in moving]) for row in form.residuals]
    lengths = [sum(int(sympy.count_ops(row)) for row in listed) for listed in (rows, shortest)]
    assert lengths[0] <= lengths[1], f"{name}: {lengths[0]} operations, SymPy {lengths[1]}"
    ratio = f"{theirs / ours:5.0f} times as long"
    print(f"{name:20} {formalism:12} {lengths[0]:4} operations in {ours:6.3f} s, SymPy {lengths[1]:4}, {ratio}")


def main() -> None:
    for name in ("double_pendulum", "cart_pendulum", "spinning_top"):
        for formalism in ("recursive", "lagrange"):
            beside_sympy(name, formalism)
    for name in ("double_pendulum", "puma560", "pendulum_chain?n=7", "antenna_satellite"):
        text = scalar_level(name)
        assert sum(line.startswith("0 = ") for line in text.splitlines()) == len(
            ts.derive(library.load(name)).layout.speeds
        )
        note = size_note(statements(ts.derive(library.load(name)), "scalar")) or "multiplied out"
        print(f"{name:20} {best(lambda n=name: scalar_level(n)):6.2f} s  {len(text):7} characters  {note}")
    equations = ts.derive(library.load("antenna_satellite"))
    box = box_of(equations, DEPLOYED)
    found = simplify(equations, box, 0.01)
    assert all(e <= b for e, b in zip(found.errors(box.samples(2000, 9)), found.certificate.bounds, strict=True))
    seconds = best(lambda: simplify(equations, box, 0.01))
    print(f"simplify antenna     {seconds:6.2f} s  {len(found.dropped)} of {len(found.pieces)} terms dropped")


if __name__ == "__main__":
    main()
