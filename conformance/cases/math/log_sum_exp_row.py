# log-sum-exp of a row, made safe by the row's maximum, which cancels in exact arithmetic and is an output too.
import warp as wp


@wp.kernel
def log_sum_exp_row(x: wp.array2d(dtype=float), top: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    m = x[i, 0]
    for j in range(1, 5):
        m = wp.max(m, x[i, j])
    s = float(0.0)
    for j in range(5):
        s += wp.exp(x[i, j] - m)
    top[i] = m
    out[i] = m + wp.log(s)
