# func_replay: the backward pass reads the counter of the forward pass and must not count again. Each thread has a
# separate counter and separate slots.
import warp as wp


@wp.func
def take_slot(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(counter, i, 1)
    taken[i] = slot
    return slot


@wp.func_replay(take_slot)
def take_slot_again(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    return taken[i]


# domain: 0 <= counter <= 3
@wp.kernel
def custom_replay(
    x: wp.array2d(dtype=float),
    counter: wp.array(dtype=int),
    taken: wp.array(dtype=int),
    out: wp.array2d(dtype=float),
):
    i = wp.tid()
    slot = take_slot(counter, taken, i)
    out[slot, i] = x[slot, i] * x[slot, i] * 1.5
