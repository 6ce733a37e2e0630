# += -= *= /= on one variable that starts from an input: each uses the value left by the previous one.
import warp as wp


# domain: 0.5 <= z <= 2
@wp.kernel
def augmented_assignment(
    x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    t = x[i]
    t += y[i] * 2.0
    t *= x[i] - 0.5
    t -= 0.25 * y[i]
    t /= z[i]
    t *= t
    out[i] = t + x[i]
