"""The same pendulum as text: what is wrong with a description is told with its place."""

import torseur as ts

TEXT = """
mechanism pendulum "simple pendulum" ;
param g = 9.81 m/s^2 "gravity", m = 1 kg "mass of the bob", l = 1 m "length of the rod" ;
gravity = [0, -g, 0] ;
let bob = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
join earth and bob.frame as pivot with revolute(theta) about [0, 0, 1] end ;
init theta = 60 deg ;
"""

pendulum = ts.parse(TEXT)
motion = ts.simulate(pendulum, until=2, samples=5, outputs=["energy"])
print(motion.dataset.to_dataframe())

try:
    ts.parse(TEXT.replace("bob.frame", "bab.frame").replace("mass = m,", "mass = l,"), "pendulum.lsd")
except ts.TorseurError as mistakes:
    print(mistakes)
