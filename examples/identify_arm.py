"""Masses of a robot arm from its motor torques: design a motion, record it, identify real bodies, look at the doubt."""

from __future__ import annotations

import numpy as np

import torseur as ts
from torseur import identification

arm = ts.library.load("puma560")
joints = [f"q{k}" for k in range(1, 7)]

# The description's servos are what the torque sensors measure.
model = ts.linear_model(arm, ts.Extras(viscous=joints), loads="measured")
base = ts.base_parameters(model)
print(f"{len(base)} combinations of {len(model.columns)} parameters can be told, such as {base.names[1]} =")
print("   ", base.text(1))

limits = dict.fromkeys(joints, identification.CoordinateLimits((-1.5, 1.5), speed=3, acceleration=15))
excitation = ts.design_excitation(model, limits, rounds=2, base=base)
time = np.linspace(0, 10, 1000, endpoint=False)
q, v, vdot = excitation.motion.at(time)

# A recording: the arm as it really is differs from its description, and the sensors are noisy.
rng = np.random.default_rng(0)
described = np.concatenate([identification.description_parameters(model)[b] for b in model.bodies])
real = np.concatenate([1.1 * described, np.full(6, 0.3)])
tau = model.matrix(q, v, vdot) @ real
tau += 0.01 * np.std(tau, axis=0) * rng.normal(size=tau.shape)

channels = {name: q[:, k] for k, name in enumerate(joints)}
channels |= {f"{name}'": v[:, k] for k, name in enumerate(joints)}
channels |= {f"{name}''": vdot[:, k] for k, name in enumerate(joints)}
trial = ts.make_trial(model, time, channels, {name: tau[:, k] for k, name in enumerate(joints)})
estimate = ts.identify(model, [trial], "weighted", ts.IdentificationOptions(base=base, bootstrap=100))

print(f"condition {estimate.condition:.1f}, forces explained to {100 * estimate.fits[0].relative:.2f} %")
for name, value, deviation, _, unit, _ in estimate.rows()[:6]:
    print(f"{name:12} {value:9.4f} ± {deviation:.4f} {unit}")
