# *= and /= on an array: the gradient needs the content before each of them.
# The divisor stays away from zero.
import warp as wp


# domain: 0.5 <= z <= 2
@wp.kernel
def augmented_product(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    x[i] *= y[i] + 0.5
    x[i] /= z[i]
    x[i] *= x[i]
