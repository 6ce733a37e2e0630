import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, queries, keys, features, value_features, heads, q_rows, scale_features,
                     TILE: tl.constexpr, FEATURES: tl.constexpr):
    i = tl.program_id(0)
    head = tl.program_id(2) * heads + tl.program_id(1)
    d = tl.arange(0, FEATURES)
    q = tl.load(q_ptr + (head * q_rows + i) * features + d, mask=d < features, other=0.0)
    q = q / tl.sqrt(scale_features.to(tl.float32))
    largest = -float("inf")
    total = 0.0
    weighted = tl.zeros([FEATURES], dtype=tl.float32)
    for start in range(0, keys, TILE):
        j = start + tl.arange(0, TILE)
        k_mask = (j[:, None] < keys) & (d[None, :] < features)
        k = tl.load(k_ptr + (head * keys + j[:, None]) * features + d[None, :], mask=k_mask, other=0.0)
        scores = tl.where(j < keys, tl.sum(q[None, :] * k, axis=1), -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=0))
        weights = tl.exp(scores - new_largest)
        scale = tl.exp(largest - new_largest)
        v_mask = (j[:, None] < keys) & (d[None, :] < value_features)
        v = tl.load(v_ptr + (head * keys + j[:, None]) * value_features + d[None, :], mask=v_mask, other=0.0)
        weighted = weighted * scale + tl.sum(weights[:, None] * v, axis=0)
        total = total * scale + tl.sum(weights, axis=0)
        largest = new_largest
    tl.store(out_ptr + (head * q_rows + i) * value_features + d, weighted / total, mask=d < value_features)
