"""Scaled dot product attention: out[i] = sum over j of softmax(query[i] . key[j] / sqrt(features)) * value[j].

The arrays have the shape (batch, heads, tokens, features). The softmax is over the tokens j.

PyTorch: torch.nn.functional.scaled_dot_product_attention(query, key, value)
"""

import warp as wp


@wp.func
def score(query: wp.array4d(dtype=float), key: wp.array4d(dtype=float), n: int, h: int, i: int, j: int) -> float:
    total = float(0.0)
    for d in range(query.shape[3]):
        total += query[n, h, i, d] * key[n, h, j, d]
    return total / wp.sqrt(float(query.shape[3]))


@wp.func
def max_score(query: wp.array4d(dtype=float), key: wp.array4d(dtype=float), n: int, h: int, i: int) -> float:
    largest = score(query, key, n, h, i, 0)
    for j in range(1, key.shape[2]):
        largest = wp.max(largest, score(query, key, n, h, i, j))
    return largest


@wp.func
def exp_sum(
    query: wp.array4d(dtype=float), key: wp.array4d(dtype=float), n: int, h: int, i: int, shift: float
) -> float:
    total = float(0.0)
    for j in range(key.shape[2]):
        total += wp.exp(score(query, key, n, h, i, j) - shift)
    return total


@wp.kernel
def attention(
    query: wp.array4d(dtype=float),
    key: wp.array4d(dtype=float),
    value: wp.array4d(dtype=float),
    out: wp.array4d(dtype=float),
):
    n, h, i = wp.tid()
    largest = max_score(query, key, n, h, i)
    total = exp_sum(query, key, n, h, i, largest)
    for d in range(value.shape[3]):
        weighted = float(0.0)
        for j in range(key.shape[2]):
            weighted += wp.exp(score(query, key, n, h, i, j) - largest) / total * value[n, h, j, d]
        out[n, h, i, d] = weighted
