"""Pinocchio in C++: compiled once (some minutes) into a folder that is kept, then called through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np

from peers.robots import LinkData, prefix

SOURCE = Path(__file__).with_name("pinocchio.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-shared", "-fPIC")
# Boost's lists must be longer than Pinocchio's list of joints.
BOOST = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


def missing() -> str:
    """Why Pinocchio cannot be timed; empty when it can."""
    root = prefix()
    if root is None or not (root / "include" / "pinocchio").is_dir():
        return "Pinocchio's headers are not installed (pip install pin libpinocchio cmeel-eigen)"
    return "" if shutil.which("g++") else "there is no g++"


def library(cache: Path) -> ctypes.CDLL:
    """The compiled wrapper."""
    root = prefix()
    assert root is not None
    key = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = cache / f"pinocchio-{key}.so"
    if not path.exists():
        print("compiling Pinocchio, once: about five minutes", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        folders = [f"-I{root}/include", f"-I{root}/include/eigen3", f"-L{root}/lib", f"-Wl,-rpath,{root}/lib"]
        command = ["g++", *FLAGS, *BOOST, str(SOURCE), "-o", str(path), *folders, "-lboost_serialization"]
        subprocess.run(command, check=True)
    found = ctypes.CDLL(str(path))
    found.peer_load.restype = ctypes.c_void_p
    found.peer_time.restype = ctypes.c_double
    return found


class Pinocchio:
    """One robot."""

    def __init__(self, dll: ctypes.CDLL, links: list[LinkData], folder: Path) -> None:
        path = folder / "model.txt"
        path.write_text("\n".join([str(len(links)), *(link.line for link in links)]) + "\n")
        self.dll = dll
        self.robot = ctypes.c_void_p(dll.peer_load(str(path).encode()))

    def evaluate(self, function: int, q: np.ndarray, v: np.ndarray, a: np.ndarray, out: np.ndarray) -> None:
        self.dll.peer_evaluate(self.robot, function, *[ctypes.c_void_p(x.ctypes.data) for x in (q, v, a, out)])

    def time(self, function: int, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
        """Seconds for one pass over the states, which are rows."""
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (q, v, a)]
        return float(self.dll.peer_time(self.robot, function, len(q), *pointers))
