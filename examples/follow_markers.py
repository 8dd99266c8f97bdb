"""An arm followed by its markers: a noisy recording with a gap and swapped labels, checked and repaired on request."""

import numpy as np

import torseur as ts
from torseur import biomechanics

ARM = """mechanism arm "upper arm on a ball joint, forearm on a hinge" ;
let upper = body mass = 2 kg end ;
let fore = body mass = 1 kg end ;
join [0, 0, 1.4] m ++ 1 @ earth and upper.frame as shoulder with spherical(a, b, c) angles zxy end ;
join [0, 0, -0.3] m ++ 1 @ upper and fore.frame as elbow with revolute(e) about [0, 1, 0] end ;
let U1 = [0.05, 0, -0.05] m ++ 1 @ upper ;   let U2 = [0, 0.05, -0.15] m ++ 1 @ upper ;
let U3 = [-0.03, 0, -0.2] m ++ 1 @ upper ;   let U4 = [0, -0.04, -0.28] m ++ 1 @ upper ;
let F1 = [0.04, 0, -0.05] m ++ 1 @ fore ;    let F2 = [0, 0.04, -0.2] m ++ 1 @ fore ;
let F3 = [0, -0.03, -0.25] m ++ 1 @ fore ;
"""
arm = ts.parse(ARM)
model = biomechanics.MarkerModel(arm, dict(arm.frames), {})
time, rng = np.arange(300) / 100, np.random.default_rng(0)
q = np.column_stack(
    [0.6 * np.sin(2 * time), 0.5 * np.cos(3 * time), 0.4 * np.sin(4 * time), 0.8 + 0.7 * np.sin(5 * time)]
)

recorded = ts.Markers(time, tuple(dict(arm.frames)), model.positions(time, q), ts.Axes(z="up"), "reach")
recorded = recorded.with_noise(0.002, rng).without("F2", slice(80, 86))
recorded = biomechanics.exchange_labels(recorded, "U1", "U3", slice(150, 170))
print(recorded)

segments = {"upper arm": ["U1", "U2", "U3", "U4"], "forearm": ["F1", "F2", "F3"]}
for fault in biomechanics.label_faults(recorded, segments):
    print(fault)
    recorded = biomechanics.exchange_labels(recorded, *fault.swapped, slice(fault.first, fault.last + 1))
whole = biomechanics.fill_gaps(recorded, longest=10)
print("\n".join(whole.notes[-2:]))

upper, fore = (ts.segment_motion(whole, labels, name=name) for name, labels in segments.items())
print(f"markers lie {1e3 * upper.residual.mean():.1f} and {1e3 * fore.residual.mean():.1f} mm from rigid segments")
motion = ts.inverse_kinematics(model, recorded, limits={"e": (0.0, 2.6)})
print(motion)
print(f"angles known to {np.degrees(np.abs(motion.q - q).mean()):.2f}° on average")
