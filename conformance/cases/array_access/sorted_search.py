# Interpolation in a table: a binary search finds the interval, in the whole table and in a part of it.
import warp as wp


# domain: 0 <= n < 4
@wp.kernel
def sorted_search(
    knots: wp.array(dtype=float),
    values: wp.array(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
    found: wp.array(dtype=int),
):
    i = wp.tid()
    k = wp.lower_bound(knots, x[i])
    out[i] = values[k] * x[i] + values[wp.lower_bound(arr=knots, value=0.5 * x[i], arr_begin=n, arr_end=n + 3)]
    found[i] = k
