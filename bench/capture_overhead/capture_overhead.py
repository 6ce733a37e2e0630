"""Measures how much longer launches take while assay.capture records them.

    PYTHONPATH=python third_party/warp-venv/bin/python bench/capture_overhead/capture_overhead.py

A program of several hundred launches runs in turns without and with recording, for arrays of several sizes. Nothing is
judged. Prints the median time per launch of both, and their ratio.
"""

from __future__ import annotations

import argparse
import statistics
import time

import assay
import numpy as np
import warp as wp

SIZES = (1_000, 30_000, 300_000, 3_000_000)


@wp.kernel
def relax(x: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), dt: float, out: wp.array(dtype=wp.vec3)) -> None:
    """Move each point, and pull it to the unit sphere."""
    i = wp.tid()
    p = x[i] + dt * v[i]
    for _ in range(4):
        p = p - 0.25 * (wp.length(p) - 1.0) * wp.normalize(p)
    out[i] = p


def run(launches: int, inputs: list, out: wp.array) -> float:
    """The seconds that a program takes."""
    begin = time.perf_counter()
    for _ in range(launches):
        wp.launch(relax, dim=out.shape[0], inputs=inputs, outputs=[out], device="cpu")
    return time.perf_counter() - begin


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=200, help="launches of one program (default: %(default)s)")
    parser.add_argument("--turns", type=int, default=3, help="runs of each program (default: %(default)s)")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"{'elements':>10} {'plain, us':>10} {'recorded, us':>13} {'ratio':>6}")
    for size in SIZES:
        launches = max(20, min(options.launches, 30_000_000 // size))
        values = rng.normal(size=(2, size, 3)).astype(np.float32)
        arrays = [wp.array(value, dtype=wp.vec3, device="cpu") for value in values]
        inputs, out = [*arrays, 0.01], wp.zeros(size, dtype=wp.vec3, device="cpu")
        run(2, inputs, out)
        times: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(options.turns):
            times[False].append(run(launches, inputs, out))
            with assay.capture():
                times[True].append(run(launches, inputs, out))
        plain, recorded = (statistics.median(times[k]) / launches * 1e6 for k in (False, True))
        print(f"{size:>10} {plain:>10.1f} {recorded:>13.1f} {recorded / plain:>6.2f}")


if __name__ == "__main__":
    main()
