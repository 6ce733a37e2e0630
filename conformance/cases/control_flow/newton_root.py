# Newton's iteration for a square root: each thread takes its own number of trips.
import warp as wp


# domain: 0.2 <= x <= 9
@wp.kernel
def newton_root(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    r = float(1.0)
    trips = int(0)
    while wp.abs(r * r - x[i]) > 0.01 and trips < 30:
        r = 0.5 * (r + x[i] / r)
        trips += 1
    out[i] = r * y[i]
