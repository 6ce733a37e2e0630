# Slots allocated by a counter: the backward pass must not continue counting from where the forward pass ended.
import warp as wp


# domain: 0 <= used <= 2
# domain: 0 <= n <= 5
@wp.kernel
def slots_by_own_counter(
    x: wp.array2d(dtype=float), n: int, used: wp.array(dtype=int), slots: wp.array2d(dtype=float)
):
    i = wp.tid()
    for j in range(n):
        if x[i, j] > -0.5:
            slot = wp.atomic_add(used, i, 1)
            slots[i, slot] = x[i, j] * x[i, j] * float(slot + 1)
