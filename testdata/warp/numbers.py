import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), n: int):
    i = wp.tid()
    x[i] = 1e999 + 0x1p3 + 1_0.0_1 + 1e-400 + 00 + 9999999999999999999999 + 0b102 + 1.e5 + .5j
