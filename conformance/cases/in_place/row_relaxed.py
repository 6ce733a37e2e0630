# A loop relaxes each element of the thread's row towards another array.
import warp as wp


@wp.kernel
def row_relaxed(x: wp.array2d(dtype=float), goal: wp.array2d(dtype=float), rate: float):
    i = wp.tid()
    for j in range(x.shape[1]):
        x[i, j] = x[i, j] * 0.75 + rate * (goal[i, j] - 0.5)
