# The same softplus with a branch, which evaluates one side only.
import warp as wp


# domain: -5 <= x <= 120
@wp.kernel
def softplus_branch(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = x[i]
    if x[i] <= 20.0:
        t = wp.log(1.0 + wp.exp(x[i]))
    out[i] = t * 1.5
