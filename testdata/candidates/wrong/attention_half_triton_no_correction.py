import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, queries, keys, TILE: tl.constexpr, FEATURES: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    d = tl.arange(0, FEATURES)
    q = tl.load(q_ptr + i[:, None] * FEATURES + d[None, :], mask=i[:, None] < queries, other=0.0)
    largest = tl.full((TILE,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TILE,), dtype=tl.float32)
    weighted = tl.zeros((TILE, FEATURES), dtype=tl.float32)
    for start in range(0, keys, TILE):
        j = start + tl.arange(0, TILE)
        k = tl.load(k_ptr + j[None, :] * FEATURES + d[:, None], mask=j[None, :] < keys, other=0.0)
        scores = tl.where(j[None, :] < keys, tl.dot(q, k) * 0.25, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_largest[:, None])
        correction = tl.exp(largest - new_largest)
        v = tl.load(v_ptr + j[:, None] * FEATURES + d[None, :], mask=j[:, None] < keys, other=0.0)
        weighted = tl.dot(weights.to(tl.float16), v, weighted)
        total = total * correction + tl.sum(weights, axis=1)
        largest = new_largest
    tl.store(out_ptr + i[:, None] * FEATURES + d[None, :], weighted / total[:, None], mask=i[:, None] < queries)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(q.shape[0], 64),)](q, k, v, out, q.shape[0], k.shape[0], TILE=64, FEATURES=16)
    return out
