import warp as wp


# domain: 0 <= start <= len(values)
# domain: 0 <= column < len(x)
@wp.kernel
def csr_matvec(
    start: wp.array(dtype=int),
    column: wp.array(dtype=int),
    values: wp.array(dtype=float),
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
):
    row = wp.tid()
    s = float(0.0)
    for k in range(start[row], start[row + 1]):
        s += values[k] * x[column[k]]
    y[row] = s
