# Some threads add, some subtract, some do nothing; one bin for each kind.
import warp as wp


@wp.kernel
def sum_in_branch(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > 0.5:
        wp.atomic_add(out, 0, x[i] * y[i])
    elif x[i] < -0.5:
        wp.atomic_sub(out, 1, x[i] * x[i])
