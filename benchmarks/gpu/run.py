"""Compiles and runs the cases that generate.py wrote, beside published figures. Needs Python and nvcc, nothing else.

Run: python benchmarks/gpu/run.py FOLDER [float32|fast|mixed|float64[:ROBOT,ROBOT] ...]
`fast` is float32 with the sine and cosine of the special function unit, `mixed` float32 with factors in float64. Rates
are in 1e9 evaluations per second; every answer is checked against double precision before it is timed. Where JAX is
installed with a GPU, the source that the target jax wrote is timed too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

BATCHES = (256, 4096, 65536, 1048576, 4194304)
PUBLISHED_AT = 1048576
FLAGS = ("-arch=sm_90", "-O3", "-std=c++17", "--prec-div=false", "--ftz=true", "-DTORSEUR_NO_KERNELS",
         "-DTORSEUR_ZEROS_ARE_THERE")  # fmt: skip
KINDS = {"float32": ("-DSCALAR=float",), "fast": ("-DSCALAR=float", "-DTORSEUR_FAST_SINES"),
         "mixed": ("-DSCALAR=float", "-DFINE=double"), "float64": ("-DSCALAR=double",)}  # fmt: skip
SINGLE = {
    "inverse_dynamics": {"iiwa": 35.5, "hyq": 18.7, "atlas": 6.0},
    "forward_dynamics": {"iiwa": 26.1, "hyq": 16.4, "atlas": 3.8},
    "inverse_dynamics/q,v": {"iiwa": 7.7, "hyq": 7.4, "atlas": 0.77},
    "forward_dynamics/q,v": {"iiwa": 4.9, "hyq": 6.2, "atlas": 0.25},
}
SUFFIX = {"float32": "f32", "fast": "f32", "mixed": "mixed", "float64": "f64"}
PUBLISHED = {
    "float32": SINGLE,
    "fast": SINGLE,
    "mixed": SINGLE,
    "float64": {
        "forward_dynamics": {"iiwa": 13.9},
        "inverse_dynamics/q,v": {"iiwa": 3.1},
        "forward_dynamics/q,v": {"iiwa": 1.2},
    },
}
"""Measured before with a hand-made generator on one H200; in single precision with the special function unit."""


HEADS = ("published", "ratio", "error", "of copy", "of one operation per cycle",
         "stages: threads x blocks, registers, local bytes, time at the largest batch")  # fmt: skip


def compiled(folder: Path, source: str, kind: str | None) -> Path:
    program = folder / f"{source}_{kind or 'any'}"
    flags = (*FLAGS, *KINDS[kind]) if kind else FLAGS
    command = ["nvcc", *flags, f"{source}.cu", "-o", program.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{source}: {done.stderr[:2000]}")
    return program


def answered(program: Path, *words: str) -> dict[str, object] | None:
    done = subprocess.run([f"./{program.name}", *words], cwd=program.parent, capture_output=True, text=True)
    if done.returncode:
        print(f"{program.name}: {done.stderr.strip()}", flush=True)
        return None
    return json.loads(done.stdout)


def shown(row: dict[str, object], kind: str, limits: dict[str, object]) -> None:
    """One line of the table, and the figure published for it."""
    rates = row["rates"]
    rate = rates[str(PUBLISHED_AT)]
    known = PUBLISHED.get(kind, {}).get(row["function"], {}).get(row["robot"])
    beside = f"{known} | {rate / known:.2f}" if known else " | "
    listed = " | ".join(f"{rates[str(b)]:.4g}" for b in BATCHES)
    size = 8 if kind == "float64" else 4
    memory = 1e9 * rate * row["words"] * size / limits["copy"]
    arithmetic = 1e9 * rate * row["operations"] / (limits["float64" if kind == "float64" else "float32"] / 2)
    cost = f"{row['error']} | {memory:.0%} | {arithmetic:.0%} | {row['caps']}"
    print(f"| {row['robot']} | {row['function']} | {kind} | {listed} | {beside} | {cost} |", flush=True)


def standin(folder: Path, words: str) -> None:
    """The same function by the target jax, vectorised by vmap, in another process that may have no JAX."""
    here = Path(__file__).resolve().parent
    done = subprocess.run([sys.executable, str(here / "jax_standin.py"), str(folder), *words.split()],
                          capture_output=True, text=True)  # fmt: skip
    print(done.stdout.strip() or f"JAX: {done.stderr.strip().splitlines()[-1:]}", flush=True)


def split_kind(word: str) -> tuple[str, tuple[str, ...]]:
    """The kind, and the beginnings of the cases it is for; none for all."""
    kind, _, cases = word.partition(":")
    return kind, tuple(filter(None, cases.split(",")))


def main() -> None:
    folder, kinds = Path(sys.argv[1]), sys.argv[2:] or list(KINDS)
    known = json.loads((folder / "cases.json").read_text())
    with ThreadPoolExecutor(cpu_count()) as pool:
        first = pool.submit(compiled, folder, "limits", None)
        waiting = [(case, kind, pool.submit(compiled, folder, f"case_{case}_{SUFFIX[kind]}", kind))
                   for kind, chosen in map(split_kind, kinds) for case in known["cases"]
                   if not chosen or case.startswith(chosen)]  # fmt: skip
        limits = answered(first.result())
        tera = {key: f"{value / 1e12:.2f}" for key, value in limits.items() if key != "device"}
        print(f"{limits['device']}: copy {tera['copy']} TB/s, multiply-adds {tera['float32']} (float32; "
              f"{tera['registers']} "
              f"of three registers) and {tera['float64']} (float64) Tflop/s; rates in 1e9 evaluations/s")  # fmt: skip
        heads = ["robot", "function", "scalar", *map(str, BATCHES), *HEADS]
        print("|", " | ".join(heads), "|\n" + "| --- " * len(heads) + "|")
        for case, kind, program in waiting:
            row = answered(program.result(), f"{case}.answers", *map(str, BATCHES))
            if row is not None:
                shown(row, kind, limits)
    for words in known["jax"]:
        standin(folder, words)


if __name__ == "__main__":
    main()
