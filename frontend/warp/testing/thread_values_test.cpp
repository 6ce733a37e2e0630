// Values that differ between the threads of a block, and the rejection of what more threads would do otherwise.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/warp/testing/parse.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFunctions = R"(import warp as wp
@wp.func
def add(a: wp.array(dtype=float), i: int, value: float):
    wp.atomic_add(a, i, value)
@wp.func
def counted(a: wp.array(dtype=float), i: int, value: float):
    return wp.atomic_add(a, i, value) + 1.0
@wp.func
def put(a: wp.array(dtype=float), i: int, value: float):
    a[i] = value
@wp.func
def total(value: float):
    return wp.tile_sum(wp.tile(value))[0]
)";

/// Parses a kernel with these statements, after `i, lane = wp.tid()`.
ParsedFile parse(std::string_view statements, std::string_view indices = "i, lane") {
  std::string body;
  for (std::size_t at = 0; at < statements.size();) {
    const std::size_t end = std::min(statements.find('\n', at), statements.size());
    body += fmt::format("    {}\n", statements.substr(at, end - at));
    at = end + 1;
  }
  return read(
      fmt::format("{}@wp.kernel\ndef k(x: wp.array(dtype=float), m: wp.array(dtype=wp.mat22), n: wp.array(dtype=int), "
                  "bvh: wp.uint64):\n    {} = wp.tid()\n{}",
                  kFunctions, indices, body));
}

std::string kernel_text(const ParsedFile& file) {
  const std::string text = ir::to_text(file.module);
  return text.substr(text.find("kernel "));
}

TEST(ThreadValues, TilesOfThreadsHaveOneValue) {
  const ParsedFile file = parse("t = wp.tile(x[i])\nx[i] = wp.untile(t * 2.0)\nwp.tile_atomic_add(x, wp.tile_sum(t))");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_THAT(kernel_text(file), HasSubstr("let t: tile<f32,1> = splat<tile<f32,1>>(x["));
  EXPECT_THAT(kernel_text(file), HasSubstr("tile_extract("));
}

TEST(ThreadValues, BlocksHaveOneThread) {
  const ParsedFile one = parse("x[i] = wp.untile(wp.tile(x[i])) * float(wp.block_dim())", "i");
  ASSERT_EQ(one.module.kernels.size(), 1U) << messages(one);
  EXPECT_THAT(one.module.kernels[0].annotations, ElementsAre("domain: 1 <= block_dim <= 1"));
  EXPECT_THAT(messages(one), HasSubstr("note: in k: k: the threads of a block have different values"));
  const ParsedFile two = parse("x[i] = wp.untile(wp.tile(x[i]))");
  ASSERT_EQ(two.module.kernels.size(), 1U) << messages(two);
  EXPECT_THAT(two.module.kernels[0].annotations, ElementsAre("launch: (_, 1)"));
  const ParsedFile both = parse("t = wp.tile_load(x, shape=4)\nx[i] = t[0] + float(wp.block_dim())");
  ASSERT_EQ(both.module.kernels.size(), 1U) << messages(both);
  EXPECT_THAT(both.module.kernels[0].annotations, ElementsAre("domain: 1 <= block_dim <= 1", "launch: (_, block_dim)"));
}

TEST(ThreadValues, FunctionsMayReduceValuesOfThreads) {
  const ParsedFile file = parse("x[i] = total(x[i])");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_THAT(file.module.kernels[0].annotations, ElementsAre("launch: (_, 1)"));
}

TEST(ThreadValues, AtomicsOfThreadsAreParsed) {
  for (const char* const body : {
           "t = wp.tile(x[i])\nwp.atomic_add(x, lane, 1.0)",
           "s = wp.tile_sum(wp.tile(x[i]))\nif lane == 0:\n    wp.atomic_add(x, 0, s[0])",
           "v = wp.untile(wp.tile(x[0]))\nwp.atomic_add(x, 0, v)",
           "s = wp.tile_stack(capacity=4, dtype=int)\nslot = wp.tile_stack_push(s, 1, True)\n"
           "wp.atomic_add(n, 0, slot)",
           "s = wp.tile_stack(capacity=4, dtype=float)\nv, slot = wp.tile_stack_pop(s)\nwp.atomic_add(x, 0, v)",
           "t = wp.tile(x[0])\nfor k in range(lane, 8):\n    wp.atomic_add(x, 0, 1.0)",
           "t = wp.tile(x[0])\nv = float(0.0)\nwhile v < x[lane]:\n    v += 1.0\nwp.atomic_add(x, 0, v)",
           "t = wp.tile(x[0])\nif lane > 0:\n    return\nwp.atomic_add(x, 0, 1.0)",
           "t = wp.tile(x[0])\nold = wp.atomic_add(n, lane, 1)\nwp.atomic_add(x, 0, float(old))",
           "t = wp.tile(x[0])\nadd(x, 0, x[i])",
           "t = wp.tile(x[0])\nv = counted(x, 0, x[i])",
           "t = wp.tile_load(x, shape=4)\nput(x, 0, t[0])",
       })
    EXPECT_THAT(messages(parse(body)), Not(HasSubstr("error"))) << body;
}

struct Rejected {
  std::string_view body;
  std::string_view reason;
};

TEST(ThreadValues, RejectWhatMoreThreadsWouldRepeatOrCannotDo) {
  const Rejected kRejected[] = {
      {"s = wp.tile_sum(wp.tile(x[i]))\nwp.atomic_add(x, 0, s[0])", "every thread of the block would execute this"},
      {"t = wp.tile(x[i], preserve_type=True)\nwp.atomic_add(x, 0, t[0])", "would execute this atomic"},
      {"s = wp.tile_stack(capacity=4, dtype=int)\nslot = wp.tile_stack_push(s, 1, lane > 0)\n"
       "wp.atomic_add(n, 0, wp.tile_stack_count(s))",
       "would execute this atomic"},
      {"t = wp.tile(x[i])\nadd(x, 0, 1.0)", "would execute the atomics of this call"},
      {"t = wp.tile_load(x, shape=4)\nadd(x, i, t[0])", "would execute the atomics of this call"},
      {"t = wp.tile_load(x, shape=4)\nv = counted(x, i, t[0])", "would execute the atomics of this call"},
      {"v = wp.untile(wp.tile_load(x, shape=4))", "the last extent of the tile is 4"},
      {"v = wp.untile(x[0])", "expected a tile, got float32"},
      {"v = wp.untile(wp.tile_zeros(shape=(2, 2, 2, 1), dtype=float))", "the elements of a vector or matrix"},
      {"t = wp.tile(lane > 0)\nv = t & t", "this operator does not support"},
      {"t = wp.tile(x[i], preserve_type=lane)", "'preserve_type' must be a constant bool"},
      {"t = wp.tile(x)", "arrays cannot be used as values"},
      {"t = wp.tile()", "argument 'x' is missing"},
      {"t = wp.tile(m[i]) if lane > 0 else wp.tile(m[0])", "use a separate statement"},
      {"t = wp.tile_zeros(shape=4, dtype=float)\nwp.tile_scatter_add(t, 4, 1.0, True)", "the offset 4 is outside"},
      {"t = wp.tile_zeros(shape=4, dtype=float)\nwp.tile_scatter_add(t, 0, 0, 0, 1.0, True)", "expected 1 index"},
      {"t = wp.tile_zeros(shape=4, dtype=float)\nwp.tile_scatter_add(t, 0, 1.0, True, lane > 0)", "'atomic' must be"},
      {"t = wp.tile_zeros(shape=4, dtype=float)\nwp.tile_scatter_masked(t, 0, lane, True)",
       "expected float32, got int32"},
      {"t = wp.tile_zeros(shape=4, dtype=wp.vec2)\nwp.tile_scatter_add(t * 2.0, 0, wp.vec2(), True)",
       "the changed tile must be a variable"},
      {"wp.tile_scatter_add(wp.tile_zeros(shape=4, dtype=float), 0, 1.0, True)", "must be a variable"},
      {"s = wp.tile_stack(capacity=n[0], dtype=int)", "the capacity of a stack must be a constant"},
      {"s = wp.tile_stack(capacity=4)", "dtype of a stack"},
      {"c = wp.tile_stack_count(x)", "expected a variable that holds the result of wp.tile_stack"},
      {"s = wp.tile_stack(capacity=4, dtype=int)\nwp.tile_stack_push(s, 1.5, True)", "expected int32, got float32"},
      {"s = wp.tile_stack(capacity=4, dtype=int)\nv = wp.tile_stack_pop(s)", "unpack the results"},
      {"s = wp.tile_stack(capacity=4, dtype=int)\na, b, c = wp.tile_stack_pop(s)", "function returns 2 values"},
      {"r = wp.tile_bvh_query_next(bvh)", "query must be a variable"},
      {"q = wp.tile_bvh_query_aabb(bvh, x[0], x[0])", "expected vec3"},
  };
  for (const Rejected& rejected : kRejected)
    EXPECT_THAT(messages(parse(rejected.body)), HasSubstr(std::string(rejected.reason))) << rejected.body;
}

}  // namespace
}  // namespace assay::frontend::testing
