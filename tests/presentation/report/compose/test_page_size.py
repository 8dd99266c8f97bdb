"""Cards share what a page can hold, and say what they leave out."""

import pytest

from torseur.presentation.report.compose.equation_cards import fair_share
from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Term
from torseur.presentation.typesetting.formula import Formula


def line(length: int) -> Equation:
    name = Formula("<mi>a</mi>", "a", "a")
    return Equation(name, (Term(Formula(f"<mi>{'b' * length}</mi>", "b", "b")),), title=f"Step {length}")


@pytest.mark.parametrize(
    ("sizes", "total", "share"),
    [([10, 20, 30], 100, 30), ([10, 20, 90], 60, 30), ([50, 50], 40, 20), ([], 10, 0), ([5, 100, 100], 105, 50)],
)
def test_large_cards_share_what_small_ones_leave(sizes, total, share):
    """Oracle: the definition: shares add up to the total wherever not everything fits."""
    assert fair_share(sizes, total) == share
    assert sum(min(size, share) for size in sizes) == min(sum(sizes), total)


def test_the_longest_lines_give_way_and_the_card_says_which_command_prints_them():
    card = EquationBlock("Steps", "", "In order.", equations=(line(100), line(9000), line(200)), command="torseur x")
    cut = card.within(3000)
    assert [one.title for one in cut.equations] == ["Step 100", "Step 9000", "Step 200"]
    assert [one.terms[0].formula.text for one in cut.equations] == ["b", "(9 kB)", "b"]
    assert cut.introduction == "In order. 1 line too long for a page is left out; `torseur x` prints all."
    assert cut.markup < 3000 and card.within(100_000) is card


def test_a_left_side_as_long_as_a_right_one_gives_way_too():
    long = Formula("<mi>c</mi>", "c" * 5000, "c")
    (cut,) = EquationBlock("Steps", equations=(Equation(long, ()),)).within(1000).equations
    assert cut.left.text == "…"
