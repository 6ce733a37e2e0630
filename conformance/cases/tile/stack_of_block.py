# A stack that the threads of a block share.
import warp as wp


@wp.kernel
def stack_of_block(
    x: wp.array(dtype=float),
    kept: wp.array2d(dtype=float),
    slots: wp.array2d(dtype=int),
    counts: wp.array(dtype=int),
):
    block, lane = wp.tid()
    stack = wp.tile_stack(capacity=4, dtype=float)
    for first in range(0, x.shape[0], wp.block_dim()):
        k = first + lane
        value = float(0.0)
        is_kept = False
        if k < x.shape[0]:
            value = x[k] * x[k]
            is_kept = x[k] > 0.0
        slot = wp.tile_stack_push(stack, value, is_kept)
        if slot >= 0:
            slots[block, slot] = k
    counts[block] = wp.tile_stack_count(stack)
    while wp.tile_stack_count(stack) > 1:
        popped, slot = wp.tile_stack_pop(stack)
        if slot >= 0:
            kept[block, slot] = popped + 1.0
    wp.tile_stack_clear(stack)
    missing, slot = wp.tile_stack_pop(stack)
    kept[block, 0] = missing + float(slot)
