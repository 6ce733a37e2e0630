# The block size of the launch scales each element, and decides which sum a thread adds to.
import warp as wp


@wp.kernel
def block_size(x: wp.array(dtype=float), scaled: wp.array(dtype=float), sums: wp.array(dtype=float)):
    i = wp.tid()
    scaled[i] = x[i] * float(wp.block_dim())
    wp.atomic_add(sums, i // wp.block_dim(), wp.sin(x[i]))
