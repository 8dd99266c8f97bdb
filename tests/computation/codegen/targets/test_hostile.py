"""Names of mechanisms, functions, inputs, values, tables and laws cannot carry code into generated sources."""

from __future__ import annotations

import re

import numpy as np
import pytest

from computation.codegen.targets.runners import RUNNERS, agree
from torseur.algebra.graph import Input, Program, Table, UndeterminedFunction, symbol, vector
from torseur.algebra.graph import scalar as s
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module

HOSTILE = [
    'x; system("touch injected")', "*/ int main(void) { abort(); } /*", "a\n#include <stdlib.h>\n", "q[0] = 1; //",
    "double", "%s %n", "été", "", "__import__('os').system('touch injected')", "sin", "lambda", "1abc", "a" * 300,
    "scratch", "??/", "{0}", "\\", '"', "'", "ctx", "end", "end module", "\nend subroutine\ncall execute_command_line()",
    "%{", "...", "x\r\nimport os", "x\u2028import os", "# coding: utf-7 +AAo-import os+AAo-", "packed", "where", "T",
    "Inverse", "inverse", "INVERSE", "dp", "merge", "real_sqrt", "lanes", "pi", "i", "M_PI", "NAN", "std", "spline_f",
    "prepared", "parameters", "q", "p", "#{", "`id`", "$(id)", "]]>", "&amp;<x>", "../../escape", "con", "\0", "\x1b[31m",
]  # fmt: skip
TELLING = r"system|abort|stdlib|execute_command_line|import os|__import__|escape|utf-7"


def hostile_module():
    """Every kind of name is hostile; the formulas use tables, choices and functions left open."""
    states = [symbol(name, unit=name, meaning=name) for name in HOSTILE]
    parameters = [symbol(f"{name} ", unit=name, meaning=name) for name in HOSTILE]
    tables = [Table(name, (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 2.0), unit=name) for name in HOSTILE[:8]]
    laws = [UndeterminedFunction(name, 1, name, name)(states[0]) for name in HOSTILE[:8]]
    entries = [x * x + p for x, p in zip(states, parameters, strict=True)]
    entries += [table(x) for table, x in zip(tables, states, strict=False)]
    labels = dict(zip(entries, [*HOSTILE, *(f"{table.name}!" for table in tables)], strict=True))
    entries += [s.where(x < law, s.sqrt(abs(x)), law) for law, x in zip(laws, states, strict=False)]
    groups = [Input(HOSTILE[0], tuple(states)), Input(HOSTILE[2], tuple(laws)), Input(HOSTILE[1], tuple(parameters))]
    programs = [
        Program(name, tuple(groups), (vector(name, entries), vector("y", entries[:2])), labels=labels)
        for name in HOSTILE[:5]
    ]
    return Module(HOSTILE[1], tuple(programs), groups[2], tuple(0.5 for _ in HOSTILE))


@pytest.mark.parametrize("target", RUNNERS)
def test_the_numbers_are_right_and_nothing_else_happens(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = hostile_module()
    random = np.random.default_rng(0)
    groups = module.programs[0].inputs
    values = {group.name: random.uniform(0.1, 2.9, len(group)).tolist() for group in groups}
    agree(module, target, tmp_path, [values], 1e-13)
    assert not list(tmp_path.rglob("injected*"))


@pytest.mark.parametrize("target", RUNNERS)
def test_hostile_text_stays_in_comments(target):
    module = hostile_module()
    for name, text in generate_files(module, target).items():
        assert re.fullmatch(r"(\+\w+/)?\w+\.\w+", name)
        assert text.isascii() and not re.search(r"[^\n\x20-\x7e]", text)
        code = re.sub(r"/\*.*?\*/|(//|#|%|!) .*", "", text)
        words = re.sub(r"\w+", lambda m: "" if len(m[0]) > 12 else m[0], code)
        assert not re.search(rf"({TELLING})\s*\(", words), name


def test_no_encoding_can_be_declared():
    """The first two lines of a Python source decide how it is read."""
    for target in ("python", "jax"):
        (text,) = generate_files(hostile_module(), target).values()
        assert not re.search(r"coding[:=]", "\n".join(text.splitlines()[:2]))


@pytest.mark.parametrize("target", RUNNERS)
def test_names_that_are_good_survive(target):
    angle, mass = symbol("crank_angle", "rad"), symbol("m1", "kg", "mass of the crank")
    reach = angle * mass
    inputs = (Input("q", (angle,)), Input("p", (mass,)))
    program = Program("torque", inputs, (vector("y", [reach]),), labels={reach: "reach"})
    text = "\n".join(generate_files(Module("crank", (program,), program.inputs[1], (2.5,)), target).values())
    for word in ("crank_angle", "reach", "torque", "in rad", "m1 = 2.5 kg, mass of the crank", "1 multiplication"):
        assert word in text
