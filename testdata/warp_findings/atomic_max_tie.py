"""If several values are equal in wp.atomic_max, each gets the whole gradient."""
import numpy as np
import warp as wp

F = wp.float64


@wp.kernel
def f(x: wp.array(dtype=F), out: wp.array(dtype=F)):
    wp.atomic_max(out, 0, x[0])
    wp.atomic_max(out, 0, x[0])


def forward(values):
    x = wp.array(values, dtype=F, device="cpu", requires_grad=True)
    out = wp.array([0.0], dtype=F, device="cpu", requires_grad=True)
    wp.launch(f, dim=1, inputs=[x, out], device="cpu")
    return x, out


values, h = np.array([1.5]), 1e-6
with wp.Tape() as tape:
    x, out = forward(values)
tape.backward(grads={out: wp.ones_like(out)})
print("gradient:          ", x.grad.numpy())
ends = [[forward(values + step)[1].numpy().sum() for step in (e, -e)] for e in h * np.eye(len(values))]
print("finite differences:", np.array([(up - down) / (2 * h) for up, down in ends]))
