# Vectors and matrices that are made from one value of f16 or bf16, which all components get.
import warp as wp

vec2_bf16 = wp.types.vector(length=2, dtype=wp.bfloat16)


@wp.kernel
def filled_halves(
    x: wp.array(dtype=wp.float16),
    v: wp.array(dtype=wp.vec3h),
    m: wp.array(dtype=wp.mat22h),
    b: wp.array(dtype=vec2_bf16),
):
    i = wp.tid()
    v[i] = wp.vec3h(wp.float16(3.5)) * x[i]
    m[i] = wp.mat22h(x[i]) + wp.mat22h(wp.float16(0.5))
    b[i] = vec2_bf16(wp.bfloat16(1.5))
