# A vector that a run-time loop carries, with a spring's force of its own length in each trip.
import warp as wp


# domain: 0 <= n <= 9
@wp.kernel
def carried_by_a_loop(
    x: wp.array(dtype=wp.vec3),
    anchor: wp.array(dtype=wp.vec3),
    n: int,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    p = x[i]
    v = wp.vec3(0.1, 0.0, -0.1)
    for j in range(n):
        d = p - anchor[j]
        length = wp.sqrt(wp.dot(d, d) + 0.25)
        v = 0.9 * v - 0.1 * d * (length - 1.0) / length
        p = p + 0.25 * v
    out[i] = p + v
