import warp as wp


@wp.kernel
def imm(a: wp.array2d(dtype=wp.int8), b: wp.array2d(dtype=wp.int8), c: wp.array2d(dtype=wp.int32)):
    i, j = wp.tid()
    s = int(0)
    for k in range(a.shape[1]):
        s += int(a[i, k]) * int(b[j, k])
    c[i, j] = s
