# Binary searches in a row of a table, in a part of a row, and in a row that is a parameter.
import warp as wp


@wp.func
def place_in(row: wp.array(dtype=float), value: float):
    return wp.lower_bound(row, value)


# domain: 0 <= r <= 1
@wp.kernel
def search_in_rows(
    knots: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    r: wp.array(dtype=int),
    out: wp.array(dtype=float),
    found: wp.array(dtype=wp.vec4i),
):
    i = wp.tid()
    own = wp.lower_bound(knots[r[i]], x[i])
    part = wp.lower_bound(knots[-1, 1:], x[i])
    found[i] = wp.vec4i(own, part, i, place_in(knots[r[i] - 1], x[i]))
    out[i] = knots[r[i], own] * x[i] + knots[-1, part]
