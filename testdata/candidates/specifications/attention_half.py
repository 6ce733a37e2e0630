import warp as wp

vec16 = wp.types.vector(length=16, dtype=wp.float32)


@wp.func
def score(query: wp.array2d(dtype=wp.float16), key: wp.array2d(dtype=wp.float16), i: int, j: int) -> float:
    total = float(0.0)
    for d in range(16):
        total += float(query[i, d]) * float(key[j, d])
    return 0.25 * total


# domain: -2.0 <= query <= 2.0
# domain: -2.0 <= key <= 2.0
@wp.kernel
def attention_half(
    query: wp.array2d(dtype=wp.float16),
    key: wp.array2d(dtype=wp.float16),
    value: wp.array2d(dtype=wp.float16),
    out: wp.array2d(dtype=wp.float16),
):
    i = wp.tid()
    largest = score(query, key, i, 0)
    for j in range(1, key.shape[0]):
        largest = wp.max(largest, score(query, key, i, j))
    total = float(0.0)
    weighted = vec16()
    for j in range(key.shape[0]):
        weight = wp.exp(score(query, key, i, j) - largest)
        total += weight
        for d in range(16):
            weighted[d] = weighted[d] + weight * float(value[j, d])
    for d in range(16):
        out[i, d] = wp.float16(weighted[d] / total)
