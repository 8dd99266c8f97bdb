"""Limbs that are alike, computed side by side: the same values as one by one, whatever the compiler has."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import torseur as ts
from codegen.targets.runners import run, write
from robots import robot
from torseur.codegen import compile_program
from torseur.codegen.generation import generate_files
from torseur.codegen.module import Module
from torseur.dynamics.limbs import folded
from torseur.equations.abreast import folded_of
from torseur.equations.requests import programs_of
from torseur.graph.abreast import put_abreast, widths
from torseur.readers import read_robot

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
    return found


def check(program) -> None:
    """Compiled C against the graph's own evaluation of the plain form."""
    values = values_for(program, 7)
    exact = program.evaluate({name: list(map(float, value)) for name, value in values.items()})
    kernel = compile_program(program, "c")
    for name, found in kernel(**values).items():
        wanted = np.array(exact[name], dtype=float)
        assert np.abs(found.ravel() - wanted).max() < 2e-13 * max(1.0, np.abs(wanted).max())


def is_abreast(program) -> bool:
    return (program.solved.program if program.solved is not None else program).abreast is not None


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_quadruped_gives_the_same_values(request_):
    (program,) = programs_of(ts.derive(robot("solo12"), formalism="recursive"), [request_])
    assert is_abreast(program)
    check(program)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("legs", [2, 3, 5, 8, 9])
def test_any_number_of_legs(legs, tmp_path):
    equations = equations_of(insect(legs, "prismatic" if legs == 3 else "revolute"), tmp_path)
    for program in programs_of(equations, ["forward_dynamics", "inverse_dynamics/displacement,v"]):
        assert is_abreast(program)
        check(program)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_loads_of_each_limb_are_its_own(tmp_path):
    equations = equations_of(insect(3, damping=0.7), tmp_path)
    assert any(not load.is_zero for load in equations.loads)
    for program in programs_of(equations, REQUESTS):
        assert is_abreast(program)
        check(program)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_hostile_names_stay_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad = "*/ ; system(&quot;touch injected&quot;); /* while"
    text = insect(2).replace('"hip', f'"{bad} hip').replace('"upper', f'"{bad} upper')
    for program in programs_of(equations_of(text, tmp_path), ["inverse_dynamics", "forward_dynamics/v,tau"]):
        assert is_abreast(program)
        check(program)
        assert "system(" not in compile_program(program, "c").source
    assert not list(tmp_path.rglob("injected*"))


def test_a_leg_that_moves_in_another_way_is_left_alone(tmp_path):
    limbs = folded_of(equations_of(insect(3, odd=True), tmp_path))
    assert limbs is not None
    assert [link.alike for link in limbs.tree.links] == [1, 2, 1, 1, 1]


def test_two_legs_that_differ_in_kind_are_not_folded(tmp_path):
    assert folded_of(equations_of(insect(2, odd=True), tmp_path)) is None


def test_an_arm_has_no_limbs():
    assert folded(ts.derive(robot("ur5")).tree) is None


def test_constants_are_computed_lane_by_lane():
    from torseur.graph import as_expr, symbol
    from torseur.graph.abreast import lane, packed, total

    x, c, d = symbol("x"), symbol("c"), symbol("d")
    leaves = {c: packed([as_expr(2), as_expr(3)]), d: packed([as_expr(5), as_expr(-7)])}
    sums = put_abreast([total(c * d, 2), lane(c + d, 1), total(c * x, 2), lane(x + 1, 0), total(x, 2)], leaves)
    assert [str(sums[0]), str(sums[1])] == ["-11", "-4"]
    assert sums[2].op == "total" and widths(sums[2].args[0].args)[leaves[c]] == 2
    assert sums[3] is x + 1 and sums[4] is 2 * x


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang, whose headers do without __GNUC__, is not installed")
@pytest.mark.parametrize("flags", [[], ["-U__GNUC__", "-Wno-builtin-macro-redefined"], ["-march=native"]])
def test_a_generated_source_needs_no_vectors(flags, tmp_path):
    (program,) = programs_of(equations_of(insect(4), tmp_path), ["inverse_dynamics"])
    files = write(generate_files(Module("insect", (program,)), "c"), tmp_path)
    source = next(path for path in files if path.name.endswith(".c"))
    values = values_for(program, 3)
    arrays = [f"double {n}[] = {{{', '.join(map(repr, map(float, v)))}}};" for n, v in values.items()]
    call = f"insect_inverse_dynamics({', '.join(values)}, tau);"
    text = f'#include "insect.h"\n#include <stdio.h>\nint main(void) {{ {" ".join(arrays)} double tau[{len(program.outputs[0])}]; {call} for (int i = 0; i < {len(program.outputs[0])}; i++) printf("%.17g\\n", tau[i]); return 0; }}'
    (tmp_path / "main.c").write_text(text)
    strict = ["-std=c99", "-O1", "-Wall", "-Werror", "-Wno-unused-function"]
    run("clang", *strict, *flags, source.name, "main.c", "-o", "main", "-lm", cwd=tmp_path)
    found = np.array([float(line) for line in run("./main", cwd=tmp_path).splitlines()])
    exact = program.evaluate({name: list(map(float, value)) for name, value in values.items()})["tau"]
    assert np.abs(found - np.array(exact, dtype=float)).max() < 1e-12
