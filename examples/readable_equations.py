"""Equations for people: few terms, and each with the body it comes from."""

import torseur as ts
from torseur import library
from torseur.equations.terms.origins import Shares
from torseur.report.reading.plain_text import plain
from torseur.report.reading.read_graph import readable

equations = ts.derive(library.load("cart_pendulum"))
for name, row in zip(equations.layout.speed_names, equations.residual, strict=True):
    print(f"along {name}: 0 = {plain(readable(row))}")

for share in Shares(equations).all:
    print(f"{share.sentence:45} {[plain(readable(row)) for row in share.rows]}")
