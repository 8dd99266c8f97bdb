"""A function as the target jax wrote it, vectorised with vmap and compiled, at a batch of a million.

Run by run.py: python jax_standin.py FOLDER MODULE FUNCTION SIZE ...
"""

from __future__ import annotations

import importlib
import sys
import time

BATCH = 1 << 20


def main() -> None:
    folder, module, function, *sizes = sys.argv[1:]
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print(f"{module}: JAX is not installed; skipped.")
        return
    if jax.devices()[0].platform != "gpu":
        print(f"{module}: JAX sees no GPU; skipped.")
        return
    sys.path.insert(0, folder)
    one = getattr(importlib.import_module(module), function)
    many = jax.jit(jax.vmap(one))
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    states = [jax.random.uniform(k, (BATCH, int(n)), jnp.float32, -1, 1) for k, n in zip(keys, sizes, strict=True)]
    begin = time.perf_counter()
    jax.block_until_ready(many(*states))
    compiling = time.perf_counter() - begin
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        jax.block_until_ready(many(*states))
        times.append(time.perf_counter() - begin)
    print(f"{module} {function}: JAX vmap {1e-9 * BATCH / min(times):.3f}e9 per second at {BATCH}, "
          f"float32, compiled in {compiling:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
