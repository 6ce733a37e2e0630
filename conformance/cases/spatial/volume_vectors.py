# Volumes of vectors: a step along the flow, whose derivatives form a matrix.
import warp as wp


@wp.kernel
def volume_vectors(flow: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), spread: wp.array(dtype=float)):
    i = wp.tid()
    at = 2.0 * x[i]
    derivative = wp.mat33()
    wind = wp.volume_sample_grad(flow, at, wp.Volume.LINEAR, derivative, dtype=wp.vec3)
    ahead = wp.volume_sample_v(flow, at + 0.5 * wind, wp.Volume.LINEAR)
    y[i] = at + 0.5 * wind + 0.25 * ahead + derivative * wp.volume_lookup_v(flow, 0, 1, i % 3)
    spread[i] = wp.trace(derivative) + wp.dot(wp.volume_sample(flow, x[i], wp.Volume.CLOSEST, dtype=wp.vec3), at)
