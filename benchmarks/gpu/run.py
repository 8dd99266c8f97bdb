"""Compiles and runs the cases that generate.py wrote, beside published figures. Needs Python and nvcc, nothing else.

Run: python benchmarks/gpu/run.py FOLDER [float32|float64 ...]
Rates are in 1e9 evaluations per second; every answer is checked against double precision before it is timed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

BATCHES = (256, 4096, 65536, 1048576)
FLAGS = ("-arch=sm_90", "-O3", "-std=c++17", "--prec-div=false", "--ftz=true", "-DTORSEUR_NO_KERNELS",
         "-DTORSEUR_ZEROS_ARE_THERE")  # fmt: skip
PUBLISHED = {
    "float32": {
        "inverse_dynamics": {"iiwa": 35.5, "hyq": 18.7, "atlas": 6.0},
        "forward_dynamics": {"iiwa": 26.1, "hyq": 16.4, "atlas": 3.8},
        "inverse_dynamics/q,v": {"iiwa": 7.7, "hyq": 7.4, "atlas": 0.77},
        "forward_dynamics/q,v": {"iiwa": 4.9, "hyq": 6.2, "atlas": 0.25},
    },
    "float64": {"forward_dynamics": {"iiwa": 13.9}, "inverse_dynamics/q,v": {"iiwa": 3.1}},
}
"""Measured before with a hand-made generator on one H200."""


def compiled(folder: Path, case: str, scalar: str) -> Path:
    program = folder / f"{case}_{scalar}"
    kind = {"float32": "float", "float64": "double"}[scalar]
    command = [
        "nvcc",
        *FLAGS,
        f"-DSCALAR={kind}",
        "-DTORSEUR_NO_KERNELS",
        "-DTORSEUR_ZEROS_ARE_THERE",
        f"case_{case}.cu",
        "-o",
        program.name,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr[:2000]}")
    return program


def measured(program: Path, case: str) -> list[dict[str, object]]:
    words = [f"./{program.name}", f"{case}.answers", *map(str, BATCHES)]
    done = subprocess.run(words, cwd=program.parent, capture_output=True, text=True)
    if done.returncode:
        print(f"{case}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def shown(rows: list[dict[str, object]]) -> None:
    """The best variant of a case, and the figure published for it."""
    for row in rows:
        rates = row["rates"]
        known = PUBLISHED.get(row["scalar"], {}).get(row["function"], {}).get(row["robot"])
        beside = f" published {known:6.2f} ratio {rates[str(BATCHES[-1])] / known:5.2f}" if known else ""
        listed = " ".join(f"{rates[str(b)]:8.3f}" for b in BATCHES)
        what = f"{row['robot']:6} {row['function']:22} {row['scalar']} cap {row['resident']}"
        cost = f"registers {row['registers']:3} local {row['local']:5} error {row['error']:.1e}"
        load = f"{row['bandwidth']:5.0f} GB/s {row['gflops']:6.0f} Gop/s"
        print(f"{what} {cost} | {listed} | {load}{beside}", flush=True)


def main() -> None:
    folder, scalars = Path(sys.argv[1]), sys.argv[2:] or ["float32", "float64"]
    cases = json.loads((folder / "cases.json").read_text())
    print(f"batches {BATCHES}; rates in 1e9 evaluations per second")
    with ThreadPoolExecutor(cpu_count()) as pool:
        waiting = [(case, pool.submit(compiled, folder, case, s)) for s in scalars for case in cases]
        for case, program in waiting:
            shown(measured(program.result(), case))


if __name__ == "__main__":
    main()
