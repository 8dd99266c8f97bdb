"""Equations for code in single precision: no digits are lost where masses differ much, and none computed for nothing.

Many robot files hold right angles as single precision has them, 1.5707963705 instead of 1.5707963268. No float32 tells
these apart; but taken at its word the angle's cosine is -4e-8 instead of zero, and every product with it is computed.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.equations.equations import Equations
from torseur.tree import build_tree
from torseur.tree.quarter_turns import SINGLE, with_quarter_turns


def in_single_precision(equations: Equations) -> Equations:
    """The equations as float32 is best given them; angles within a unit in the last place of a right one are right."""
    mechanism = with_quarter_turns(equations.mechanism, SINGLE)
    formulation = equations.formulation
    if mechanism is not equations.mechanism:
        formulation = replace(formulation, tree=build_tree(mechanism))
    return replace(equations, formulation=formulation, few_digits=True)
