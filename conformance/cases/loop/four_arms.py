# Nested tests of one value in a loop. NVRTC 12.9 to 13.2 compile the gradient incorrectly for compute_100 and
# compute_120; conformance/compiler_faults.csv expects this.
import warp as wp


@wp.kernel
def four_arms(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(1.5)
    for j in range(n):
        v = x[j]
        if v > 0.0:
            if v > 1.0:
                s = s * v
            else:
                s = s + v * v
        else:
            if v < -1.0:
                s = s - wp.sin(s * v)
            else:
                s = s * 0.5 + v
    out[i] = s * x[i]
