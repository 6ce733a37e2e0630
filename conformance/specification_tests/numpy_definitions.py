"""The operations of conformance/specifications in NumPy and float64, and inputs with which to test each.

Each function has the name of a specification. Its arguments have the names of the kernel's parameters, except the
output array, which it returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[Any]
Draw = Callable[[np.random.Generator], Array]
Launch = Callable[[dict[str, Any], Array], tuple[int, ...]]


@dataclass(frozen=True)
class Definition:
    """What a specification must compute."""

    compute: Callable[..., Array]  # from the inputs, by name, to the output
    inputs: dict[str, Draw | float | int]  # how to draw each array, and the values of the other parameters
    launch: Launch  # extents of the launch, from the inputs and the output


DEFINITIONS: dict[str, Definition] = {}


def elements(_: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each element of the output."""
    return output.shape


def rows(_: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each row of the output."""
    return output.shape[:1]


def planes(_: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each channel of each image."""
    return output.shape[:2]


def channels(_: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each channel."""
    return output.shape[1:2]


def queries(_: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each query."""
    return output.shape[:3]


def definition(launch: Launch = elements, **inputs: Draw | float | int) -> Callable[..., Callable[..., Array]]:
    """Adds a function to DEFINITIONS."""

    def add(function: Callable[..., Array]) -> Callable[..., Array]:
        DEFINITIONS[function.__name__] = Definition(function, inputs, launch)
        return function

    return add


def normal(*shape: int, scale: float | list[float] = 1.5) -> Draw:
    """Normally distributed numbers. A list of scales has one for each row."""
    scales = np.asarray(scale, dtype=np.float64).reshape([-1] + [1] * (len(shape) - 1))
    return lambda rng: rng.normal(size=shape) * scales


def uniform(*shape: int, low: float, high: float) -> Draw:
    """Evenly distributed numbers."""
    return lambda rng: rng.uniform(low, high, shape)


def integers(*shape: int, below: int) -> Draw:
    """Integers from 0 to below - 1."""
    return lambda rng: rng.integers(0, below, shape)


def signs(*shape: int) -> Draw:
    """Numbers 1 and -1, both of them if there are at least two."""
    return lambda rng: rng.permutation(np.resize([1, -1], math.prod(shape))).reshape(shape)


POINTS = normal(40, scale=3.0)


@definition(x=POINTS)
def relu(x: Array) -> Array:
    return np.maximum(x, 0)


@definition(x=POINTS, slope=0.25)
def leaky_relu(x: Array, slope: float) -> Array:
    return np.maximum(x, 0) + slope * np.minimum(x, 0)


@definition(x=POINTS, alpha=0.75)
def elu(x: Array, alpha: float) -> Array:
    return np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0))


@definition(x=POINTS)
def selu(x: Array) -> Array:
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@definition(x=POINTS)
def gelu(x: Array) -> Array:
    return x * np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2


@definition(x=POINTS)
def gelu_tanh(x: Array) -> Array:
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


@definition(x=POINTS)
def sigmoid(x: Array) -> Array:
    return (1 + np.tanh(x / 2)) / 2


@definition(x=POINTS)
def silu(x: Array) -> Array:
    return x * sigmoid(x)


@definition(x=POINTS)
def log_sigmoid(x: Array) -> Array:
    return -np.logaddexp(0, -x)


@definition(x=POINTS)
def hard_sigmoid(x: Array) -> Array:
    return np.clip(x + 3, 0, 6) / 6


@definition(x=POINTS)
def hard_swish(x: Array) -> Array:
    return x * hard_sigmoid(x)


@definition(x=POINTS, low=-1.25, high=2.0)
def hard_tanh(x: Array, low: float, high: float) -> Array:
    return np.clip(x, low, high)


@definition(x=POINTS)
def softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


@definition(x=POINTS)
def tanh(x: Array) -> Array:
    return np.tanh(x)


@definition(x=POINTS)
def mish(x: Array) -> Array:
    return x * np.tanh(softplus(x))


@definition(gate=POINTS, x=POINTS)
def swiglu(gate: Array, x: Array) -> Array:
    return silu(gate) * x


@definition(rows, x=normal(3, 7, scale=[1, 3, 6]))
def softmax(x: Array) -> Array:
    weights = np.exp(x)
    return weights / weights.sum(axis=1, keepdims=True)


@definition(rows, x=normal(3, 7, scale=[1, 3, 6]))
def log_softmax(x: Array) -> Array:
    return np.log(softmax(x))


@definition(rows, x=normal(3, 7, scale=[1, 3, 6]))
def logsumexp(x: Array) -> Array:
    return np.logaddexp.reduce(x, axis=1)


def standardized(x: Array, axes: tuple[int, ...]) -> Array:
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + 1e-5)


def by_channel(parameter: Array) -> Array:
    return parameter[None, :, None, None]


def groups_of(inputs: dict[str, Any], output: Array) -> tuple[int, ...]:
    """One thread for each group of channels of each image."""
    return output.shape[0], inputs["groups"]


# The variance of the second row, image or channel is about 1e-5, so that the 1e-5 added to it matters.
@definition(rows, x=normal(3, 7, scale=[1, 0.003, 5]), weight=normal(7), bias=normal(7))
def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    return standardized(x, (1,)) * weight + bias


@definition(rows, x=normal(3, 7, scale=[1, 0.003, 5]), weight=normal(7))
def rms_norm(x: Array, weight: Array) -> Array:
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * weight


@definition(
    x=normal(2, 3, 2, 2),
    mean=normal(3),
    variance=lambda rng: rng.uniform(0.5, 1.5, 3) * [1, 1e-3, 3],
    weight=normal(3),
    bias=normal(3),
)
def batch_norm(x: Array, mean: Array, variance: Array, weight: Array, bias: Array) -> Array:
    scale = weight / np.sqrt(variance + 1e-5)
    return x * by_channel(scale) + by_channel(bias - mean * scale)


@definition(
    channels,
    x=lambda rng: rng.normal(size=(2, 3, 2, 3)) * by_channel(np.array([1, 0.003, 5])),
    weight=normal(3),
    bias=normal(3),
)
def batch_norm_training(x: Array, weight: Array, bias: Array) -> Array:
    return standardized(x, (0, 2, 3)) * by_channel(weight) + by_channel(bias)


@definition(planes, x=normal(2, 3, 3, 2, scale=[1, 0.003]), weight=normal(3), bias=normal(3))
def instance_norm(x: Array, weight: Array, bias: Array) -> Array:
    return standardized(x, (2, 3)) * by_channel(weight) + by_channel(bias)


@definition(groups_of, x=normal(2, 6, 2, 2, scale=[1, 0.003]), groups=3, weight=normal(6), bias=normal(6))
def group_norm(x: Array, groups: int, weight: Array, bias: Array) -> Array:
    grouped = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    return standardized(grouped, (2, 3, 4)).reshape(x.shape) * by_channel(weight) + by_channel(bias)


@definition(rows, x=normal(3, 7, scale=[1, 0.1, 5]))
def l2_normalize(x: Array) -> Array:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


@definition(a=normal(3, 5), b=normal(5, 4))
def matmul(a: Array, b: Array) -> Array:
    return a @ b


@definition(a=normal(5, 3), b=normal(5, 4))
def matmul_transposed_a(a: Array, b: Array) -> Array:
    return a.T @ b


@definition(a=normal(3, 5), b=normal(4, 5))
def matmul_transposed_b(a: Array, b: Array) -> Array:
    return a @ b.T


@definition(a=normal(2, 3, 5), b=normal(2, 5, 4))
def batched_matmul(a: Array, b: Array) -> Array:
    return a @ b


@definition(a=normal(4, 6), x=normal(6))
def matvec(a: Array, x: Array) -> Array:
    return a @ x


@definition(x=normal(3, 5), weight=normal(4, 5), bias=normal(4))
def linear(x: Array, weight: Array, bias: Array) -> Array:
    return x @ weight.T + bias


@definition(a=normal(4), b=normal(6))
def outer_product(a: Array, b: Array) -> Array:
    return a[:, None] * b


@definition(alpha=1.75, x=normal(9), y=normal(9))
def axpy(alpha: float, x: Array, y: Array) -> Array:
    return alpha * x + y


@definition(lambda inputs, _: inputs["x"].shape, x=normal(3, 5))
def transpose(x: Array) -> Array:
    return x.T


@definition(a=normal(3, 5), b=normal(4, 5))
def pairwise_distance(a: Array, b: Array) -> Array:
    return np.linalg.norm(a[:, None] - b[None], axis=2)


def windows(x: Array, size: tuple[int, ...], stride: int, padding: int = 0) -> Array:
    """The windows of the trailing dimensions of x, which is zero outside its bounds, as further dimensions."""
    axes = tuple(range(x.ndim - len(size), x.ndim))
    padded = np.pad(x, [(padding if axis in axes else 0,) * 2 for axis in range(x.ndim)])
    return sliding_window_view(padded, size, axes)[
        (..., *[slice(None, None, stride)] * len(size), *[slice(None)] * len(size))
    ]


@definition(x=normal(2, 2, 6), weight=normal(3, 2, 3), bias=normal(3), padding=2)
def conv1d(x: Array, weight: Array, bias: Array, padding: int) -> Array:
    parts = windows(x, weight.shape[2:], 1, padding)
    return np.einsum("nciu,ocu->noi", parts, weight) + bias[:, None]


@definition(x=normal(2, 2, 8), weight=normal(3, 2, 3), stride=2)
def strided_conv1d(x: Array, weight: Array, stride: int) -> Array:
    return np.einsum("nciu,ocu->noi", windows(x, weight.shape[2:], stride), weight)


@definition(x=normal(2, 2, 3, 4), weight=normal(2, 2, 3, 2), bias=normal(2), padding=1)
def conv2d(x: Array, weight: Array, bias: Array, padding: int) -> Array:
    parts = windows(x, weight.shape[2:], 1, padding)
    return np.einsum("ncijuv,ocuv->noij", parts, weight) + by_channel(bias)


@definition(x=normal(2, 2, 5, 6), weight=normal(3, 2, 3, 2), stride=2)
def strided_conv2d(x: Array, weight: Array, stride: int) -> Array:
    return np.einsum("ncijuv,ocuv->noij", windows(x, weight.shape[2:], stride), weight)


@definition(x=normal(2, 3, 3, 4), weight=normal(3, 3, 2), bias=normal(3), padding=1)
def depthwise_conv2d(x: Array, weight: Array, bias: Array, padding: int) -> Array:
    parts = windows(x, weight.shape[1:], 1, padding)
    return np.einsum("ncijuv,cuv->ncij", parts, weight) + by_channel(bias)


@definition(x=normal(2, 2, 3, 2), weight=normal(2, 3, 3, 3), bias=normal(3), stride=2, padding=1)
def transposed_conv2d(x: Array, weight: Array, bias: Array, stride: int, padding: int) -> Array:
    (images, _, height, width), (_, outputs, *size) = x.shape, weight.shape
    full = np.zeros((images, outputs, (height - 1) * stride + size[0], (width - 1) * stride + size[1]))
    for row in range(height):
        for column in range(width):
            part = full[:, :, row * stride : row * stride + size[0], column * stride : column * stride + size[1]]
            part += np.einsum("nc,couv->nouv", x[:, :, row, column], weight)
    return full[:, :, padding : full.shape[2] - padding, padding : full.shape[3] - padding] + by_channel(bias)


@definition(x=normal(2, 2, 5, 5), size=3, stride=2)
def max_pool2d(x: Array, size: int, stride: int) -> Array:
    return windows(x, (size, size), stride).max(axis=(4, 5))


@definition(x=normal(2, 2, 5, 5), size=3, stride=2)
def average_pool2d(x: Array, size: int, stride: int) -> Array:
    return windows(x, (size, size), stride).mean(axis=(4, 5))


@definition(x=normal(2, 2, 2, 3), scale=2)
def upsample_nearest2d(x: Array, scale: int) -> Array:
    return x.repeat(scale, axis=2).repeat(scale, axis=3)


@definition(rows, x=normal(3, 7))
def row_sum(x: Array) -> Array:
    return x.sum(axis=1)


@definition(rows, x=normal(3, 7))
def row_mean(x: Array) -> Array:
    return x.mean(axis=1)


@definition(rows, x=normal(3, 7))
def row_variance(x: Array) -> Array:
    return x.var(axis=1, ddof=1)


@definition(rows, x=normal(3, 7))
def row_max(x: Array) -> Array:
    return x.max(axis=1)


@definition(rows, x=lambda rng: rng.integers(-3, 4, (12, 7)).astype(np.float64))  # with ties
def row_argmax(x: Array) -> Array:
    return x.argmax(axis=1)


@definition(rows, x=normal(3, 7))
def cumulative_sum(x: Array) -> Array:
    return x.cumsum(axis=1)


@definition(rows, x=normal(3, 7))
def cumulative_product(x: Array) -> Array:
    return x.cumprod(axis=1)


@definition(prediction=normal(12), target=normal(12))
def mean_squared_error(prediction: Array, target: Array) -> Array:
    return np.mean((prediction - target) ** 2, keepdims=True)


@definition(prediction=normal(12), target=normal(12))
def mean_absolute_error(prediction: Array, target: Array) -> Array:
    return np.mean(np.abs(prediction - target), keepdims=True)


@definition(prediction=normal(12), target=normal(12), delta=1.25)
def huber_loss(prediction: Array, target: Array, delta: float) -> Array:
    d = np.abs(prediction - target)
    limited = np.minimum(d, delta)
    return np.mean(limited * (d - limited / 2), keepdims=True)


@definition(prediction=normal(12), target=normal(12), beta=1.25)
def smooth_l1_loss(prediction: Array, target: Array, beta: float) -> Array:
    return huber_loss(prediction, target, beta) / beta


@definition(logit=normal(12, scale=3.0), target=uniform(12, low=0, high=1))
def binary_cross_entropy_with_logits(logit: Array, target: Array) -> Array:
    return -np.mean(target * log_sigmoid(logit) + (1 - target) * log_sigmoid(-logit), keepdims=True)


@definition(prediction=normal(12), target=signs(12))
def hinge_loss(prediction: Array, target: Array) -> Array:
    return np.mean(np.maximum(1 - prediction * target, 0), keepdims=True)


@definition(rows, logits=normal(4, 6, scale=3.0), labels=integers(4, below=6))
def cross_entropy(logits: Array, labels: Array) -> Array:
    return -log_softmax(logits)[np.arange(len(labels)), labels]


@definition(rows, log_probability=uniform(3, 6, low=-5, high=-0.1), target=uniform(3, 6, low=0.05, high=1))
def kl_divergence(log_probability: Array, target: Array) -> Array:
    return (target * np.log(target / np.exp(log_probability))).sum(axis=1)


@definition(rows, a=normal(8, 3), b=normal(8, 3), label=signs(8), margin=0.125)
def cosine_embedding_loss(a: Array, b: Array, label: Array, margin: float) -> Array:
    cosine = (a * b).sum(axis=1) / np.sqrt(((a**2).sum(axis=1) + 1e-12) * ((b**2).sum(axis=1) + 1e-12))
    return np.where(label == 1, 1 - cosine, np.maximum(cosine - margin, 0))


@definition(rows, anchor=normal(8, 3), positive=normal(8, 3), negative=normal(8, 3), margin=0.5)
def triplet_margin_loss(anchor: Array, positive: Array, negative: Array, margin: float) -> Array:
    near = np.linalg.norm(anchor - positive + 1e-6, axis=1)
    far = np.linalg.norm(anchor - negative + 1e-6, axis=1)
    return np.maximum(near - far + margin, 0)


def attended(query: Array, key: Array, value: Array, *, is_causal: bool) -> Array:
    scores = np.einsum("nhid,nhjd->nhij", query, key) / math.sqrt(query.shape[3])
    if is_causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores)
    return weights / weights.sum(axis=3, keepdims=True) @ value


@definition(queries, query=normal(2, 2, 3, 4), key=normal(2, 2, 5, 4), value=normal(2, 2, 5, 4))
def attention(query: Array, key: Array, value: Array) -> Array:
    return attended(query, key, value, is_causal=False)


@definition(queries, query=normal(2, 2, 4, 3), key=normal(2, 2, 4, 3), value=normal(2, 2, 4, 3))
def causal_attention(query: Array, key: Array, value: Array) -> Array:
    return attended(query, key, value, is_causal=True)


@definition(index=integers(7, below=5), table=normal(5, 3))
def embedding(index: Array, table: Array) -> Array:
    return table[index]


def pairs(inputs: dict[str, Any], _: Array) -> tuple[int, ...]:
    """One thread for each pair of elements."""
    return inputs["cosine"].shape


@definition(pairs, x=normal(3, 8), cosine=uniform(3, 4, low=-1, high=1), sine=uniform(3, 4, low=-1, high=1))
def rotary_embedding(x: Array, cosine: Array, sine: Array) -> Array:
    first, second = np.split(x, 2, axis=1)
    rotated = (first + 1j * second) * (cosine + 1j * sine)
    return np.concatenate((rotated.real, rotated.imag), axis=1)


@definition(rows, x=normal(3, 7, scale=[1, 3, 6]))
def softmax_half(x: Array) -> Array:
    return softmax(x)


@definition(rows, x=normal(3, 7, scale=[1, 0.003, 5]), weight=normal(7), bias=normal(7))
def layer_norm_half(x: Array, weight: Array, bias: Array) -> Array:
    return layer_norm(x, weight, bias)


@definition(a=normal(3, 5), b=normal(5, 4))
def matmul_half(a: Array, b: Array) -> Array:
    return a @ b


@definition(a=normal(3, 5), b=normal(5, 4))
def matmul_bfloat16(a: Array, b: Array) -> Array:
    return a @ b
