# A scalar that every trip of a loop uses: its gradient sums over iterations and threads.
import warp as wp


# domain: -0.9 <= decay <= 0.9
# domain: 0 <= n <= 9
@wp.kernel
def scalar_in_loop(x: wp.array2d(dtype=float), decay: float, n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.5)
    for j in range(n):
        s = decay * s + x[i, j]
    out[i] = s * decay
