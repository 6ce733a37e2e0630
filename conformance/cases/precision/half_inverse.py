# Inverses of matrices of f16, which Warp computes with the operations of f16.
import warp as wp


# domain: 1 <= a <= 2
@wp.kernel
def half_inverse(
    a: wp.array(dtype=wp.float16),
    two: wp.array(dtype=wp.mat22h),
    three: wp.array(dtype=wp.mat33h),
):
    i = wp.tid()
    zero = wp.float16(0.0)
    one = wp.float16(1.0)
    two[i] = wp.inverse(wp.mat22h(a[i], zero, one, a[i]))
    three[i] = wp.inverse(wp.mat33h(a[i], zero, one, zero, a[i], zero, zero, one, a[i]))
