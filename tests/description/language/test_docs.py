"""Every description in docs/language.md can be read, and written back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torseur.description.language import parse, to_text
from torseur.description.language.formulas.language_functions import FUNCTIONS
from torseur.description.language.reading.joint_kinds import JOINT_KINDS
from torseur.description.language.syntax.grammar import grammar

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```lsd\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number):
    mechanism = parse(BLOCKS[number])
    assert parse(to_text(mechanism)) == mechanism


def test_page_names_every_joint_function_and_word():
    for name in (*JOINT_KINDS, *FUNCTIONS, *grammar().keywords):
        assert re.search(rf"\b{name}\b", PAGE), name
