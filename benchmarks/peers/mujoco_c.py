"""MuJoCo's C library: inverse and forward dynamics without contacts and constraints."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.description.readers import write_robot

FUNCTIONS = {"inverse_dynamics": "mj_inverse", "forward_dynamics": "mj_forward"}


class MuJoCo:
    """One robot on a fixed base, its model written by torseur."""

    def __init__(self, equations: ts.Equations, folder: Path) -> None:
        import mujoco

        path = folder / f"{equations.mechanism.name}.xml"
        write_robot(equations.mechanism, path)
        self.model = mujoco.MjModel.from_xml_path(str(path))
        bits = [getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}", 0) for what in ("CONSTRAINT", "CONTACT", "LIMIT")]
        self.model.opt.disableflags = sum(int(bit) for bit in bits)
        self.data = mujoco.MjData(self.model)
        self.version = mujoco.__version__
        file = next(Path(mujoco.__file__).parent.glob("libmujoco.so*"))
        self.dll = ctypes.CDLL(str(file))

    def evaluate(self, function: str, q: np.ndarray, v: np.ndarray, third: np.ndarray) -> np.ndarray:
        import mujoco

        self.data.qpos[:], self.data.qvel[:] = q, v
        if function == "inverse_dynamics":
            self.data.qacc[:] = third
            mujoco.mj_inverse(self.model, self.data)
            return np.array(self.data.qfrc_inverse)
        self.data.qfrc_applied[:] = third
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def time(self, harness: ctypes.CDLL, function: str, q: np.ndarray, v: np.ndarray, third: np.ndarray) -> float:
        target = self.data.qacc if function == "inverse_dynamics" else self.data.qfrc_applied
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (q, v, third, self.data.qpos, self.data.qvel, target)]
        whole = [ctypes.c_void_p(self.model._address), ctypes.c_void_p(self.data._address)]
        called = getattr(self.dll, FUNCTIONS[function])
        return float(harness.time_mujoco(called, *whole, len(q), q.shape[1], v.shape[1], *arrays))
