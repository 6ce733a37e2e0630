import warp as wp


# launch: (x.shape[0], x.shape[1])
@wp.kernel
def game_of_life(x: wp.array2d(dtype=int), y: wp.array2d(dtype=int)):
    i, j = wp.tid()
    h = x.shape[0]
    w = x.shape[1]
    n = int(0)
    for di in range(-1, 2):
        for dj in range(-1, 2):
            if di != 0 or dj != 0:
                n += x[(i + di + h) % h, (j + dj + w) % w] & 1
    alive = x[i, j] & 1
    if n == 3 or (n == 2 and alive == 1):
        y[i, j] = 1
    else:
        y[i, j] = 0
