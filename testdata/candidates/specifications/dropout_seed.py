import warp as wp


@wp.func
def upper_product(a: wp.uint32, b: wp.uint32) -> wp.uint32:
    return wp.uint32((wp.uint64(a) * wp.uint64(b)) >> wp.uint64(32))


@wp.func
def philox(seed: wp.uint32, counter: wp.uint32) -> wp.uint32:
    c0 = counter
    c1 = wp.uint32(0)
    c2 = wp.uint32(0)
    c3 = wp.uint32(0)
    k0 = seed
    k1 = wp.uint32(0)
    for _ in range(10):
        old0 = c0
        old2 = c2
        c0 = upper_product(wp.uint32(0xCD9E8D57), old2) ^ c1 ^ k0
        c2 = upper_product(wp.uint32(0xD2511F53), old0) ^ c3 ^ k1
        c1 = wp.uint32(0xCD9E8D57) * old2
        c3 = wp.uint32(0xD2511F53) * old0
        k0 = k0 + wp.uint32(0x9E3779B9)
        k1 = k1 + wp.uint32(0xBB67AE85)
    return c0


# domain: 0.0 <= p <= 0.9
# domain: 0 <= seed <= 1000000
@wp.kernel
def dropout_seed(x: wp.array(dtype=float), p: float, seed: wp.int32, out: wp.array(dtype=float)):
    i = wp.tid()
    bits = philox(wp.uint32(seed), wp.uint32(i))
    # Twice the distance from the nearest of 0 and 2^32 is uniformly distributed.
    if bits >= wp.uint32(0x80000000):
        bits = ~bits
    if wp.float64(bits) / wp.float64(2147483648.0) > wp.float64(p):
        out[i] = x[i] / (1.0 - p)
    else:
        out[i] = 0.0
