// Tiles: functions that the parser turns into operations, and changes of tiles that it rejects.

#include "frontend/warp/testing/golden.hpp"
#include "frontend/warp/testing/rejection.hpp"

namespace assay::frontend::testing {
namespace {

const Golden kTiles[] = {
    {.name = "Ranges",
     .parameters = "x: wp.array(dtype=float), k: wp.array(dtype=int)",
     .body = R"(
wp.tile_store(x, wp.tile_arange(3))
wp.tile_store(x, wp.tile_arange(0.0, 0.3, 0.1))
wp.tile_store(x, wp.tile_arange(0.0, 0.35, 0.1))
wp.tile_store(k, wp.tile_arange(9, 0, -4, dtype=int))
)",
     .module = R"(
kernel k(x: array<f32,1>, k: array<i32,1>; thread) {
  x[0] = tile_arange<tile<f32,3>>(0.0, 1.0)
  x[0] = tile_arange<tile<f32,3>>(0.0, 0.1)
  x[0] = tile_arange<tile<f32,4>>(0.0, 0.1)
  k[0] = tile_arange<tile<i32,3>>(9, -4)
}
)"},
    {.name = "PartsOfTiles",
     .parameters = "x: wp.array(dtype=float), a: wp.array2d(dtype=float), n: int",
     .body = R"(
t = wp.tile_load(a, shape=(4, 3))
wp.tile_store(x, wp.tile_view(t, offset=(n,)))
wp.tile_store(x, wp.tile_squeeze(wp.tile_view(t, offset=(0, n), shape=(4, 1)), axis=(-1,)))
wp.tile_assign(t, wp.tile_ones(shape=(2, 2), dtype=int), offset=(n, 1))
wp.tile_store(a, t)
)",
     .module = R"(
kernel k(x: array<f32,1>, a: array<f32,2>, n: i32; thread) {
  let t: tile<f32,4,3> = tile_load<tile<f32,4,3>>(a[0, 0])
  x[0] = tile_reshape<tile<f32,3>>(tile_view<tile<f32,1,3>>(t, n, 0))
  x[0] = tile_reshape<tile<f32,4>>(tile_view<tile<f32,4,1>>(t, 0, n))
  t = tile_assign(t, n, 1, cast<tile<f32,2,2>>(splat<tile<i32,2,2>>(1)))
  a[0, 0] = t
}
)"},
    {.name = "ValueOfOneThread",
     .parameters = "x: wp.array(dtype=float), n: int",
     .body = R"(
t = wp.tile_from_thread(shape=3, value=x[0], thread_idx=0)
wp.tile_store(x, t * float(len(t)))
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32; thread) {
  let t: tile<f32,3> = splat<tile<f32,3>>(x[0])
  x[0] = mul(t, cast<f32>(3))
}
)"},
    {.name = "PartsOfArrays",
     .parameters = "x: wp.array(dtype=float), c: wp.array3d(dtype=float), n: int, k: wp.array(dtype=int)",
     .body = R"(
part = c[n]
t = wp.tile_load(part, shape=(2, 2), offset=(0, 1))
wp.tile_store(c[0], t, offset=(1, 0))
wp.tile_atomic_add(c[1, -1], wp.tile_sum(t, axis=0))
r = wp.tile_load(k, shape=2)
wp.tile_store(part, wp.tile_load_indexed(c[1], r, shape=(2, 2), axis=1))
)",
     .module = R"(
kernel k(x: array<f32,1>, c: array<f32,3>, n: i32, k: array<i32,1>; thread) {
  let t: tile<f32,2,2> = tile_load<tile<f32,2,2>>(c[wrap_index(n, shape(c, 0)), 0, 1])
  c[0, 1, 0] = t
  atomic_add(c[1, wrap_index(add(shape(c, 1), -1), shape(c, 1)), 0], tile_sum<tile<f32,2>>(t))
  let r: tile<i32,2> = tile_load<tile<i32,2>>(k[0])
  c[wrap_index(n, shape(c, 0)), 0, 0] = tile_load<tile<f32,2,2>>(c[1, 0, r])
}
)"},
    {.name = "Algebra",
     .parameters = "x: wp.array(dtype=float), a: wp.array2d(dtype=float), k: wp.array(dtype=int), s: float",
     .body = R"(
t = wp.tile_load(x, shape=3)
u = wp.tile_load(x, shape=3, offset=3)
wp.tile_axpy(s, t, u)
wp.tile_store(x, s / u + u / 2.0)
wp.tile_store(a, wp.tile_diag_add(wp.tile_zeros(shape=(3, 3), dtype=float), d=u))
n = wp.tile_load(k, shape=3)
wp.tile_store(k, n & wp.tile_arange(3, dtype=int))
)",
     .module = R"(
kernel k(x: array<f32,1>, a: array<f32,2>, k: array<i32,1>, s: f32; thread) {
  let t: tile<f32,3> = tile_load<tile<f32,3>>(x[0])
  let u: tile<f32,3> = tile_load<tile<f32,3>>(x[3])
  u = add(u, mul(s, t))
  x[0] = add(div(s, u), div(u, 2.0))
  a[0, 0] = tile_diag_add(splat<tile<f32,3,3>>(0.0), u)
  let n: tile<i32,3> = tile_load<tile<i32,3>>(k[0])
  k[0] = bit_and(n, tile_arange<tile<i32,3>>(0, 1))
}
)"},
    {.name = "RunningExtremesOfRows",
     .parameters = "a: wp.array2d(dtype=float)",
     .body = R"(
wp.tile_store(a, wp.tile_scan_max_inclusive(wp.tile_load(a, shape=(2, 3))))
)",
     .module = R"(
kernel k(a: array<f32,2>; thread) {
  a[0, 0] = tile_reshape<tile<f32,2,3>>(tile_scan_max(tile_reshape<tile<f32,6>>(tile_load<tile<f32,2,3>>(a[0, 0]))))
}
)"},
    {.name = "TilesOfIndices",
     .parameters = "a: wp.array2d(dtype=float), k: wp.array(dtype=int), n: int",
     .body = R"(
rows = wp.tile_load(k, shape=2)
t = wp.tile_load_indexed(a, rows, shape=(2, 3), offset=(n, 1))
wp.tile_store_indexed(a, indices=wp.tile_arange(3, dtype=int), t=t, axis=1)
wp.tile_atomic_add_indexed(a, rows, t, axis=0)
)",
     .module = R"(
kernel k(a: array<f32,2>, k: array<i32,1>, n: i32; thread) {
  let rows: tile<i32,2> = tile_load<tile<i32,2>>(k[0])
  let t: tile<f32,2,3> = tile_load<tile<f32,2,3>>(a[add(rows, n), 1])
  a[0, tile_arange<tile<i32,3>>(0, 1)] = t
  atomic_add(a[rows, 0], t)
}
)"},
    {.name = "SlicesOfTiles",
     .parameters = "x: wp.array(dtype=float), a: wp.array2d(dtype=float), n: int",
     .body = R"(
t = wp.tile_load(a, shape=(4, 5))
wp.tile_store(a, t[1:3])
wp.tile_store(a, t[:-1, 2:9])
wp.tile_store(x, t[n, 1:])
wp.tile_store(x, t[:, -1])
)",
     .module = R"(
kernel k(x: array<f32,1>, a: array<f32,2>, n: i32; thread) {
  let t: tile<f32,4,5> = tile_load<tile<f32,4,5>>(a[0, 0])
  a[0, 0] = tile_view<tile<f32,2,5>>(t, 1, 0)
  a[0, 0] = tile_view<tile<f32,3,3>>(t, 0, 2)
  x[0] = tile_reshape<tile<f32,4>>(tile_view<tile<f32,1,4>>(t, where(lt(n, 0), add(n, 4), n), 1))
  x[0] = tile_reshape<tile<f32,4>>(tile_view<tile<f32,4,1>>(t, 0, 4))
}
)"},
    {.name = "ScaledProducts",
     .parameters = "a: wp.array2d(dtype=float), s: float",
     .body = R"(
t = wp.tile_zeros(shape=(2, 2), dtype=a.dtype)
u = wp.tile_load(a, shape=(2, 2))
wp.tile_matmul(u, u, t, alpha=0.5, beta=s)
wp.tile_store(a, t)
)",
     .module = R"(
kernel k(a: array<f32,2>, s: f32; thread) {
  let t: tile<f32,2,2> = splat<tile<f32,2,2>>(0.0)
  let u: tile<f32,2,2> = tile_load<tile<f32,2,2>>(a[0, 0])
  t = add(mul(s, t), mul(0.5, tile_product(u, u)))
  a[0, 0] = t
}
)"},
    {.name = "ProductsInMixedPrecision",
     .parameters = "h: wp.array2d(dtype=wp.float16), a: wp.array2d(dtype=float)",
     .body = R"(
t = wp.tile_load(h, shape=(2, 2))
u = wp.tile_load(a, shape=(2, 2))
wp.tile_store(h, wp.tile_matmul(t, u, alpha=0.5))
wp.tile_matmul(t, t, u, precision="default")
wp.tile_store(a, u)
)",
     .module = R"(
kernel k(h: array<f16,2>, a: array<f32,2>; thread) {
  let t: tile<f16,2,2> = tile_load<tile<f16,2,2>>(h[0, 0])
  let u: tile<f32,2,2> = tile_load<tile<f32,2,2>>(a[0, 0])
  h[0, 0] = mul(0.5:f16, tile_product(t, cast<tile<f16,2,2>>(u)))
  u = add(u, tile_product(cast<tile<f32,2,2>>(t), cast<tile<f32,2,2>>(t)))
  a[0, 0] = u
}
)"},
    {.name = "TilesOfVectorsAreLocalArrays",
     .parameters = "v: wp.array(dtype=wp.vec2), x: wp.array(dtype=float)",
     .body = R"(
t = wp.tile_load(v, shape=3, offset=1)
t[0] = t[1] * 2.0
u = t
u = -t * wp.tile_load(x, shape=3)
wp.tile_atomic_add(v, u)
wp.tile_store(x, wp.tile_map(wp.length, u), offset=2)
)",
     .module = R"(
kernel k(v: array<vec<f32,2>,1>, x: array<f32,1>; thread) {
  let offset: i32 = 1
  let t: local<vec<f32,2>,3>
  for row: i32 in range(0, 3, 1) {
    if lt(add(offset, row), shape(v, 0)) {
      t[row] = v[add(offset, row)]
    }
  }
  t[0] = mul(t[1], 2.0)
  let u: local<vec<f32,2>,3>
  for row_1: i32 in range(0, 3, 1) {
    u[row_1] = t[row_1]
  }
  let tile: local<vec<f32,2>,3>
  for row_2: i32 in range(0, 3, 1) {
    tile[row_2] = neg(t[row_2])
  }
  let operand: tile<f32,3> = tile_load<tile<f32,3>>(x[0])
  let tile_1: local<vec<f32,2>,3>
  for row_3: i32 in range(0, 3, 1) {
    tile_1[row_3] = mul(tile[row_3], tile_extract(operand, row_3))
  }
  for row_4: i32 in range(0, 3, 1) {
    u[row_4] = tile_1[row_4]
  }
  let offset_1: i32 = 0
  for row_5: i32 in range(0, 3, 1) {
    if lt(add(offset_1, row_5), shape(v, 0)) {
      atomic_add(v[add(offset_1, row_5)], u[row_5])
    }
  }
  let tile_2: local<f32,3>
  for row_6: i32 in range(0, 3, 1) {
    tile_2[row_6] = length(u[row_6])
  }
  let offset_2: i32 = 2
  for row_7: i32 in range(0, 3, 1) {
    if lt(add(offset_2, row_7), shape(x, 0)) {
      x[add(offset_2, row_7)] = tile_2[row_7]
    }
  }
}
)"},
    {.name = "ElementsOfTilesWithManyDimensions",
     .parameters = "c: wp.array3d(dtype=float), n: int",
     .body = R"(
t = wp.tile_full(shape=(2, 3, 4), value=0.5, dtype=float)
s = wp.tile_zeros(shape=(2, 3, 4), dtype=float)
t[1, n, -1] = s[0, 2, n] + wp.tile_extract(s, 1, 1, n) + s[-1, 0, 0]
u = wp.tile_zeros(shape=5, dtype=wp.mat22)
t[0, 0, 0] = wp.tile_extract(u, n, 1, 0)
)",
     .module = R"(
kernel k(c: array<f32,3>, n: i32; thread) {
  let element: f32 = 0.5
  let t: local<f32,24>
  for row: i32 in range(0, 2, 1) {
    for column: i32 in range(0, 3, 1) {
      for layer: i32 in range(0, 4, 1) {
        t[add(mul(add(mul(row, 3), column), 4), layer)] = element
      }
    }
  }
  let s: local<f32,24>
  t[cast<u32>(add(mul(add(mul(1, 3), where(lt(n, 0), add(n, 3), n)), 4), 3))] = add(add(s[cast<u32>(add(mul(add(mul(0, 3), 2), 4), where(lt(n, 0), add(n, 4), n)))], s[cast<u32>(add(mul(add(mul(1, 3), 1), 4), n))]), s[12])
  let u: local<mat<f32,2,2>,5>
  t[0] = extract(extract(u[cast<u32>(n)], 1), 0)
}
)"},
    {.name = "ElementsThatCountFromTheEnd",
     .parameters = "x: wp.array2d(dtype=float), n: int",
     .body = R"(
t = wp.tile_load(x, shape=(2, 3))
u = wp.tile_zeros(shape=(2, 3), dtype=float)
u[-1, n] = t[n, -3] + wp.tile_extract(t, 1, n)
wp.tile_store(x, u)
wp.tile_store(x[0], t[n, 1:])
)",
     .module = R"(
kernel k(x: array<f32,2>, n: i32; thread) {
  let t: tile<f32,2,3> = tile_load<tile<f32,2,3>>(x[0, 0])
  let u: tile<f32,2,3> = splat<tile<f32,2,3>>(0.0)
  u = tile_insert(u, 1, wrap_index(n, 3), add(tile_extract(t, where(lt(n, 0), add(n, 2), n), 0), tile_extract(t, 1, n)))
  x[0, 0] = u
  x[0, 0] = tile_reshape<tile<f32,2>>(tile_view<tile<f32,1,2>>(t, where(lt(n, 0), add(n, 2), n), 1))
}
)"},
    {.name = "ExtremesAlongADimension",
     .parameters = "x: wp.array(dtype=float), a: wp.array2d(dtype=float)",
     .body = R"(
t = wp.tile_load(a, shape=(3, 2))
wp.tile_store(x, wp.tile_reduce(wp.max, t, axis=0))
wp.tile_store(x, wp.tile_reduce(wp.min, t * 2.0, axis=1))
)",
     .module = R"(
kernel k(x: array<f32,1>, a: array<f32,2>; thread) {
  let t: tile<f32,3,2> = tile_load<tile<f32,3,2>>(a[0, 0])
  x[0] = tile_reshape<tile<f32,2>>(max(max(tile_view<tile<f32,1,2>>(t, 0, 0), tile_view<tile<f32,1,2>>(t, 1, 0)), tile_view<tile<f32,1,2>>(t, 2, 0)))
  let tile: tile<f32,3,2> = mul(t, 2.0)
  x[0] = tile_reshape<tile<f32,3>>(min(tile_view<tile<f32,3,1>>(tile, 0, 0), tile_view<tile<f32,3,1>>(tile, 0, 1)))
}
)"},
    {.name = "SumsAlongADimension",
     .parameters = "y: wp.array2d(dtype=float)",
     .body = R"(
t = wp.tile_zeros(shape=(2, 3, 4), dtype=float)
wp.tile_store(y, wp.tile_sum(t, axis=1))
)",
     .module = R"(
kernel k(y: array<f32,2>; thread) {
  let t: local<f32,24>
  let tile: local<f32,8>
  for row: i32 in range(0, 2, 1) {
    for column: i32 in range(0, 4, 1) {
      let terms: tile<f32,3> = splat<tile<f32,3>>(0.0)
      for term: i32 in range(0, 3, 1) {
        let value: f32 = t[add(mul(add(mul(row, 3), term), 4), column)]
        terms = tile_insert(terms, term, value)
      }
      tile[add(mul(row, 4), column)] = tile_extract(tile_sum<tile<f32,1>>(terms), 0)
    }
  }
  let offset: i32 = 0
  let offset_1: i32 = 0
  for row_1: i32 in range(0, 2, 1) {
    for column_1: i32 in range(0, 4, 1) {
      if and(lt(add(offset, row_1), shape(y, 0)), lt(add(offset_1, column_1), shape(y, 1))) {
        y[add(offset, row_1), add(offset_1, column_1)] = tile[add(mul(row_1, 4), column_1)]
      }
    }
  }
}
)"},
    {.name = "ViewOfTemporaryTileMayChange",
     .parameters = "x: wp.array(dtype=float)",
     .body = R"(
t = wp.tile_load(x, shape=4)
v = wp.tile_view(t * 2.0, offset=(1,), shape=(2,))
v[0] = 1.0
t[0] = 2.0
wp.tile_store(x, v)
)",
     .module = R"(
kernel k(x: array<f32,1>; thread) {
  let t: tile<f32,4> = tile_load<tile<f32,4>>(x[0])
  let v: tile<f32,2> = tile_view<tile<f32,2>>(mul(t, 2.0), 1)
  v = tile_insert(v, 0, 1.0)
  t = tile_insert(t, 0, 2.0)
  x[0] = v
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Tiles, GoldenKernelTest, ::testing::ValuesIn(kTiles), golden_name);

constexpr std::string_view kShared =
    "in Warp, the tile shares memory with another one, because line 5 makes a view, and this statement would change "
    "both; change a copy, such as wp.tile_astype(...)";

std::string rejection(std::string_view body) {
  const std::string parameters = "x: wp.array(dtype=float), a: wp.array2d(dtype=float), n: int";
  const auto result = parse_python(kernel(parameters, body), "test.py", {});
  return result.ok() ? messages(*result) : result.error().text();
}

TEST(ViewsOfTiles, RejectChangesThatWarpMakesInBothTiles) {
  for (const char* change : {"v[0] = 1.0", "t[0] = 1.0", "v += v", "wp.tile_axpy(2.0, v, v)", "wp.tile_assign(t, v)",
                             "for k in range(n):\n    t = t + t"}) {
    const std::string body =
        std::string("t = wp.tile_load(x, shape=4)\nv = wp.tile_view(t, offset=(1,), shape=(2,))\n") + change;
    EXPECT_NE(rejection(body).find(kShared), std::string::npos) << change << "\n" << rejection(body);
  }
  for (const char* view :
       {"wp.tile_reshape(t, shape=(2, 2))", "wp.tile_broadcast(t, shape=(2, 4))",
        "wp.tile_transpose(wp.tile_reshape(t, shape=(2, 2)))", "wp.tile_broadcast(t * t, shape=(2, 4))"}) {
    const std::string body = std::string("t = wp.tile_load(x, shape=4)\nv = ") + view + "\nv[0, 1] = 1.0";
    EXPECT_NE(rejection(body).find(kShared), std::string::npos) << view << "\n" << rejection(body);
  }
}

TEST(ViewsOfTiles, AllowChangesBeforeTheViewAndNewTiles) {
  EXPECT_EQ(rejection("t = wp.tile_load(x, shape=4)\nt[0] = 1.0\nv = wp.tile_view(t, offset=(1,), shape=(2,))\n"
                      "t = t * 2.0\nwp.tile_store(x, v)\nwp.tile_store(x, t)"),
            "");
}

struct RejectedTiles {
  std::string_view body;
  std::string_view reason;
};

TEST(Tiles, ReadsAndChangesOfDifferentElementsAreParsed) {
  for (const char* const body :
       {"t = wp.tile_load(x, shape=4)\nt[0] = t[1]\nv = t[0]\nt[2] = v",
        "t = wp.tile_load(x, shape=4)\nv = t[-1]\nt[0] = v\nt[1] = v\nt[2] = v",
        "t = wp.tile_load(x, shape=4)\nv = t[n]\nt = wp.tile_zeros(shape=4, dtype=float)\nt[n] = v",
        "t = wp.tile_zeros(shape=(2, 3), dtype=wp.vec2)\nt[1, 2] = t[0, 1] * 2.0\nt[0, 0] = wp.vec2(1.0, 2.0)",
        "t = wp.tile_load(x, shape=4)\nfor k in range(4):\n    t[k] = float(k)\n    x[k] = t[k]"})
    EXPECT_EQ(rejection(body), "") << body;
}

TEST(Tiles, RejectArgumentsThatWarpRejects) {
  const RejectedTiles kRejected[] = {
      {"t = wp.tile_broadcast(wp.tile_max(wp.tile_load(x, shape=4)), shape=12)", "shape must be a tuple"},
      {"t = wp.tile_broadcast(wp.tile_max(wp.tile_load(x, shape=4)), (12))", "shape must be a tuple"},
      {"t = wp.tile_reshape(wp.tile_load(x, shape=4), 4)", "shape must be a tuple, as in wp.tile_reshape(t, (12,))"},
      {"t = wp.tile_load(x, shape=4, offset=(n,))", "shape and offset must both be tuples or both be integers"},
      {"t = wp.tile_load(x, shape=(4,), offset=n)", "shape and offset must both be tuples or both be integers"},
      {"t = wp.tile_map(wp.isnan, wp.tile_load(x, shape=4))", "the mapped function returns bool"},
      {"t = wp.tile_load(x, shape=4)\nt = wp.tile_map(wp.where, wp.tile_zeros(shape=4, dtype=bool), t, t)",
       "tiles of bool"},
      {"t = wp.tile_arange(n)", "compile-time constants"},
      {"t = wp.tile_arange(5, 5)", "the range is empty"},
      {"t = wp.tile_arange(0, 4, 0)", "step must not be zero"},
      {"t = wp.tile_arange(0.5, 4.0, dtype=int)", "int32 cannot represent this number"},
      {"t = wp.tile_arange(5000)", "1 to 4096 elements"},
      {"t = wp.tile_empty(shape=4, dtype=float)", "undefined"},
      {"t = wp.tile_squeeze(wp.tile_load(x, shape=1))", "without dimensions"},
      {"t = wp.tile_squeeze(wp.tile_load(x, shape=2), axis=(0,))", "extent 1"},
      {"t = wp.tile_view(wp.tile_load(x, shape=4), offset=(3,), shape=(2,))", "outside the tile"},
      {"t = wp.tile_view(wp.tile_load(x, shape=4), offset=(2,))", "without a shape"},
      {"t = wp.tile_view(wp.tile_load(x, shape=4), offset=1, shape=(2,))", "tuple"},
      {"t = wp.tile_load(x, shape=4)\nwp.tile_assign(t, wp.tile_ones(shape=2, dtype=float), offset=(3,))",
       "outside the tile"},
      {"t = wp.tile_load(x, shape=4)\nwp.tile_assign(t, wp.tile_ones(shape=5, dtype=float))", "does not fit"},
      {"t = wp.tile_load(x, shape=4)\nwp.tile_axpy(2, t, t)", "the same type"},
      {"t = wp.tile_load(x, shape=4)\nwp.tile_axpy(2.0, t, t * t)", "must be a variable"},
      {"t = wp.tile_diag_add(wp.tile_load(a, shape=(2, 3)), wp.tile_load(x, shape=2))", "tile_diag_add takes"},
      {"t = wp.tile_scan_max_inclusive(wp.tile_zeros(shape=4, dtype=wp.float64))", "float32, int32 or uint32"},
      {"t = wp.tile_scan_inclusive(wp.tile_zeros(shape=4, dtype=wp.float64))", "float32, int32 or uint32"},
      {"t = wp.tile_scan_exclusive(wp.tile_zeros(shape=4, dtype=wp.int64))", "float32, int32 or uint32"},
      {"t = wp.tile_load_indexed(x, wp.tile_arange(3), shape=(3,))", "indices must be a tile of int32"},
      {"t = wp.tile_load_indexed(x, wp.tile_arange(4, dtype=int), shape=(3,))", "one number for each position"},
      {"t = wp.tile_load_indexed(x, wp.tile_arange(3, dtype=int), shape=(3,), axis=1)", "axis must be"},
      {"t = wp.tile_load_indexed(x, wp.tile_arange(3, dtype=int), shape=3)", "shape must be a tuple"},
      {"t = wp.tile_load(x, shape=4)\nt = wp.tile_atomic_add_indexed(x, wp.tile_arange(4, dtype=int), t)",
       "unknown or unsupported"},
      {"t = wp.tile_load(x, shape=4) + 1.0", "two tiles only"},
      {"t = wp.tile_zeros(shape=(2, 2), dtype=int)\nu = wp.tile_matmul(t, t)", "float16, float32 and float64, got"},
      {"t = wp.tile_zeros(shape=(2, 2), dtype=wp.bfloat16)\nu = wp.tile_load(a, shape=(2, 2))\nwp.tile_matmul(u, t, u)",
       "float16, float32 and float64, got"},
      {"t = wp.tile_load(a, shape=(2, 2))\nu = wp.tile_matmul(t, t, precision=\"tf32\")", "precision must be"},
      {"t = wp.tile_load(x, shape=4)\nwp.tile_sort(t, t)", "the order of equal keys is unspecified"},
      {"t = wp.tile_randf(shape=4, rng=wp.rand_init(7))", "the size of the block"},
      {"t = wp.tile_from_thread(shape=3, value=1.0)", "'thread_idx' must be an int32"},
      {"t = wp.tile_load(x[1:], shape=2)", "parts with given first indices"},
      {"t = wp.tile_load(a[:, 0], shape=2)", "parts with given first indices"},
      {"t = wp.tile_load(a[0], shape=(2, 2))", "incompatible with array type"},
      {"t = wp.tile_load(a[0], shape=(2,), offset=(0, 1))", "array has 1 dimensions, but the offset has 2"},
      {"t = wp.tile_cholesky(wp.tile_load(a, shape=(2, 3)))", "expected a square tile"},
      {"t = wp.tile_cholesky(wp.tile_zeros(shape=(2, 2), dtype=int))", "float32 or float64"},
      {"t = wp.tile_cholesky(wp.tile_load(a, shape=(2, 2)), fill_mode=n)", "\"lower\" or \"upper\""},
      {"t = wp.tile_lower_solve(wp.tile_load(a, shape=(2, 2)), wp.tile_load(x, shape=3))", "with 2 rows"},
      {"t = wp.tile_load(a, shape=(2, 2))\nu = wp.tile_cholesky(t) if n > 0 else t", "use a separate statement"},
      {"wp.tile_cholesky_inplace(wp.tile_load(a, shape=(2, 2)))", "must be a variable"},
      {"t = wp.tile_arange(4, dtype=int) & 1", "scalars only"},
      {"t = wp.tile_load(x, shape=4)\nu = t[::2]", "must have the step 1"},
      {"u = wp.tile_zeros(shape=2, dtype=wp.vec2)\nt = u * 2.0 if n > 0 else u", "use a separate statement"},
      {"t = wp.tile_load(x, shape=4)\nt[4] = 1.0", "has 4 positions"},
      {"t = wp.tile_zeros(shape=(2, 3), dtype=wp.vec2)\nt[0, -4] = wp.vec2()", "has 3 positions"},
      {"t = wp.tile_load(x, shape=4)\nt[0] = t[0] + 1.0", "the value may read this element of the tile"},
      {"t = wp.tile_load(x, shape=4)\nt[n] = wp.sin(t[1])", "the value may read this element of the tile"},
      {"t = wp.tile_zeros(shape=(2, 3), dtype=wp.vec2)\nt[0, n] = t[1, n] * 2.0", "the value may read this element"},
      {"t = wp.tile_load(x, shape=4)\nv = t[0]\nt[0] = v + 1.0", "line 5 may read this element of the tile"},
      {"t = wp.tile_load(x, shape=4)\nv = wp.tile_extract(t, 1)\nt[0] = 0.0\nt[n] = v", "line 5 may read this element"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nv = t[1]\nt[0] = t[2]\nt[1] = v", "line 5 may read this element"},
      {"t = wp.tile_load(x, shape=4)\ns = float(0.0)\nfor k in range(n):\n    s += t[k]\nt[3] = s", "line 7 may read"},
      {"t = wp.tile_load(x, shape=4)\nv = t[0]\nif n > 1:\n    t = wp.tile_zeros(shape=4, dtype=float)\nt[0] = v",
       "line 5 may read"},
      {"t = wp.tile_load(x, shape=4)\nu = t[n:]", "compile-time constants"},
      {"t = wp.tile_load(x, shape=4)\nu = t[2:2]", "the slice is empty"},
      {"t = wp.tile_load(x, shape=4)\nu = t[0:2, 1]", "the tile has 1 dimension"},
      {"t = wp.tile_load(x, shape=4)\nt[0:2] = t[2:4]", "cannot assign to the result of an expression"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nt[1] += wp.vec2(1.0)", "every thread of the block"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2) + wp.vec2(1.0)", "two tiles only"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2) % 2.0", "this operator does not support"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2) * wp.tile_load(x, shape=3)", "the same shape"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nwp.tile_store(x, t)", "incompatible with array type"},
      {"t = wp.tile_full(shape=4, value=1.0, dtype=wp.vec2)", "expected a value of type vec2"},
      {"t = wp.tile_ones(shape=4, dtype=wp.vec2) if n > 0 else wp.tile_zeros(shape=4, dtype=wp.vec2)",
       "use a separate statement"},
      {"t = wp.tile_broadcast(wp.tile_zeros(shape=4, dtype=wp.vec2), shape=(2, 4))",
       "does not support tiles of vectors"},
      {"t = wp.tile_transpose(wp.tile_zeros(shape=4, dtype=wp.vec2))", "only tiles of two dimensions"},
      {"t = wp.tile_load(a, shape=(2, 2, 2))", "the tile has 3 dimensions, but the array has 2"},
      {"t = wp.tile_zeros(shape=(1, 1, 1, 1, 1), dtype=float)", "one to four dimensions"},
      {"t = wp.tile_zeros(shape=(2, 2, 2), dtype=float)\nu = t[0]", "index every dimension"},
      {"t = wp.tile_zeros(shape=(2, 2, 2), dtype=float)\nu = wp.tile_extract(t, 0, 1)", "2 indices are given"},
      {"t = wp.tile_zeros(shape=(2, 2, 2), dtype=float)\nu = wp.tile_reshape(t, shape=(2, 3))",
       "the same number of elements"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nif n > 0:\n    t = wp.tile_zeros(shape=3, dtype=wp.vec2)",
       "the shape of the variable"},
      {"t = wp.tile_zeros(shape=(2, 2, 2), dtype=float)\nu = wp.tile_reshape(t, shape=(8,))\nu[0] = 1.0",
       "shares memory with another one"},
      {"t = wp.tile_zeros(shape=(2, 2, 2), dtype=float)\nu = wp.tile_reshape(t, shape=(8,))\nt[0, 0, 0] = 1.0",
       "shares memory with another one"},
      {"t = wp.tile_sum(wp.tile_zeros(shape=(2, 2, 2), dtype=float), axis=3)", "axis must be the number"},
      {"t = wp.tile_sum(wp.tile_zeros(shape=(2, 2, 2), dtype=bool))", "cannot be added"},
      {"t = wp.tile_reduce(wp.max, wp.tile_zeros(shape=4, dtype=wp.mat22))", "only tiles of numbers"},
      {"t = wp.tile_reduce(wp.max, wp.tile_zeros(shape=(2, 2), dtype=float), axis=2)", "axis must be the number"},
      {"t = wp.tile_reduce(wp.max, wp.tile_zeros(shape=(200, 2), dtype=float), axis=0)",
       "can reduce at most 128 elements along an axis, got 200"},
      {"t = wp.tile_reduce(wp.min, wp.tile_zeros(shape=(2, 2, 2), dtype=float), axis=0)",
       "only wp.add can reduce this tile along an axis"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nwp.tile_fft(t)", "with two or more dimensions"},
      {"t = wp.tile_zeros(shape=(1, 4), dtype=wp.vec2)\nwp.tile_fft(t * 2.0)", "expected a variable"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nwp.atomic_add(x, 0, 1.0)", "use wp.tile_atomic_add"},
  };
  for (const RejectedTiles& rejected : kRejected) {
    EXPECT_NE(rejection(rejected.body).find(rejected.reason), std::string::npos) << rejected.body << "\n"
                                                                                 << rejection(rejected.body);
  }
}

TEST(Tiles, RejectMappedFunctionThatReturnsBool) {
  const std::string above = "@wp.func\ndef positive(x: float):\n    return x > 0.0\n";
  const ParsedFile file =
      read(kernel("x: wp.array(dtype=float)", "t = wp.tile_map(positive, wp.tile_load(x, shape=4))", above));
  EXPECT_TRUE(file.module.kernels.empty());
  EXPECT_NE(messages(file).find("in k: positive: the mapped function returns bool"), std::string::npos)
      << messages(file);
}

}  // namespace
}  // namespace assay::frontend::testing
