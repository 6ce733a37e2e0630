# The trip count follows from integer arithmetic on an input, as in the Collatz sequence, up to a cap.
import warp as wp


# domain: 1 <= start <= 40
@wp.kernel
def integer_trip_count(
    start: wp.array(dtype=int),
    x: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    m = start[i]
    s = x[i] + 0.5
    trips = int(0)
    while m > 1 and trips < 40:
        if m % 2 == 0:
            m = m // 2
            s = s * 0.9 + 0.1 * x[i]
        else:
            m = 3 * m + 1
            s = wp.sin(s + x[i])
        trips += 1
    out[i] = s
