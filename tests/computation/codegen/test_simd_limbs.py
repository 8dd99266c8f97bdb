"""Limbs that are alike, computed side by side: the same values as one by one, whatever the compiler has."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import WITHOUT_VECTORS, run, tool, write
from robots import robot
from torseur.algebra.graph import symbol
from torseur.algebra.graph.simd_batching import substitute_packed, widths
from torseur.computation.codegen import bake, compile_program
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.functions.batched_limbs import folded_of
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.generate_sources import generate
from torseur.derivation.tree.transformations.limb_batching import batch_limbs
from torseur.description.mechanism import Body
from torseur.description.readers import read_robot

REQUESTS = [
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "mass_matrix_triangle",
    "inverse_dynamics/displacement,v,vdot",
    "forward_dynamics/displacement,v,tau",
]


def insect(legs: int, joints: str = "revolute", odd: bool = False, damping: float = 0.0) -> str:
    """A floating body on legs of two links that differ in numbers; an odd one has a leg that bends another way."""
    parts = ['<robot name="insect"><link name="body">' + inertial(3.0, (0.01, 0.02, 0.03)) + "</link>"]
    for k in range(legs):
        side = (-1) ** k
        axis = "0 1 0" if odd and k == legs - 1 else "1 0 0"
        dynamics = f'<dynamics damping="{damping * (k + 1)}"/>' if damping else ""
        parts.append(f'<link name="upper{k}">{inertial(0.4 + 0.1 * k, (0.02, 0.1 * side, -0.2))}</link>')
        parts.append(f'<link name="lower{k}">{inertial(0.2 + 0.05 * k, (0.0, 0.01 * k, -0.15))}</link>')
        parts.append(
            f'<joint name="hip{k}" type="continuous"><parent link="body"/><child link="upper{k}"/>'
            f'<origin xyz="{0.1 * k} {0.3 * side} 0" rpy="0 0 {0.3 * side}"/><axis xyz="{axis}"/>{dynamics}</joint>'
        )
        limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
        parts.append(
            f'<joint name="knee{k}" type="{joints}"><parent link="upper{k}"/><child link="lower{k}"/>'
            f'<origin xyz="0 {0.02 * side} -0.3"/><axis xyz="0 1 0"/>{limit}</joint>'
        )
    return "".join([*parts, "</robot>"])


def inertial(mass: float, centre: tuple[float, ...]) -> str:
    place = " ".join(str(x) for x in centre)
    return (
        f'<inertial><origin xyz="{place}"/><mass value="{mass}"/>'
        f'<inertia ixx="{0.1 * mass}" iyy="{0.12 * mass}" izz="{0.09 * mass}" ixy="0.001" ixz="0.002" iyz="-0.003"/></inertial>'
    )


def equations_of(text: str, folder) -> ts.Equations:
    path = folder / "insect.urdf"
    path.write_text(text)
    return ts.derive(read_robot(path, base="floating").mechanism, formalism="recursive")


def values_for(program, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    found = {group.name: random.uniform(-1, 1, len(group)) for group in program.inputs}
    found["q"][3:7] /= np.linalg.norm(found["q"][3:7])
    if "p" in found:  # masses and moments of inertia of bodies, positive
        bodies = [
            k for k, node in enumerate(program.input("p").nodes) if node.name.endswith(("mass", "xx", "yy", "zz"))
        ]
        found["p"][bodies] += 3
    return found


def check(program, backend: str = "c", parameters: list[str] | None = None) -> None:
    """Compiled code against the graph's own evaluation of the plain form."""
    values = values_for(program, 7)
    exact = program.evaluate({name: list(map(float, value)) for name, value in values.items()})
    kernel = compile_program(program, backend, parameters or ())
    for name, found in kernel(**values).items():
        wanted = np.array(exact[name], dtype=float)
        assert np.abs(found.ravel() - wanted).max() < 2e-13 * max(1.0, np.abs(wanted).max())


def has_batched_limbs(program) -> bool:
    return (program.solved.program if program.solved is not None else program).simd is not None


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_quadruped_gives_the_same_values(request_):
    (program,) = programs_of(ts.derive(robot("solo12"), formalism="recursive"), [request_])
    assert has_batched_limbs(program)
    check(program)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("legs", [2, 3, 5, 8, 9])
def test_any_number_of_legs(legs, tmp_path):
    equations = equations_of(insect(legs, "prismatic" if legs == 3 else "revolute"), tmp_path)
    for program in programs_of(equations, ["forward_dynamics", "inverse_dynamics/displacement,v"]):
        assert has_batched_limbs(program)
        check(program)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_loads_of_each_limb_are_its_own(tmp_path):
    equations = equations_of(insect(3, damping=0.7), tmp_path)
    assert any(not load.is_zero for load in equations.loads)
    for program in programs_of(equations, REQUESTS):
        assert has_batched_limbs(program)
        check(program)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_hostile_names_stay_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad = "*/ ; system(&quot;touch injected&quot;); /* while"
    text = insect(2).replace('"hip', f'"{bad} hip').replace('"upper', f'"{bad} upper')
    for program in programs_of(equations_of(text, tmp_path), ["inverse_dynamics", "forward_dynamics/v,tau"]):
        assert has_batched_limbs(program)
        check(program)
        assert "system(" not in compile_program(program, "c").source
    assert not list(tmp_path.rglob("injected*"))


def with_parameters(mechanism, turned: bool = False):
    """The mechanism with parameters for inertias and for the places of its joints; turned, for their angles too."""

    def placed(joint):
        if not joint.motions or joint.name == "root":
            return joint
        where = joint.parent.placement
        offsets = tuple(symbol(f"{joint.name}.{axis}") for axis in "xyz")
        turns = (replace(turn, angle=symbol(f"{joint.name}.turn{k}")) for k, turn in enumerate(where.rotation))
        there = replace(where, position=offsets, rotation=tuple(turns) if turned else where.rotation)
        return replace(joint, parent=replace(joint.parent, placement=there))

    bodies = [Body(body.name) if body.mass is not None else body for body in mechanism.bodies]
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(map(placed, mechanism.joints)))


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> ts.Equations:
    """An insect with parameters for everything but the axes of its joints."""
    folder = tmp_path_factory.mktemp("live")
    mechanism = with_parameters(equations_of(insect(3, damping=0.7), folder).mechanism, turned=True)
    return ts.derive(mechanism, formalism="recursive")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("backend", ["c", "llvm", "python"])
@pytest.mark.parametrize("request_", ["inverse_dynamics", "forward_dynamics", "mass_matrix_triangle", *REQUESTS[-2:]])
def test_live_parameters(live, request_, backend):
    (program,) = programs_of(live, [request_])
    assert has_batched_limbs(program)
    check(program, backend, ["p"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_baked_parameters(live):
    for program in programs_of(live, ["inverse_dynamics", "forward_dynamics/v"]):
        values = values_for(program, 7)
        baked = bake(program, {"p": list(values.pop("p"))})
        assert has_batched_limbs(baked) and "p" not in [group.name for group in baked.inputs]
        check(baked)
        exact = program.evaluate({k: list(map(float, v)) for k, v in values_for(program, 7).items()})
        for name, found in compile_program(baked, "c")(**values).items():
            assert found.ravel() == pytest.approx(exact[name], rel=1e-11, abs=1e-11)


def test_what_depends_on_parameters_is_prepared(live):
    """Lanes of inertias come from the preparation; at a state, as many operations on vectors as with numbers."""
    (program,) = programs_of(live, ["inverse_dynamics"])
    prepare, per_state = program.split(["p"])
    assert not {"pack", "lane", "total"} & {node.op for node in prepare.operations}
    simd = per_state.simd
    size = widths(simd.nodes)
    given = [node for node in simd.given if node.op == "pack"]
    assert given and all(size[node] == 3 for node in given)
    # Three lanes lie in vectors of four, the last repeated.
    first = {lane.args[0]: j for j, lane in enumerate(per_state.input("prepared").nodes) if lane.op == "lane"}
    assert sorted(j % 4 for j in first.values()) == [3] * len(first)
    baked = bake(program, {"p": list(values_for(program, 7)["p"])})
    assert len(simd.operations) <= len(baked.simd.operations)


def test_targets_without_vectors(live):
    """They get neither the lanes nor their places among the prepared numbers."""
    for program in programs_of(live, ["inverse_dynamics", "forward_dynamics/v"]):
        plain = program.without_vectors
        assert has_batched_limbs(program) and not has_batched_limbs(plain) and plain == program
        sizes = [len(p.split(["p"])[0].outputs[0]) for p in (plain, program)]
        assert sizes[0] < sizes[1]


def test_shared_parameters_stay_one_number(tmp_path):
    """A mass that all legs share is one number and not a lane for each."""
    mechanism = equations_of(insect(3), tmp_path).mechanism
    mass = symbol("mass")
    bodies = [replace(body, mass=mass) if body.name.startswith("lower") else body for body in mechanism.bodies]
    equations = ts.derive(replace(mechanism, bodies=tuple(bodies)), formalism="recursive")
    (program,) = programs_of(equations, ["inverse_dynamics"])
    assert has_batched_limbs(program)
    check(program, "python", ["p"])


def test_a_leg_that_moves_in_another_way_is_left_alone(tmp_path):
    limbs = folded_of(equations_of(insect(3, odd=True), tmp_path))
    assert limbs is not None
    assert [link.copies for link in limbs.tree.links] == [1, 2, 1, 1, 1]


def test_two_legs_that_differ_in_kind_are_not_folded(tmp_path):
    assert folded_of(equations_of(insect(2, odd=True), tmp_path)) is None


def test_an_arm_has_no_limbs():
    assert batch_limbs(ts.derive(robot("ur5")).tree) is None


def test_constants_are_computed_lane_by_lane():
    from torseur.algebra.graph import as_expr
    from torseur.algebra.graph.simd_batching import lane, packed, total

    x, c, d = symbol("x"), symbol("c"), symbol("d")
    leaves = {c: packed([as_expr(2), as_expr(3)]), d: packed([as_expr(5), as_expr(-7)])}
    sums = substitute_packed([total(c * d, 2), lane(c + d, 1), total(c * x, 2), lane(x + 1, 0), total(x, 2)], leaves)
    assert [str(sums[0]), str(sums[1])] == ["-11", "-4"]
    assert sums[2].op == "total" and widths(sums[2].args[0].args)[leaves[c]] == 2
    assert sums[3] is x + 1 and sums[4] is 2 * x


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [[], WITHOUT_VECTORS, ["-march=native"]], ids=["plain", "without vectors", "native"])
@pytest.mark.parametrize(
    ("request_", "with_p"),
    [("inverse_dynamics", False), ("inverse_dynamics", True), ("forward_dynamics/displacement,v,tau", False)],
)
def test_a_generated_source_needs_no_vectors(request_, flags, compiler, with_p, tmp_path, live):
    (program,) = programs_of(live if with_p else equations_of(insect(4), tmp_path), [request_])
    module = Module("insect", (program,), program.input("p") if with_p else None)
    files = write(generate_files(module, "c"), tmp_path)
    source = next(path for path in files if path.name.endswith(".c"))
    values = values_for(program, 3)
    (tmp_path / "main.c").write_text(main_text(program, values))
    strict = ["-std=c99", "-O1", "-Wall", "-Werror", "-Wno-unused-function"]
    run(tool(compiler), *strict, *flags, source.name, "main.c", "-o", "main", "-lm", cwd=tmp_path)
    found = np.array([float(line) for line in run("./main", cwd=tmp_path).splitlines()])
    results = program.evaluate({name: list(map(float, value)) for name, value in values.items()})
    exact = np.array([x for values in results.values() for x in values], dtype=float)
    assert np.abs(found - exact).max() < 1e-12 * np.abs(exact).max()


def main_text(program, values) -> str:
    """A C program that prints what the generated function gives."""
    arrays = [f"double {n}[] = {{{', '.join(map(repr, map(float, v)))}}};" for n, v in values.items()]
    places = [f"out + {sum(len(o) for o in program.outputs[:k])}" for k in range(len(program.outputs))]
    size = sum(len(output) for output in program.outputs)
    given = ["prepared" if name == "p" else name for name in values]
    call = f"insect_{program.name}({', '.join([*given, *places])});"
    if "p" in values:
        arrays.append(f"double prepared[insect_{program.name}_prepared_size];")
        call = f"insect_{program.name}_prepare(p, prepared); {call}"
    printed = f'for (int i = 0; i < {size}; i++) printf("%.17g\\n", out[i]);'
    head = '#include "insect.h"\n#include <stdio.h>\n'
    return f"{head}int main(void) {{ {' '.join(arrays)} double out[{size}]; {call} {printed} return 0; }}\n"


@pytest.mark.slow
def test_sources_are_the_same_each_time():
    """Derived again, its nodes elsewhere in memory, a mechanism has the same source but for the time it took."""
    texts = []
    for _ in range(3):
        files = generate(ts.derive(robot("solo12")), "inverse_dynamics,forward_dynamics/q,v", "c")
        texts.append(re.sub(r"in [\d.]+ ms", "", "".join(files.values())))
    assert texts[0] == texts[1] == texts[2]
