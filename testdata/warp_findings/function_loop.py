"""The adjoint of a function uses the value that an accumulator had before its loop."""
import numpy as np
import warp as wp

F = wp.float64

@wp.func
def square_of_sum(x: wp.array(dtype=F)):
    s = F(0.0)
    for i in range(x.shape[0]):
        s += x[i]
    return s * s

@wp.kernel
def f(x: wp.array(dtype=F), out: wp.array(dtype=F)):
    out[0] = square_of_sum(x)

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
