import warp as wp


@wp.func
def root(x: float):
    return wp.sqrt(x)


@wp.func
def root(x: int):
    return x


@wp.func_grad(root)
def root_gradient(x, adj_ret: float):
    wp.adjoint[x] += adj_ret


@wp.kernel
def use(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = root(x[i])
