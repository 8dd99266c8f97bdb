"""Inverse dynamics of the Puma 560, compiled, for a thousand states."""

import time

import numpy as np

import torseur as ts
from torseur import library

puma = ts.derive(library.load("puma560"))
kernel = ts.compile(puma, ["inverse_dynamics"], baked={})
random = np.random.default_rng(0)
q, v, vdot = (random.normal(size=(1000, 6)) for _ in range(3))

kernel(q=q[0], v=v[0], vdot=vdot[0])
start = time.perf_counter()
torques = [kernel(q=q[k], v=v[k], vdot=vdot[k])["tau"] for k in range(len(q))]
print(f"{kernel.backend}: {(time.perf_counter() - start) * 1e3:.2f} µs a call, from Python")
print("torques of the first state:", np.round(torques[0], 3))
