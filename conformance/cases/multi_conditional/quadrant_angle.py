# The angle of a point by its quadrant, from atan of the smaller ratio: eight pieces that join smoothly.
import warp as wp


@wp.kernel
def quadrant_angle(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.abs(x[i]) + 0.125
    b = wp.abs(y[i]) + 0.125
    t = float(0.0)
    if a > b:
        t = wp.atan(b / a)
    else:
        t = 1.5707964 - wp.atan(a / b)
    if x[i] < 0.0:
        t = 3.1415927 - t
    if y[i] < 0.0:
        t = -t
    out[i] = t * 0.5 + x[i]
