"""Rows of a table, selected by index: out[i, j] = table[index[i], j].

PyTorch: torch.nn.functional.embedding(index, table)
"""

import warp as wp


# domain: 0 <= index < table.shape[0]
@wp.kernel
def embedding(index: wp.array(dtype=wp.int64), table: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = table[int(index[i]), j]
