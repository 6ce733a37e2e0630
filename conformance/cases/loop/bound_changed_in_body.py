# The bound is evaluated once: changing the variable in the body does not change the number of trips.
import warp as wp


# domain: 0 <= n <= 8
@wp.kernel
def bound_changed_in_body(x: wp.array2d(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    m = n
    s = float(1.25)
    for j in range(m):
        m = m - 2
        s = s * (x[i, j] + 0.5) + float(m)
    out[i] = s + float(m)
