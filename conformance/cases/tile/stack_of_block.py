# A stack that the threads of a block share. The sum depends on the order of the values.
import warp as wp


@wp.kernel
def stack_of_block(
    x: wp.array(dtype=float),
    kept: wp.array2d(dtype=float),
    slots: wp.array2d(dtype=int),
    counts: wp.array(dtype=int),
    sums: wp.array(dtype=float),
):
    block, lane = wp.tid()
    stack = wp.tile_stack(capacity=40, dtype=float)
    for first in range(0, x.shape[0], wp.block_dim()):
        k = first + lane
        value = float(0.0)
        is_kept = False
        if k < x.shape[0]:
            value = x[k] * x[k]
            is_kept = x[k] > -1.5
        slot = wp.tile_stack_push(stack, value, is_kept)
        if slot >= 0:
            slots[block, slot] = k
    counts[block] = wp.tile_stack_count(stack)
    sum = float(1.0)
    for _step in range(x.shape[0] - 1):
        popped, slot = wp.tile_stack_pop(stack)
        if slot >= 0:
            kept[block, slot] = popped + 1.0
            sum = 0.5 * sum + wp.sin(sum) * popped
    sums[block] = sum
    wp.tile_stack_clear(stack)
    missing, slot = wp.tile_stack_pop(stack)
    slots[block, 0] = int(missing) + slot
