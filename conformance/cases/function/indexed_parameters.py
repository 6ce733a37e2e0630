# An indexed array is passed to a function. Warp does not compile the backward pass of such a call.
import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.func
def sum_of(part: wp.indexedarray(dtype=float), scale: float):
    s = float(0.0)
    for j in range(part.shape[0]):
        s += part[j] * scale
    return s


@wp.kernel
def indexed_parameters(x: wp.indexedarray(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = sum_of(x, w[i]) * x[i]
