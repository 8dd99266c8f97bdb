"""Equations for people: few terms, and each with the body it comes from."""

import torseur as ts
from torseur import library

equations = ts.derive(library.load("cart_pendulum"))
for name, row in zip(equations.layout.speed_names, equations.residual, strict=True):
    print(f"along {name}: 0 = {ts.readable_text(row)}")

for share in ts.Shares(equations).all:
    print(f"{share.sentence:45} {[ts.readable_text(row) for row in share.rows]}")
