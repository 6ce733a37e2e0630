"""The adjoint of wp.tile_transpose doubles the elements of the tile, which the adjoints of earlier operations read."""
import numpy as np
import warp as wp

F = wp.float64


@wp.kernel
def f(x: wp.array(dtype=F), out: wp.array(dtype=F)):
    a = wp.tile_reshape(wp.tile_load(x, shape=4), shape=(2, 2))
    wp.tile_store(out, wp.tile_reshape(a * a + wp.tile_transpose(a), shape=(4,)))


def forward(values):
    x = wp.array(values, dtype=F, device="cpu", requires_grad=True)
    out = wp.array([0.0, 0.0, 0.0, 0.0], dtype=F, device="cpu", requires_grad=True)
    wp.launch_tiled(f, dim=[1], inputs=[x, out], block_dim=1, device="cpu")
    return x, out


values, h = np.array([2.0, 0.5, 0.5, 3.0]), 1e-6
with wp.Tape() as tape:
    x, out = forward(values)
tape.backward(grads={out: wp.ones_like(out)})
print("gradient:          ", x.grad.numpy())
ends = [[forward(values + step)[1].numpy().sum() for step in (e, -e)] for e in h * np.eye(len(values))]
print("finite differences:", np.array([(up - down) / (2 * h) for up, down in ends]))
