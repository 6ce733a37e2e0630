# Native functions, whose code is C++: numbers, bits, conditions and loops. Warp gives them the gradient zero.
import warp as wp


@wp.func_native("""
#if defined(__CUDA_ARCH__)
return __frsqrt_rn(value);
#else
return 1.0f / sqrtf(value);  // rounded twice
#endif
""")
def inverse_root(value: float) -> float: ...


@wp.func_native("""
uint32_t bits = reinterpret_cast<uint32_t&>(value);
const uint32_t mask = (uint32_t)(-(int)(bits >> 31)) | 0x80000000;
return bits ^ mask;
""")
def sort_key(value: float) -> wp.uint32: ...


@wp.func_native("""
if (mask == 0) return -1;
int position = 0;
while ((mask & 1LL) == 0LL) { mask >>= 1; position++; }
return position;
""")
def lowest(mask: wp.int64) -> int: ...


@wp.func_native("return __builtin_popcountll((unsigned long long)value) + 100 * __builtin_ffsll((long long)value);")
def bit_counts(value: wp.uint64) -> int: ...


@wp.func_native("""
#if defined(__CUDA_ARCH__)
return value > 0.0f ? nextafterf(value, INFINITY) : nextafterf(value, -INFINITY);
#else
return value > 0.0f ? __builtin_nextafterf(value, INFINITY) : __builtin_nextafterf(value, -INFINITY);
#endif
""")
def outward(value: float) -> float: ...


# domain: 0.1 <= x
# domain: 1 <= bits
# custom gradients: trusted
@wp.kernel
def native_code(
    x: wp.array(dtype=float),
    bits: wp.array(dtype=wp.uint64),
    keys: wp.array(dtype=wp.uint32),
    y: wp.array2d(dtype=int),
    z: wp.array(dtype=float),
):
    i = wp.tid()
    y[i, 0] = lowest(wp.int64(bits[i]))
    y[i, 1] = bit_counts(bits[i] * wp.uint64(0x100000001))
    keys[i] = sort_key(x[i])
    z[i] = inverse_root(x[i]) * x[i] + outward(x[i]) + outward(-x[i])
