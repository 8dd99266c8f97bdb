"""Which parameter of a four-bar linkage matters for the force in a joint: a closed loop, differentiated through."""

from __future__ import annotations

import torseur as ts
from torseur import library

linkage = library.load("four_bar")
criteria = ["A.force.x", ts.Criterion("A.force.x", "minimum"), ts.Criterion("gamma'", "integral", name="swing")]
found = ts.sensitivity(linkage, criteria, until=1.0, verify=True)
print(f"{found.method} method: {found.reason}")
for response in found.responses:
    print(f"\n{response.name} = {response.value:.6g} {response.unit} at t = {response.time[-1]:.4g} s")
    for rank in found.ranking(response.name):
        print(f"  {rank.parameter:4} {rank.per_percent:12.4g} per 1 %   {100 * rank.share:5.1f} % of the spread")
worst = max(agreement.difference for agreement in found.agreement)
print(f"\nall derivatives agree with differences of motions to {worst:.0e}")
