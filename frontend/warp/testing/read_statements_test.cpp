// Statements: thread indices, control flow, and the scopes of Python variables.

#include "frontend/warp/testing/golden.hpp"

namespace assay::frontend::testing {
namespace {

const Golden kCases[] = {
    {.name = "ThreadIndex1",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
i = wp.tid()
x[i] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; i) {
  x[i] = a
}
)"},
    {.name = "ThreadIndex2",
     .parameters = "x: wp.array2d(dtype=float)",
     .body = R"(
i, j = wp.tid()
x[i, j] = float(i)
)",
     .module = R"(
kernel k(x: array<f32,2>; i, j) {
  x[i, j] = cast<f32>(i)
}
)"},
    {.name = "ThreadIndex4",
     .parameters = "x: wp.array4d(dtype=float)",
     .body = R"(
i, j, k, l = wp.tid()
x[i, j][k, l] = 1.0
)",
     .module = R"(
kernel k(x: array<f32,4>; i, j, k, l) {
  x[i, j, k, l] = 1.0
}
)"},
    {.name = "ReversedRange",
     .parameters = "x: wp.array(dtype=float), n: int",
     .body = R"(
for i in reversed(range(n)):
    x[i] = 1.0
for i in reversed(range(n, n - 4, -1)):
    x[0] = float(i)
for i in reversed(range(1, 12, 4)):
    x[1] = float(i)
for i in reversed(range(5, 2)):
    x[2] = float(i)
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32; thread) {
  for i: i32 in range(sub(n, 1), -1, -1) {
    x[i] = 1.0
  }
  for i_1: i32 in range(add(sub(n, 4), 1), add(n, 1), 1) {
    x[0] = cast<f32>(i_1)
  }
  for i_2: i32 in range(9, -3, -4) {
    x[1] = cast<f32>(i_2)
  }
  for i_3: i32 in range(5, 5, -1) {
    x[2] = cast<f32>(i_3)
  }
}
)"},
    {.name = "LoopVariableAfterLoop",
     .parameters = "x: wp.array(dtype=int), n: int",
     .body = R"(
for i in range(4):
    if x[i] > n:
        break
x[0] = i
for i in range(3, 5):
    i += n
x[1] = i
)",
     .module = R"(
kernel k(x: array<i32,1>, n: i32; thread) {
  let i: i32 = 0
  for i_1: i32 in range(0, 4, 1) {
    i = i_1
    if gt(x[wrap_index(i, shape(x, 0))], n) {
      break
    }
  }
  x[0] = i
  for i_2: i32 in range(3, 5, 1) {
    i = i_2
    i = add(i, n)
  }
  x[1] = i
}
)"},
    {.name = "StaticOfLoopVariable",
     .parameters = "x: wp.array(dtype=float), v: wp.vec3",
     .body = R"(
for i in range(2):
    for j in range(i, 2):
        x[j] = float(wp.static(10 * i + j))
    if wp.static(i == 1):
        x[i] = v[wp.static(i):][0]
)",
     .module = R"(
kernel k(x: array<f32,1>, v: vec<f32,3>; thread) {
  if true {
    let i: i32 = 0
    if true {
      let j: i32 = 0
      x[j] = 0.0
    }
    if true {
      let j_1: i32 = 1
      x[j_1] = 1.0
    }
  }
  if true {
    let i_1: i32 = 1
    if true {
      let j_2: i32 = 1
      x[j_2] = 11.0
    }
    if true {
      x[i_1] = extract(make<vec<f32,2>>(extract(v, 1), extract(v, 2)), 0)
    }
  }
}
)"},
    {.name = "StaticElementsOfListsAndTuples",
     .above = R"(
WEIGHTS = [
    1.0,
    2.0,
]
STEPS = (4, 5)
)",
     .parameters = "x: wp.array(dtype=float)",
     .body = R"(
for i in range(2):
    x[wp.static(STEPS[-1 - i])] = wp.static(WEIGHTS[i]) + wp.static(float(WEIGHTS[1]))
)",
     .module = R"(
kernel k(x: array<f32,1>; thread) {
  if true {
    let i: i32 = 0
    x[5] = add(1.0, 2.0)
  }
  if true {
    let i_1: i32 = 1
    x[4] = add(2.0, 2.0)
  }
}
)"},
    {.name = "EffectsInConditions",
     .parameters = "x: wp.array(dtype=float), c: wp.array(dtype=int), n: int",
     .body = R"(
if n > 0 or wp.atomic_add(c, 0, 1) < 3:
    x[0] = 1.0
while n < 9 and wp.atomic_add(c, 1, 1) < 3:
    x[1] = 2.0
x[2] = 3.0 if n < 4 else float(wp.atomic_max(c, 2, n))
if 0 < n < wp.atomic_add(c, 3, 1):
    x[3] = 4.0
)",
     .module = R"(
kernel k(x: array<f32,1>, c: array<i32,1>, n: i32; thread) {
  let test: bool = gt(n, 0)
  if not(test) {
    let old: i32 = atomic_add(c[0], 1)
    test = lt(old, 3)
  }
  if test {
    x[0] = 1.0
  }
  while true {
    let test_1: bool = lt(n, 9)
    if test_1 {
      let old_1: i32 = atomic_add(c[1], 1)
      test_1 = lt(old_1, 3)
    }
    if not(test_1) {
      break
    }
    x[1] = 2.0
  }
  let chosen: f32 = 0.0
  if lt(n, 4) {
    chosen = 3.0
  } else {
    let old_2: i32 = atomic_max(c[2], n)
    chosen = cast<f32>(old_2)
  }
  x[2] = chosen
  let old_3: i32 = atomic_add(c[3], 1)
  if and(lt(0, n), lt(n, old_3)) {
    x[3] = 4.0
  }
}
)"},
    {.name = "ThreadIndexInExpression",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[wp.tid()] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; tid) {
  x[tid] = a
}
)"},
    {.name = "ThreadIndexReassigned",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
i = wp.tid()
i += n
x[i] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; i) {
  let i_1: i32 = i
  i_1 = add(i_1, n)
  x[wrap_index(i_1, shape(x, 0))] = a
}
)"},
    {.name = "NoThreadIndex",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = a
}
)"},
    {.name = "IfElse",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if n == 0:
    x[0] = 1.0
elif n == 1:
    x[1] = 1.0
elif n == 2:
    pass
else:
    x[2] = 1.0
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  if eq(n, 0) {
    x[0] = 1.0
  } else if eq(n, 1) {
    x[1] = 1.0
  } else if eq(n, 2) {
  } else {
    x[2] = 1.0
  }
}
)"},
    {.name = "EarlyReturn",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
i = wp.tid()
if i >= n:
    return
x[i] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; i) {
  if ge(i, n) {
    return
  }
  x[i] = a
}
)"},
    {.name = "Ranges",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for i in range(n):
    x[i] = a
for i in range(1, n):
    x[i] = a
for i in range(10, 0, -2):
    x[i] = a
for i in range(0, n, n):
    x[i] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  for i: i32 in range(0, n, 1) {
    x[i] = a
  }
  for i_1: i32 in range(1, n, 1) {
    x[i_1] = a
  }
  for i_2: i32 in range(10, 0, -2) {
    x[i_2] = a
  }
  for i_3: i32 in range(0, n, n) {
    x[wrap_index(i_3, shape(x, 0))] = a
  }
}
)"},
    {.name = "LoopVariableThatAnInnerLoopReuses",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for k in range(2):
    for k in range(3):
        x[k] = a
    x[k + 4] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  for k: i32 in range(0, 2, 1) {
    let k_1: i32 = k
    for k_2: i32 in range(0, 3, 1) {
      k_1 = k_2
      x[wrap_index(k_1, shape(x, 0))] = a
    }
    x[wrap_index(add(k_1, 4), shape(x, 0))] = a
  }
}
)"},
    {.name = "LoopVariableReassigned",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for i in range(n):
    i = i * 2
    x[i] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  for i: i32 in range(0, n, 1) {
    let i_1: i32 = i
    i_1 = mul(i_1, 2)
    x[wrap_index(i_1, shape(x, 0))] = a
  }
}
)"},
    {.name = "While",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
j = int(0)
while j < n:
    j += 1
    if j == 3:
        continue
    x[j] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let j: i32 = 0
  while lt(j, n) {
    j = add(j, 1)
    if eq(j, 3) {
      continue
    }
    x[wrap_index(j, shape(x, 0))] = a
  }
}
)"},
    {.name = "WhileTrue",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
j = int(0)
while True:
    s = a * 2.0
    j += 1
    if j > n:
        break
x[j] = s
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let j: i32 = 0
  let s: f32 = 0.0
  while true {
    s = mul(a, 2.0)
    j = add(j, 1)
    if gt(j, n) {
      break
    }
  }
  x[wrap_index(j, shape(x, 0))] = s
}
)"},
    {.name = "ReturnFromWhileTrue",
     .above = R"(
@wp.func
def f(a: float, n: int):
    j = int(0)
    while True:
        j += 1
        if j > n:
            return a * float(j)
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
x[0] = f(a, n)
)",
     .module = R"(
func f(a: f32, n: i32) -> f32 {
  let j: i32 = 0
  while true {
    j = add(j, 1)
    if gt(j, n) {
      return mul(a, cast<f32>(j))
    }
  }
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = f(a, n)
}
)"},
    {.name = "VariableAssignedInBothBranches",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if n > 0:
    s = a
    t = s * 2.0
else:
    s = 2.0 * a
    t = 1.0
x[0] = s + t
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let s: f32 = 0.0
  let t: f32 = 0.0
  if gt(n, 0) {
    s = a
    t = mul(s, 2.0)
  } else {
    s = mul(2.0, a)
    t = 1.0
  }
  x[0] = add(s, t)
}
)"},
    {.name = "SeparateVariablePerBlock",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for i in range(n):
    s = a
    x[i] = s
for i in range(n):
    s = 2.0
    x[i] = s
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  for i: i32 in range(0, n, 1) {
    let s: f32 = a
    x[i] = s
  }
  for i_1: i32 in range(0, n, 1) {
    let s_1: f32 = 2.0
    x[i_1] = s_1
  }
}
)"},
    {.name = "VariableUpdatedInLoop",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
s = float(0.0)
for i in range(n):
    if x[i] > 0.0:
        s += x[i]
x[0] = s
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let s: f32 = 0.0
  for i: i32 in range(0, n, 1) {
    if gt(x[i], 0.0) {
      s = add(s, x[i])
    }
  }
  x[0] = s
}
)"},
    {.name = "VariableAssignedInLoopWithConstantBounds",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for i in range(3):
    s = x[i]
x[0] = s
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let s: f32 = 0.0
  for i: i32 in range(0, 3, 1) {
    s = x[i]
  }
  x[0] = s
}
)"},
    {.name = "ParameterReassigned",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
a = a + 1.0
if n > 2:
    n = 0
x[n] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let n_1: i32 = n
  let a_1: f32 = a
  a_1 = add(a_1, 1.0)
  if gt(n_1, 2) {
    n_1 = 0
  }
  x[wrap_index(n_1, shape(x, 0))] = a_1
}
)"},
    {.name = "DebugCallsKeepSideEffectsOfArguments",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
state = wp.rand_init(7)
wp.expect_eq(wp.atomic_add(x, 0, a), 0.0)
print(wp.randi(state))
wp.expect_near(x[1], a, 0.1)
x[2] = float(wp.randi(state))
)",
     .module = R"(
func wp_random_step(x: u32) -> u32 {
  let next: u32 = add(mul(x, 747796405:u32), 2891336453:u32)
  let word: u32 = mul(bit_xor(shift_right(next, add(shift_right(next, 28:u32), 4:u32)), next), 277803737:u32)
  return bit_xor(shift_right(word, 22:u32), word)
}

func wp_rand_init(x: i32) -> u32 {
  return wp_random_step(cast<u32>(x))
}

func wp_randi(x: u32) -> i32, u32 {
  let state: u32 = x
  state = wp_random_step(state)
  return cast<i32>(state), state
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let state: u32 = wp_rand_init(7)
  let old: f32 = atomic_add(x[0], a)
  let drawn: i32, next_state: u32 = call wp_randi(state)
  state = next_state
  let drawn_1: i32, next_state_1: u32 = call wp_randi(state)
  state = next_state_1
  x[2] = cast<f32>(drawn_1)
}
)"},
    {.name = "ReturnOfCallWithTwoResults",
     .above = R"(
@wp.func
def two(a: float):
    return a, 2.0 * a
@wp.func
def both(a: float):
    return two(a)
)",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
p, q = both(a)
x[0] = p + q
)",
     .module = R"(
func two(a: f32) -> f32, f32 {
  return a, mul(2.0, a)
}

func both(a: f32) -> f32, f32 {
  let result: f32, result_1: f32 = call two(a)
  return result, result_1
}

kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let p: f32, q: f32 = call both(a)
  x[0] = add(p, q)
}
)"},
    {.name = "VariableAssignedOnOnePath",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
if n > 0:
    s = a
x[0] = s
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let s: f32 = 0.0
  let s_is_assigned: bool = false
  let s_before_assignment: local<i32,1>
  if gt(n, 0) {
    s = a
    s_is_assigned = true
  }
  x[0] = where(eq(s_before_assignment[cast<i32>(not(s_is_assigned))], 0), s, s)
}
)"},
    {.name = "PartOfVariableAssignedInAnEarlierIteration",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
for i in range(n):
    if i == 0:
        v = wp.vec2(a, a)
    else:
        x[i] = v[1]
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let v: vec<f32,2>
  let v_is_assigned: bool = false
  let v_before_assignment: local<i32,1>
  for i: i32 in range(0, n, 1) {
    if eq(i, 0) {
      v = make<vec<f32,2>>(a, a)
      v_is_assigned = true
    } else {
      x[i] = where(eq(v_before_assignment[cast<i32>(not(v_is_assigned))], 0), extract(v, 1), extract(v, 1))
    }
  }
}
)"},
    {.name = "LoopVariableAfterLoopWithoutIterations",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
k = 5
x[k] = a
for k in range(n):
    pass
x[k] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let k: i32 = 5
  let k_is_assigned: bool = true
  let k_before_assignment: local<i32,1>
  x[wrap_index(k, shape(x, 0))] = a
  k_is_assigned = false
  for k_1: i32 in range(0, n, 1) {
    k = k_1
    k_is_assigned = true
  }
  x[wrap_index(where(eq(k_before_assignment[cast<i32>(not(k_is_assigned))], 0), k, k), shape(x, 0))] = a
}
)"},
    {.name = "LoopVariableThatHidesTheThreadIndex",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
i = wp.tid()
x[i] = a
for i in range(n):
    x[i] += a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; i) {
  let i_1: i32 = i
  x[i_1] = a
  for i_2: i32 in range(0, n, 1) {
    atomic_add(x[i_2], a)
  }
}
)"},
    {.name = "InnerLoopLeavesAnOuterVariableUnassigned",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
k = 0
for j in range(3):
    x[k] = a
    for k in range(n):
        pass
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  let k: i32 = 0
  let k_is_assigned: bool = true
  let k_before_assignment: local<i32,1>
  for j: i32 in range(0, 3, 1) {
    x[wrap_index(where(eq(k_before_assignment[cast<i32>(not(k_is_assigned))], 0), k, k), shape(x, 0))] = a
    k_is_assigned = false
    for k_1: i32 in range(0, n, 1) {
      k = k_1
      k_is_assigned = true
    }
  }
}
)"},
    {.name = "IgnoredAndUnreachableStatements",
     .parameters = "x: wp.array(dtype=float), n: int, a: float",
     .body = R"(
"""doc"""
print(a)
assert a > 0.0
x[0] = a  # why
return
x[1] = a
)",
     .module = R"(
kernel k(x: array<f32,1>, n: i32, a: f32; thread) {
  x[0] = a
  return
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Statements, GoldenKernelTest, ::testing::ValuesIn(kCases), golden_name);

}  // namespace
}  // namespace assay::frontend::testing
