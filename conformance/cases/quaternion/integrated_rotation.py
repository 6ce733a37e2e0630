# A rotation carried by a run-time loop and normalised in each trip: the integration of an angular velocity.
import warp as wp


# domain: 0 <= n <= 8
@wp.kernel
def integrated_rotation(
    start: wp.array(dtype=wp.quat),
    velocity: wp.array(dtype=wp.vec3),
    n: int,
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    q = wp.normalize(start[i] + wp.quat(0.0, 0.0, 0.0, 4.0))
    for j in range(n):
        w = velocity[j]
        change = wp.quat(w[0], w[1], w[2], 0.0) * q
        q = wp.normalize(q + change * 0.05)
    out[i] = q * 2.0
