import warp as wp


@wp.kernel
def k(x: wp.array(dtype=float), n: int):
	i = wp.tid()
	x[i] = 1.0
