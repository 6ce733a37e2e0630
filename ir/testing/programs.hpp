// Programs in text form for the tests of this folder; together they use every construct of the language.
#pragma once

#include <string_view>

namespace assay::ir::testing {

inline constexpr std::string_view kEverything = R"(struct Inner {
  active: bool
  velocity: vec<f32,3>
}

struct Particle {
  inner: Inner
  data: array<f64,2>
  turn: quat<f32>
  frame: transform<f16>
  inertia: mat<f32,2,3>
}

func square(x: f32) -> f32 {
  return mul(x, x)
}

# any number of lines
func both(x: f32, nullable out: array<f32,1>) -> f32, i32 {
  out[0] = x
  return square(x), 7
}

func effect(nullable out: array<f32,1>) {
  out[0] = 1.0
}

func square_gradient(x: f32, w: f32) -> f32 {
  return mul(w, add(x, x))
}

func square_again(x: f32) -> f32 {
  return mul(x, x)
}

gradient square = square_gradient

replay square = square_again

# launch: (n, m)
# domain: 0 <= k < 3
kernel everything(x: array<f32,2>, nullable grad: array<f32,1>, p: Particle, counts: array<u32,1>, k: i64, all: array<Particle,1>; i, j) {
  let t: f32 = x[i, j]
  let zero: vec<f32,3>
  let buffer: local<f32,64>
  buffer[3] = 0.1
  let big: u64 = 18446744073709551615:u64
  let small: i64 = -9223372036854775808:i64
  let half: f16 = -0.0:f16
  let third: bf16 = 0.333984375:bf16
  let bad: bool = or(isnan(nan), eq(-inf, 1e-45))
  let odd: f64 = nan(0xfff8000000000001):f64
  t = conditional(and(bad, true), add(t, 3.4028235e+38), cast<f32>(big))
  let wide: vec<f64,4> = splat<vec<f64,4>>(inf:f64)
  let moved: Inner = with_field(p.inner, velocity, make<vec<f32,3>>(t, 0.0, 1.0))
  let a: f32, b: i32 = call both(t, grad)
  call effect(grad)
  atomic_add(grad[i], square(a))
  atomic_sub(all[b].inner.velocity, zero)
  let old: u32 = atomic_cas(counts[b], 0:u32, 1:u32)
  if lt(i, shape(x, 0)) {
    return
  } else if gt(i, 5) {
    x[i, j] = extract(moved.velocity, 1)
  } else {
    if not(p.inner.active) {
    }
    t = -2.5
  }
  for n: i64 in range(0:i64, k, -1:i64) {
    if eq(n, 4:i64) {
      continue
    }
    t = sub(t, cast<f32>(n))
  }
  while true {
    break
  }
  augment buffer[4] = add(buffer[4], t)
  augment zero = insert(zero, 1, sub(extract(zero, 1), t))
}
)";

}  // namespace assay::ir::testing
