# A row is relaxed in place, then its extremes and its sum are taken, and the row is scaled by them.
import warp as wp


@wp.kernel
def relaxation_in_place(row: wp.array2d(dtype=float), rate: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    n = row.shape[1]
    for j in range(n):
        row[i, j] = row[i, j] * 0.5 + 0.25 * rate[i]
    s = float(0.25)
    for j in range(n):
        s += row[i, j]
    out[i] = s * rate[i]
