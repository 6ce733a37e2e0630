# A sparse matrix in compressed rows times a vector: row offsets bound the loop.
import warp as wp


# launch: (9)
# domain: 0 <= begin <= 4
# domain: 0 <= column < 9
@wp.kernel
def compressed_rows(
    begin: wp.array(dtype=int),
    column: wp.array(dtype=int),
    value: wp.array(dtype=float),
    x: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.5)
    for k in range(3 * i + begin[i], 3 * i + 4):
        s += value[k] * x[column[k]]
    out[i] = s * x[i]
