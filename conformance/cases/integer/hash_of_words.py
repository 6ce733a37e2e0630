# A hash of 64 bits by shifts and products that wrap, which chooses the sign of a float.
import warp as wp


@wp.kernel
def hash_of_words(a: wp.array(dtype=wp.uint64), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    h = a[i] * wp.uint64(0x9E3779B97F4A7C15) + wp.uint64(i)
    h = (h ^ (h >> wp.uint64(30))) * wp.uint64(0xBF58476D1CE4E5B9)
    h = h ^ (h >> wp.uint64(27))
    if (h & wp.uint64(1)) == wp.uint64(1):
        out[i] = x[i] * x[i]
    else:
        out[i] = -0.5 * x[i]
