# Discrete Fourier transforms of the rows of a tile of complex numbers.
import warp as wp

SIZE = wp.constant(4)


@wp.kernel
def fourier(x: wp.array2d(dtype=wp.vec2), spectrum: wp.array2d(dtype=wp.vec2), smooth: wp.array2d(dtype=wp.vec2)):
    i = wp.tid()
    t = wp.tile_load(x, shape=(1, SIZE), offset=(i, 0))
    wp.tile_fft(t)
    wp.tile_store(spectrum, t, offset=(i, 0))
    half = t * 0.125
    wp.tile_ifft(half)
    wp.tile_store(smooth, half, offset=(i, 0))
