# Indexed arrays: reads, writes, atomics, lengths, rows, and indices from the end.
import warp as wp


@wp.kernel
def indexed_arrays(
    x: wp.indexedarray(dtype=float),
    m: wp.indexedarray(dtype=float, ndim=2),
    w: wp.array(dtype=float),
    total: wp.indexedarray1d(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    row = m[i % m.shape[0]]
    out[i] = x[i] * w[i] + x[i - 1] + row[0] * m[0, -1]
    wp.atomic_add(total, i % 2, x[i] * x[i])
