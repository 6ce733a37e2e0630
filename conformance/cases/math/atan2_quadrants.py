# atan2 in all four quadrants, each with its own weight.
import warp as wp


# domain: 0.25 <= x <= 2
# domain: 0.25 <= y <= 2
@wp.kernel
def atan2_quadrants(y: wp.array(dtype=float), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.atan2(y[i], x[i]) + 2.0 * wp.atan2(y[i], -x[i])
    out[i] = a + 3.0 * wp.atan2(-y[i], -x[i]) - 4.0 * wp.atan2(-y[i], x[i])
