# A function with three outputs of three types, all of them used.
import warp as wp


@wp.func
def split(v: wp.vec3, k: int):
    part = v[k % 3]
    return part, v * part, k * 2 + 1


@wp.kernel
def three_outputs(v: wp.array(dtype=wp.vec3), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    part, scaled, odd = split(v[i], i)
    out[i] = part * x[i] + wp.dot(scaled, v[i]) * float(odd % 4)
