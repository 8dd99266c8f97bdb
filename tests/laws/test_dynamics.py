"""Laws of mechanics that hold for every tree, on random mechanisms with every joint and load."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import torseur.derivation.dynamics as td
from strategies import mechanisms
from torseur.algebra.graph import directional_derivative, evaluate
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import build_tree, regroup
from torseur.description.mechanism import TIME

PRECISION = 1e-9
many = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


class State:
    """A random state of a mechanism with numbers for its parameters."""

    def __init__(self, mechanism, seed):
        self.equations = derive(mechanism)
        self.symbolic = self.equations.tree
        layout = self.symbolic.layout
        self.values = {
            p.name: float(p.value) for p in mechanism.parameters if p.symbol not in self.symbolic.definitions
        }
        self.tree = self.symbolic.with_parameters(self.values)
        random = np.random.default_rng(seed)
        self.q = list(random.uniform(-1, 1, len(layout.coordinates)))
        for link in self.symbolic.links:
            if link.symbols.quaternion:
                slots = [layout.coordinates.index(x) for x in link.symbols.quaternion]
                unit = random.normal(size=4)
                for slot, value in zip(slots, unit / np.linalg.norm(unit), strict=True):
                    self.q[slot] = value
        self.v = list(random.uniform(-1, 1, len(layout.speeds)))
        self.vdot = list(random.uniform(-1, 1, len(layout.speeds)))
        self.t = 0.3

    @property
    def bindings(self):
        layout = self.symbolic.layout
        numbers = dict(zip((*layout.coordinates, *layout.speeds), (*self.q, *self.v), strict=True))
        numbers.update(zip(layout.accelerations, self.vdot, strict=True))
        numbers.update((p, self.values[p.name]) for p in layout.parameters)
        return numbers | {TIME: self.t}

    def number(self, *expressions):
        return [float(x) for x in evaluate(list(expressions), self.bindings)]


@st.composite
def states(draw, max_bodies=4, **options):
    state = State(draw(mechanisms(max_bodies=max_bodies, **options)), draw(st.integers(0, 10**6)))
    assume(state.v)
    return state


def close(a, b, precision=PRECISION):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert np.max(np.abs(a - b), initial=0) <= precision * max(1.0, np.max(np.abs(b), initial=0)), (a, b)


def well_posed(state):
    """Whether no joint moves almost nothing: else the mass matrix is singular and accelerations are undetermined."""
    matrix = np.array(td.mass_matrix(state.tree, state.q, state.t), dtype=float)
    return np.linalg.cond(matrix) < 1e6


@pytest.mark.slow
@many
@given(states())
def test_forward_undoes_inverse(state):
    assume(well_posed(state))
    tau = td.inverse_dynamics(state.tree, state.q, state.v, state.vdot, t=state.t)
    close(td.forward_dynamics(state.tree, state.q, state.v, tau, t=state.t), state.vdot, 1e-7)


@pytest.mark.slow
@many
@given(states())
def test_mass_matrix_and_bias_make_inverse_dynamics(state):
    tree, q, v, vdot, t = state.tree, state.q, state.v, state.vdot, state.t
    matrix = np.array(td.mass_matrix(tree, q, t), dtype=float)
    close(matrix, matrix.T, 1e-15)
    close(
        matrix @ vdot + np.array(td.bias(tree, q, v, t=t), dtype=float),
        td.inverse_dynamics(tree, q, v, vdot, t=t),
    )
    assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.abs(matrix).max()


@pytest.mark.slow
@many
@given(states())
def test_kinetic_energy_is_half_v_m_v(state):
    matrix = np.array(td.mass_matrix(state.tree, state.q, state.t), dtype=float)
    close(td.kinetic_energy(state.tree, state.q, state.v, state.t), 0.5 * np.array(state.v) @ matrix @ state.v)


@pytest.mark.slow
@many
@given(states())
def test_coriolis_matrix(state):
    """C v are the velocity forces, and M' - 2 C is skew."""
    tree, q, v, t = state.tree, state.q, state.v, state.t
    c = np.array(td.coriolis_matrix(tree, q, v, t), dtype=float)
    velocity_forces = np.subtract(td.bias(tree, q, v, t=t), td.gravity_forces(tree, q, t)).astype(float)
    close(c @ v, velocity_forces)
    equations = state.equations
    rates = dict(zip(equations.layout.coordinates, equations.rates, strict=True))
    flat = directional_derivative([m for row in equations.mass_matrix for m in row], rates)
    n = len(v)
    change = np.array(state.number(*flat)).reshape(n, n)
    close(change - 2 * c, -(change - 2 * c).T)


@pytest.mark.slow
@many
@given(states())
def test_energy_changes_by_the_power_of_what_has_no_potential(state):
    """d(T + V)/dt along the motion equals the power of motors, dampers and applied wrenches."""
    assume(well_posed(state))
    e = state.equations
    motion = dict(zip(e.layout.coordinates, e.rates, strict=True)) | dict(
        zip(e.layout.speeds, e.acceleration, strict=True)
    )
    (rate,) = directional_derivative([e.kinetic_energy + e.potential_energy], motion)
    measured, expected = state.number(rate, e.power)
    scale = sum(abs(x) for x in state.number(e.kinetic_energy, e.potential_energy)) + abs(expected) + 1
    assert abs(measured - expected) < 1e-7 * scale


@pytest.mark.slow
@many
@given(states(body_speeds=False))
def test_velocity_is_the_rate_of_the_pose(state):
    """In 40 digits: the pose a moment later against velocity, rotation and acceleration of the last body."""
    tree, e = state.symbolic, state.equations
    frame = tree.mechanism.bodies[-1].at((0.1, -0.2, 0.3))
    layout = tree.layout
    place = td.pose(tree, frame, layout.coordinates)
    motion = dict(zip(layout.coordinates, e.rates, strict=True)) | {TIME: 1}
    position = [0 + x for x in place.position]
    moved = directional_derivative([p if hasattr(p, "op") else e.kinetic_energy * 0 for p in position], motion)
    velocity = td.in_earth_axes(place, td.velocity(tree, frame, layout.coordinates, layout.speeds))
    close(state.number(*moved), state.number(*[v + 0 * TIME for v in velocity.linear]))
    motion |= dict(zip(layout.speeds, layout.accelerations, strict=True))
    changed = directional_derivative([v + 0 * TIME for v in velocity.linear], motion)
    acceleration = td.in_earth_axes(
        place, td.acceleration(tree, frame, layout.coordinates, layout.speeds, layout.accelerations)
    )
    close(state.number(*changed), state.number(*[a + 0 * TIME for a in acceleration.linear]))
    spun = directional_derivative([v + 0 * TIME for v in velocity.angular], motion)
    close(state.number(*spun), state.number(*[a + 0 * TIME for a in acceleration.angular]))


@pytest.mark.slow
@many
@given(states())
def test_jacobian_gives_the_velocity(state):
    tree, q, v, t = state.tree, state.q, state.v, state.t
    frame = state.symbolic.mechanism.bodies[-1].at((0.3, 0.1, -0.2))
    columns = td.jacobian(tree, frame, q, t)
    velocity = td.velocity(tree, frame, q, v, t)
    still = td.velocity(tree, frame, q, [0.0] * len(v), t)
    for part in ("angular", "linear"):
        summed = sum(
            (np.array(list(getattr(c, part)), dtype=float) * x for c, x in zip(columns, v, strict=True)),
            np.zeros(3),
        )
        expected = np.array(list(getattr(velocity, part)), dtype=float) - np.array(
            list(getattr(still, part)), dtype=float
        )
        close(summed, expected)


@pytest.mark.slow
@many
@given(states())
def test_momentum_matrix_and_regressor(state):
    tree, q, v, vdot, t = state.tree, state.q, state.v, state.vdot, state.t
    total = td.centroidal_momentum(tree, q, v, t)
    columns = np.array([[*c.moment, *c.force] for c in td.momentum_matrix(tree, q, t)], dtype=float)
    still = td.centroidal_momentum(tree, q, [0.0] * len(v), t)
    expected = np.subtract([*total.moment, *total.force], [*still.moment, *still.force]).astype(float)
    close(columns.T @ v, expected)
    rows = np.array(td.regressor(tree, q, v, vdot, t), dtype=float)
    parameters = []
    for link in tree.at(q, v, t).links:
        i = link.inertia
        m = i.matrix
        parameters += [i.mass, *i.moment, m.xx, m.xy, m.yy, m.xz, m.yz, m.zz]
    close(rows @ np.array(parameters, dtype=float), td.inverse_dynamics(tree, q, v, vdot, t=t))


@pytest.mark.slow
@many
@given(states())
def test_regrouping_changes_no_force_energy_or_acceleration(state):
    q, v, vdot, t = state.q, state.v, state.vdot, state.t
    fewer = regroup(state.symbolic).with_parameters(state.values)
    close(td.inverse_dynamics(fewer, q, v, vdot, t=t), td.inverse_dynamics(state.tree, q, v, vdot, t=t))
    close(td.mass_matrix(fewer, q, t), np.array(td.mass_matrix(state.tree, q, t), dtype=float))
    close(td.kinetic_energy(fewer, q, v, t), td.kinetic_energy(state.tree, q, v, t))


@pytest.mark.parametrize("scalar", ["mpmath", "array", "sympy", "graph"])
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(state=states(loads=False, max_bodies=2))
def test_every_scalar_gives_the_same(scalar, state):
    """The same algorithm on floats and on other scalars. SymPy, which keeps pi as it is, gets one joint."""
    assume(scalar != "sympy" or len(state.tree.links) == 1)
    expected = td.inverse_dynamics(state.tree, state.q, state.v, state.vdot, t=state.t)
    matrix = td.mass_matrix(state.tree, state.q, state.t)
    if scalar == "graph":
        layout = state.symbolic.layout
        tau = td.inverse_dynamics(state.symbolic, layout.coordinates, layout.speeds, layout.accelerations)
        close(state.number(*[x + 0 * TIME for x in tau]), expected)
        return
    lift = {"mpmath": mpmath.mpf, "array": lambda x: np.array([x, x]), "sympy": _sympy_float}[scalar]
    q, v, vdot = ([lift(x) for x in values] for values in (state.q, state.v, state.vdot))
    tree = state.symbolic.with_parameters({name: lift(value) for name, value in state.values.items()})
    tau = td.inverse_dynamics(tree, q, v, vdot, t=lift(state.t))
    other = td.mass_matrix(tree, q, lift(state.t))
    pick = (lambda x: np.asarray(x).flat[-1]) if scalar == "array" else float
    close([pick(x) for x in tau], expected)
    close([[pick(x) for x in row] for row in other], np.array(matrix, dtype=float))


def _sympy_float(x):
    import sympy

    return sympy.Float(x, 30)


def test_joint_that_moves_no_mass_is_named():
    from torseur.description.mechanism import EARTH, Mechanism, body, revolute
    from torseur.errors import MechanismError

    light = body("light", mass=0, centre=(0, 0, 0), inertia=0)
    mechanism = Mechanism("massless", bodies=[light], joints=[revolute("hinge", EARTH, light, "q")])
    with pytest.raises(MechanismError, match="joint 'hinge' moves nothing that has mass: body 'light'"):
        derive(mechanism).acceleration  # noqa: B018
    assert build_tree(mechanism).layout.coordinate_names == ["q"]
