"""The textbook recursion in CasADi, as its users write it, and the C that CasADi generates from it."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from peers.robots import LinkData


def inverse_dynamics(links: list[LinkData]):
    """Recursive Newton-Euler for revolute joints on a fixed base."""
    import casadi as ca

    n = len(links)
    q, v, a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
    turns, w, dw, acc, force, moment = [], [], [], [], [], []
    for i, link in enumerate(links):
        u, c, s = link.axis, ca.cos(q[i]), ca.sin(q[i])
        own = c * np.eye(3) + (1 - c) * np.outer(u, u) + s * ca.skew(u)
        turn = (ca.DM(link.rotation) @ own).T
        turns.append(turn)
        parent = link.parent
        w0, dw0, a0 = (
            (w[parent], dw[parent], acc[parent])
            if parent >= 0
            else (ca.DM.zeros(3), ca.DM.zeros(3), ca.DM([0, 0, 9.81]))
        )
        rate = u * v[i]
        w.append(turn @ w0 + rate)
        dw.append(turn @ dw0 + ca.cross(turn @ w0, rate) + u * a[i])
        p = link.position
        acc.append(turn @ (a0 + ca.cross(dw0, p) + ca.cross(w0, ca.cross(w0, p))))
        centre = acc[i] + ca.cross(dw[i], link.centre) + ca.cross(w[i], ca.cross(w[i], link.centre))
        force.append(link.mass * centre)
        spin = ca.DM(link.inertia) @ w[i]
        moment.append(ca.DM(link.inertia) @ dw[i] + ca.cross(w[i], spin) + ca.cross(link.centre, force[i]))
    tau = [ca.SX(0)] * n
    for i in reversed(range(n)):
        tau[i] = ca.dot(links[i].axis, moment[i])
        if links[i].parent >= 0:
            back = turns[i].T @ force[i]
            moment[links[i].parent] += turns[i].T @ moment[i] + ca.cross(links[i].position, back)
            force[links[i].parent] += back
    return ca.Function("casadi_inverse", [q, v, a], [ca.vertcat(*tau)])


class CasADi:
    """CasADi's C compiled with the flags of everything else."""

    def __init__(self, links: list[LinkData], folder: Path, compiler: str, flags: list[str]) -> None:
        import os

        function = inverse_dynamics(links)
        here = os.getcwd()
        os.chdir(folder)  # CasADi writes where it stands
        try:
            function.generate("casadi_inverse.c")
        finally:
            os.chdir(here)
        target = folder / "casadi_inverse.so"
        subprocess.run(
            [compiler, *flags, "-shared", "-fPIC", str(folder / "casadi_inverse.c"), "-o", str(target), "-lm"],
            check=True,
        )
        self.dll = ctypes.CDLL(str(target))
        self.function = function
        self.iw = np.zeros(max(1, function.sz_iw()), dtype=np.int64)
        self.w = np.zeros(max(1, function.sz_w()))

    def time(self, harness: ctypes.CDLL, q: np.ndarray, v: np.ndarray, a: np.ndarray, out: np.ndarray) -> float:
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (q, v, a, out, self.iw, self.w)]
        return float(harness.time_casadi(self.dll.casadi_inverse, len(q), q.shape[1], v.shape[1], *pointers))
