"""A value assigned to a component of a vector in a struct gets no gradient."""
import numpy as np
import warp as wp

F = wp.float64

@wp.struct
class S:
    v: wp.vec2d

@wp.kernel
def f(x: wp.array(dtype=F), out: wp.array(dtype=F)):
    s = S()
    s.v = wp.vec2d(x[0], x[0])
    s.v[0] = x[1] * x[1]
    out[0] = s.v[0]

def forward(values):
    x = wp.array(values, dtype=F, device="cpu", requires_grad=True)
    out = wp.array([0.0], dtype=F, device="cpu", requires_grad=True)
    wp.launch(f, dim=1, inputs=[x, out], device="cpu")
    return x, out

values, h = np.array([1.5, 2.0]), 1e-6
with wp.Tape() as tape:
    x, out = forward(values)
tape.backward(grads={out: wp.ones_like(out)})
print("gradient:          ", x.grad.numpy())
ends = [[forward(values + step)[1].numpy().sum() for step in (e, -e)] for e in h * np.eye(len(values))]
print("finite differences:", np.array([(up - down) / (2 * h) for up, down in ends]))
