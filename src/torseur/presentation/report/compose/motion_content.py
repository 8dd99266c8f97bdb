"""What a report says of a motion: its curves, the freedoms that constraints leave along it, and what is verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torseur.algebra.graph import Expr, as_expr, directional_derivative, live_nodes
from torseur.computation.simulation import Kind, Trajectory
from torseur.derivation.equations import Equations
from torseur.derivation.tree import Tree
from torseur.description.mechanism import TIME
from torseur.errors import counted
from torseur.presentation.report.compose.term_values import Samples
from torseur.presentation.report.page.report_content import Check, CrossPlot, Curve, Fact, Plot
from torseur.presentation.typesetting.formula import formula
from torseur.presentation.typesetting.read_graph import read_name

TITLES = {
    "rad": "Angles",
    "m": "Displacements",
    "rad/s": "Angular speeds",
    "m/s": "Speeds",
    "1": "Quaternion components",
}
ENERGIES = {"kinetic_energy": "kinetic", "potential_energy": "potential", "energy": "total"}
INDEPENDENT = 1e-8  # singular values below this part of the largest count as zero
LARGEST_MATRIX = 40
DRIFT, BALANCE = 1e-5, 1e-7  # relative errors above which a check fails
ROUNDING = 1e-13  # of a sum, relative to the sum of the absolute values of its terms
HELD = 1e-7  # m, rad and their rates: errors of constraints above which a check fails


def plots_of(tree: Tree, trajectory: Trajectory, asked: Sequence[str] = ()) -> tuple[Plot, ...]:
    """What somebody asked for and what the mechanism measures, then coordinates, speeds and energies."""
    names = dict.fromkeys([*asked, *(measure.name for measure in tree.mechanism.measures)])
    return (
        *(_quantities(trajectory, list(names)) if names else ()),
        *_states(tree, trajectory, speeds=False),
        *_states(tree, trajectory, speeds=True),
        _energies(trajectory),
    )


def _quantities(trajectory: Trajectory, names: Sequence[str]) -> list[Plot]:
    """A plot per unit."""
    times = np.asarray(trajectory.time)
    return [Plot("Quantities", unit, times, curves) for unit, curves in _by_unit(trajectory, names).items()]


def crossplots_of(trajectory: Trajectory, asked: Sequence[str], over: str) -> tuple[CrossPlot, ...]:
    """What was asked for over another quantity, a plot per unit; all coordinates where nothing was."""
    if not over:
        return ()
    units = {column.name: column.quantity.unit for column in trajectory.columns}
    names = [name for name in asked if name != over]
    names = names or [c.name for c in trajectory.columns if c.kind is Kind.COORDINATE and c.name != over]
    places = np.asarray(trajectory[over])
    by_unit = _by_unit(trajectory, names)
    return tuple(CrossPlot(over, _unit_text(units[over]), places, unit, curves) for unit, curves in by_unit.items())


def _by_unit(trajectory: Trajectory, names: Sequence[str]) -> dict[str, tuple[Curve, ...]]:
    units = {column.name: _unit_text(column.quantity.unit) for column in trajectory.columns}
    by_unit: dict[str, tuple[Curve, ...]] = {}
    for name in names:
        by_unit[units[name]] = (*by_unit.get(units[name], ()), Curve(name, np.asarray(trajectory[name])))
    return by_unit


def _unit_text(unit: str) -> str:
    return "" if unit == "1" else unit


def _states(tree: Tree, trajectory: Trajectory, speeds: bool) -> list[Plot]:
    by_unit: dict[str, list[Curve]] = {}
    for link in tree.links:
        for symbol in link.symbols.speeds if speeds else link.symbols.coordinates:
            name = str(symbol.name)
            curves = by_unit.setdefault(symbol.data.unit, [])
            # A body has one colour, so that only its first curve in a plot can have it.
            body = None if any(curve.body == link.name for curve in curves) else link.name
            curves.append(Curve(name, np.asarray(trajectory[name]), formula(read_name(name)), body))
    times = np.asarray(trajectory.time)
    return [
        Plot(TITLES.get(unit, "Speeds" if speeds else "Coordinates"), "" if unit == "1" else unit, times, tuple(curves))
        for unit, curves in by_unit.items()
    ]


def _energies(trajectory: Trajectory) -> Plot:
    curves = [Curve(label, np.asarray(trajectory[name]), dashed=name == "energy") for name, label in ENERGIES.items()]
    return Plot("Energy", "J", np.asarray(trajectory.time), tuple(curves))


def mobility_facts(equations: Equations, samples: Samples) -> list[Fact]:
    """Rank of the constraint matrix and what it leaves, least and most over the samples."""
    n, m = len(equations.layout.speeds), len(equations.constraints)
    rows = [entry for constraint in equations.constraints for entry in constraint.row]
    # Loops that hold whatever the coordinates, as coaxial hinges, leave no row.
    matrices = np.array(samples.values(rows)).reshape(m, n, samples.count).transpose(2, 0, 1)
    sizes = np.linalg.svd(matrices, compute_uv=False)
    # Relative to the largest singular value of each configuration, and never to zero.
    ranks = np.sum(sizes > INDEPENDENT * np.maximum(sizes[:, :1], 1e-300), axis=1)
    low, high = int(ranks.min()), int(ranks.max())
    shown = str(low) if low == high else f"{low} to {high}"
    left = str(n - low) if low == high else f"{n - high} to {n - low}"
    return [
        Fact("independent constraints", shown, f"rank of {counted(m, 'equation')} along the motion"),
        Fact("degree of freedom", left, "at the configurations of the motion"),
    ]


def checks_of(equations: Equations, samples: Samples, trajectory: Trajectory) -> Iterator[Check]:
    """Energy, power, the equations themselves, and the mass matrix at every sample."""
    # Forces of contact and friction are no part of these equations, which hold between their switches.
    if not equations.mechanism.contacts:
        yield from _energy(equations, samples, trajectory)
        yield from _power(equations, samples)
        yield _residual(equations, samples)
    yield from _constraints(equations, samples)
    yield from _mass_matrix(equations, samples)


def _vanishes(error: float, allowed: float, samples: Samples, sums: Sequence[Expr]) -> bool:
    """Whether an error is within what is allowed, or within the rounding of the sums it is the difference of.

    At rest the sums vanish and nothing is allowed, while their terms, weights and springs in balance, are as large as
    ever: what is left of them is rounding, measured by the sums of their absolute values.
    """
    if error <= allowed:
        return True
    return error <= ROUNDING * max((float(np.max(x)) for x in samples.values(_absolute_sums(sums))), default=0.0)


def _absolute_sums(sums: Sequence[Expr]) -> list[Expr]:
    """The expressions with every term of every sum positive, so that nothing cancels."""
    sizes: dict[Expr, Expr] = {}
    for node in live_nodes(sums):
        parts = [sizes[part] for part in node.args]
        match node.op:
            case "add" | "sub":
                sizes[node] = parts[0] + parts[1]
            case "mul":
                sizes[node] = parts[0] * parts[1]
            case "div":
                sizes[node] = parts[0] / abs(node.args[1])
            case "neg":
                sizes[node] = parts[0]
            case _:
                sizes[node] = abs(node)
    return [sizes[one] for one in sums]


def _energy(equations: Equations, samples: Samples, trajectory: Trajectory) -> Iterator[Check]:
    """Constant energy, where nothing adds or takes any."""
    if not (equations.power.is_zero and equations.driving_power.is_zero):
        return
    energy, kinetic = trajectory["energy"], trajectory["kinetic_energy"]
    drift, scale = float(np.max(np.abs(energy - energy[0]))), float(np.max(np.abs(kinetic)))
    title = f"Energy: kinetic plus potential is constant within {drift:.1e} J"
    sums = [equations.kinetic_energy + equations.potential_energy]
    passed = _vanishes(drift, DRIFT * scale, samples, sums)
    yield Check(passed, title, f"over {_span(trajectory)}; the kinetic energy reaches {scale:.4g} J")


def _span(trajectory: Trajectory) -> str:
    return f"{trajectory.time[-1] - trajectory.time[0]:.4g} s"


def _power(equations: Equations, samples: Samples) -> Iterator[Check]:
    """d(T + V)/dt against the power of loads and drivers, from the accelerations and multipliers of the motion."""
    layout = equations.layout
    moving = dict(zip(layout.coordinates, equations.rates, strict=True))
    moving |= dict(zip(layout.speeds, layout.accelerations, strict=True)) | {TIME: as_expr(1)}
    energy = equations.kinetic_energy + equations.potential_energy
    (rate,) = directional_derivative([energy], moving)
    gained, given = samples.values([rate, equations.power + equations.driving_power])
    # Powers of single loads may be large and cancel; the error is measured against them and not against their sum.
    terms = [f * v for f, v in zip(equations.loads, layout.speeds, strict=True)]
    scale = max(float(np.max(np.abs(x), initial=0.0)) for x in (gained, given, *samples.values(terms)))
    error = float(np.max(np.abs(gained - given)))
    size = max(scale, _rate_scale(equations, samples))
    who = "the loads" if equations.driving_power.is_zero else "loads and drivers"
    title = f"Power balance: the rate of energy equals the power of {who} within {error:.1e} W"
    passed = _vanishes(error, BALANCE * size, samples, [rate, equations.power + equations.driving_power])
    yield Check(passed, title, f"powers reach {size:.4g} W")


def _rate_scale(equations: Equations, samples: Samples) -> float:
    """The size of the powers that cancel where energy is constant, and of the kinetic energy spent in a second.

    What rolls steadily has no powers at all; the rounding of their sum is then compared with its kinetic energy.
    """
    products = [b * v for b, v in zip(equations.bias, equations.layout.speeds, strict=True)]
    values = samples.values([*products, equations.kinetic_energy])
    return max((float(np.max(np.abs(x))) for x in values), default=0.0)


def _residual(equations: Equations, samples: Samples) -> Check:
    """M v' + b - Q with the accelerations that forward dynamics gave."""
    rows = samples.values(list(equations.residual))
    sizes = samples.values([*equations.bias, *equations.loads])
    scale = max((float(np.max(np.abs(x))) for x in sizes), default=0.0)
    error = max((float(np.max(np.abs(x))) for x in rows), default=0.0)
    title = f"Equations: M v' + b - Q vanishes along the motion within {error:.1e}"
    detail = f"accelerations and matrices are derived separately; forces reach {scale:.4g}"
    passed = _vanishes(error, BALANCE * scale, samples, list(equations.residual))
    return Check(passed, title, detail)


def _constraints(equations: Equations, samples: Samples) -> Iterator[Check]:
    """Φ(q, t) = 0 and C v + drift = 0 at every sample."""
    if not equations.constraints:
        return
    closed = [constraint.residual for constraint in equations.constraints if constraint.is_holonomic]
    speeds = equations.layout.speeds
    kept = [
        sum((c * v for c, v in zip(constraint.row, speeds, strict=True)), constraint.drift)
        for constraint in equations.constraints
    ]
    gap = max((float(np.max(np.abs(x))) for x in samples.values(closed)), default=0.0)
    slip = max((float(np.max(np.abs(x))) for x in samples.values(kept)), default=0.0)
    title = f"Constraints: held within {gap:.1e} in position and {slip:.1e} in speed"
    yield Check(max(gap, slip) <= HELD, title, counted(len(equations.constraints), "equation"))


def _mass_matrix(equations: Equations, samples: Samples) -> Iterator[Check]:
    n = len(equations.layout.speeds)
    if not 0 < n <= LARGEST_MATRIX:
        return
    entries = samples.values([entry for row in equations.mass_matrix for entry in row])
    matrices = np.stack(entries, axis=-1).reshape(samples.count, n, n)
    # Scaled to ones on the diagonal, D^-1/2 M D^-1/2: masses of kilograms and inertias of gram centimetres would
    # otherwise look singular.
    scale = np.sqrt(np.abs(np.einsum("tii->ti", matrices)))
    sound = bool(np.all(scale > 0))
    least = float(np.min(np.linalg.eigvalsh(matrices)))
    scaled = matrices / (scale[:, :, None] * scale[:, None, :]) if sound else matrices
    positive = sound and bool(np.min(np.linalg.eigvalsh(scaled)) > 1e-12)
    yield Check(positive, "Mass matrix: positive definite along the motion", f"smallest eigenvalue {least:.4g}")
