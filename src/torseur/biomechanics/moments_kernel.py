"""Joint moments of many frames at once, compiled: recursive Newton-Euler with loads on some segments."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torseur import dynamics as td
from torseur.codegen.batch import BatchKernel, compile_batch
from torseur.graph import Input, Program, as_expr, symbol, vector
from torseur.identification.arrays import Array
from torseur.identification.values import given_values
from torseur.mechanism import Mechanism
from torseur.spatial import Force, Vec3
from torseur.tree import build_tree

LOADS, PARAMETERS = "load", "p"


class MomentsKernel:
    """τ(q, v, v̇, loads) of a mechanism; loads are moments about the earth's origin and forces, in earth axes."""

    def __init__(self, mechanism: Mechanism, loaded: tuple[str, ...]) -> None:
        tree = build_tree(mechanism)
        layout, values = tree.layout, given_values(tree)
        loads = tuple(symbol(f"{LOADS}_{name}_{k}", "N") for name in loaded for k in range(6))
        poses = td.link_poses(tree.at(list(layout.coordinates)))
        wrenches = {}
        for number, name in enumerate(loaded):
            m, f = loads[6 * number : 6 * number + 3], loads[6 * number + 3 : 6 * number + 6]
            link = tree.places[name][0]
            wrenches[link] = poses[link].force_to_child(Force(Vec3(*m), Vec3(*f)))
        tau = td.inverse_dynamics(
            tree, list(layout.coordinates), list(layout.speeds), list(layout.accelerations), wrenches
        )
        inputs = [
            Input("q", layout.coordinates), Input("v", layout.speeds), Input("vdot", layout.accelerations),
            Input(PARAMETERS, layout.parameters),
        ] + ([Input(LOADS, loads)] if loads else [])  # fmt: skip
        program = Program("joint_moments", tuple(inputs), (vector("tau", [as_expr(x) for x in tau]),))
        self.values = [values[name] for name in layout.parameter_names]
        self.kernel: BatchKernel = compile_batch(program, parameters=(PARAMETERS,) if self.values else ())
        self.loads = len(loads)

    def __call__(self, q: Array, v: Array, vdot: Array, loads: Array) -> Array:
        """Moments (frames, speeds) of frames (frames, ...); loads (frames, 6 per loaded segment)."""
        given = {"q": q.T, "v": v.T, "vdot": vdot.T} | ({LOADS: loads.T} if self.loads else {})
        if self.values:
            given[PARAMETERS] = np.array(self.values)
        return np.ascontiguousarray(self.kernel(**given)["tau"].T)


@lru_cache(maxsize=16)
def moments_kernel(mechanism: Mechanism, loaded: tuple[str, ...]) -> MomentsKernel:
    """The kernel of a mechanism with loads on some of its bodies; made once."""
    return MomentsKernel(mechanism, loaded)
