"""The orthogonal double pendulum: described in Python, derived, simulated, and reported on one page."""

from pathlib import Path

import torseur as ts

g = ts.parameter("g", 9.81, "m/s^2", "gravity")
m1 = ts.parameter("m1", 4, "kg", "mass of the arm")
m2 = ts.parameter("m2", 2, "kg", "mass of the blade")
r2 = ts.parameter("r2", 5, "m", "distance from shoulder to elbow")
l2 = ts.parameter("l2", 2, "m", "distance from elbow to the blade's mass centre")

arm = ts.body("arm", mass=m1, centre=(0, -r2, 0), inertia=ts.inertia(m1 * r2**2, 0, m1 * r2**2, about="frame"))
blade = ts.body("blade", mass=m2, centre=(-l2, 0, 0), inertia=ts.inertia(0, m2 * l2**2, m2 * l2**2, about="frame"))

pendulum = ts.Mechanism(
    "double_pendulum",
    bodies=[arm, blade],
    joints=[
        ts.revolute("shoulder", ts.EARTH, arm, "q1", axis=(0, 0, 1)),
        ts.revolute("elbow", arm.at((0, -r2, 0), ts.turn(ts.PI / 2, (1, 0, 0))), blade, "q2", axis=(0, 0, 1)),
    ],
    parameters=[g, m1, m2, r2, l2],
    gravity=(0, -g, 0),
    initial={"q1": ts.PI / 4, "q2": ts.PI / 4},
    meaning="orthogonal double pendulum",
)

equations = ts.derive(pendulum)
print("kinetic energy:", ts.readable_text(equations.kinetic_energy))

motion = ts.simulate(equations, until=10, samples=6, rtol=1e-11, outputs=["kinetic_energy", "energy"])
print(motion.dataset.to_dataframe().to_string(float_format="%.9f"))

Path("reports").mkdir(exist_ok=True)
page = ts.write_report(pendulum, "reports/double_pendulum.html", overwrite=True)
print("report:", page)
