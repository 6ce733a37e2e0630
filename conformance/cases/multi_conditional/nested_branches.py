# A branch inside each branch: four regions of the plane, each with another formula.
import warp as wp


@wp.kernel
def nested_branches(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = x[i] - y[i]
    if x[i] > 0.1:
        if y[i] > -0.3:
            t = x[i] * y[i]
        else:
            t = t * t
    else:
        if y[i] < 0.4:
            t = 2.0 * t + x[i]
        else:
            t = -y[i]
    out[i] = t * 1.5 + y[i]
