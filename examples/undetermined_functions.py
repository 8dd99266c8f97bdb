"""A mechanism with functions left open: equations hold them as they are, a motion takes them from Python."""

import math

import torseur as ts

TEXT = """
mechanism drum "mass on a drum driven by an unknown motor" ;
param J = 0.2 kg*m^2 "inertia of the drum" ;
let drum = body mass = 3 kg, centre = [0, 0, 0], inertia = diag(J, J, J) end ;
join earth and drum.frame as axle with revolute(theta) torque = ?motor(t, theta') end ;
"""

drum = ts.parse(TEXT)
equations = ts.derive(drum)
print("loads:", equations.loads[0])

(function,) = equations.undetermined
name = function.data.name
motion = ts.simulate(equations, until=2, samples=5, laws={name: lambda t, speed: 2 * math.sin(t) - 0.1 * speed})
print(motion.dataset.to_dataframe())
