"""Equations for people: few terms, and each with the body it comes from."""

import torseur as ts
from torseur import library
from torseur.derivation.equations.terms.origins import Shares
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import readable_form

equations = ts.derive(library.load("cart_pendulum"))
for name, row in zip(equations.layout.speed_names, equations.residual, strict=True):
    print(f"along {name}: 0 = {plain_text(readable_form(row))}")

for share in Shares(equations).all:
    print(f"{share.sentence:45} {[plain_text(readable_form(row)) for row in share.rows]}")
