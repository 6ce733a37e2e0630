# A thread-local array with computed indices: filled in a loop, updated in a loop whose trip count is known only at run
# time, read in another order; some elements are never written.
import warp as wp


# domain: 0 <= n <= 9
# domain: 0 <= start <= 4
@wp.kernel
def local_array(x: wp.array2d(dtype=float), start: wp.array(dtype=int), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    ring = wp.zeros(shape=(5,), dtype=float)
    for j in range(4):
        ring[j] = x[i, j]
    at = start[i]
    for j in range(n):
        ring[at] = ring[at] * 0.75 + ring[(at + 1) % 5] * x[i, j % 4] + 0.125
        at = (at + 1) % 5
    s = float(0.0)
    for j in range(5):
        s += ring[(at + j) % 5] * float(j + 1)
    out[i] = s * ring[start[i]]
