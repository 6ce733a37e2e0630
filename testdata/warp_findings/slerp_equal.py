"""wp.quat_slerp of equal quaternions gets the gradient that is correct only for t = 0."""
import numpy as np
import warp as wp

F = wp.float64


@wp.kernel
def f(x: wp.array(dtype=F), out: wp.array(dtype=F)):
    q = wp.quatd(x[0], x[1], x[2], x[3])
    r = wp.quat_slerp(q, wp.quatd(F(0.0), F(0.0), F(0.0), F(1.0)), F(0.25))
    out[0] = r[0] + r[1] + r[2] + r[3]


def forward(values):
    x = wp.array(values, dtype=F, device="cpu", requires_grad=True)
    out = wp.array([0.0], dtype=F, device="cpu", requires_grad=True)
    wp.launch(f, dim=1, inputs=[x, out], device="cpu")
    return x, out


values, h = np.array([0.0, 0.0, 0.0, 1.0]), 1e-6
with wp.Tape() as tape:
    x, out = forward(values)
tape.backward(grads={out: wp.ones_like(out)})
print("gradient:          ", x.grad.numpy())
ends = [[forward(values + step)[1].numpy().sum() for step in (e, -e)] for e in h * np.eye(len(values))]
print("finite differences:", np.array([(up - down) / (2 * h) for up, down in ends]))
