// Tests of copies of boxes of tensors, and of the instructions that write tensor maps.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/execute/tensor_map.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::expect_clean;
using testing::expect_first;
using testing::kernel_of;
using Kind = CheckFinding::Kind;
using ::testing::HasSubstr;

constexpr std::uint32_t kWidth = 40;   ///< number of columns of the tensor
constexpr std::uint32_t kHeight = 12;  ///< number of rows of the tensor
constexpr std::uint32_t kBoxWidth = 32;
constexpr std::uint32_t kBoxHeight = 8;
constexpr std::uint8_t kU32Code = 2;
constexpr std::uint8_t kF32Code = 7;

/// A tensor of 12 rows and 40 columns, with boxes of 8 rows and 32 columns.
TensorMap tensor(std::uint8_t swizzle = 0) {
  return {.address = 0,
          .strides = {kWidth * 4},
          .extents = {kWidth, kHeight},
          .box = {kBoxWidth, kBoxHeight},
          .element_strides = {1, 1},
          .rank_code = 1,
          .element_code = kU32Code,
          .swizzle_code = swizzle};
}

/// %r1: thread; %r2: its word of s; %r4: s; %r5: the mbarrier object; %rd1: tensor; %rd2: tensor map in the parameters;
/// %rd3: output; %rd4: its word of the output; %rd5: address of a tensor map in global memory.
constexpr std::string_view kStart =
    ".shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 object; .shared .align 128 .b8 map[128];\n"
    " ld.param.u64 %rd1, [p0]; mov.u64 %rd6, p1; cvta.param.u64 %rd2, %rd6; ld.param.u64 %rd3, [p2];"
    " ld.param.u64 %rd5, [p3]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd6, %r1, 4; add.s64 %rd4, %rd3, %rd6;"
    " mov.u32 %r4, s; mad.lo.u32 %r2, %r1, 4, %r4; mov.u32 %r5, object; setp.eq.u32 %p1, %r1, 0; mov.u32 %r6, map;\n";
constexpr std::string_view kInit = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;\nbar.sync 0;\n";
constexpr std::string_view kWait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra W;\n";
/// Copies the 256 elements of the box to the output.
constexpr std::string_view kOutput = "ld.shared.u32 %r8, [%r2]; st.global.u32 [%rd4], %r8;\n";
constexpr std::string_view kFill = "add.u32 %r8, %r1, 1000; st.shared.u32 [%r2], %r8;\n";
constexpr std::string_view kFence = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
constexpr std::string_view kCommit = "@%p1 cp.async.bulk.commit_group;\n";
constexpr std::string_view kWaitForGroup = "@%p1 cp.async.bulk.wait_group 0;\n";

std::string expect(unsigned bytes) {
  return fmt::format("@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {};\n", bytes);
}
/// A load of the box at a column and a row.
std::string load(int column, int row, std::string_view map = "%rd2", std::string_view destination = "%r4") {
  return fmt::format(
      "mov.b32 %r10, {}; mov.b32 %r11, {};\n @%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx"
      "::bytes [{}], [{}, {{%r10, %r11}}], [%r5];\n",
      column, row, destination, map);
}
std::string store(int column, int row, std::string_view operation = "") {
  return fmt::format(
      "mov.b32 %r10, {}; mov.b32 %r11, {};\n @%p1 cp.{}async.bulk.tensor.2d.global.shared::cta{}.bulk_group"
      " [%rd2, {{%r10, %r11}}], [%r4];\n",
      column, row, operation.empty() ? "" : "reduce.", operation);
}

template <class... Parts>
std::string body(Parts... parts) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .align 64 .b8 "
         "p1[128],"
         " .param .u64 p2, .param .u64 p3)\n{\n.reg .pred %p<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>;\n" +
         std::string(kStart) + (std::string(parts) + ...) + "\nret;\n}\n";
}

struct TensorRun {
  RunResult result;
  std::vector<std::uint32_t> data;  ///< the tensor
  std::vector<std::uint32_t> output;
};

/// The element of the tensor; 0 outside of it.
std::uint32_t element(int column, int row) {
  if (column < 0 || row < 0 || column >= static_cast<int>(kWidth) || row >= static_cast<int>(kHeight)) return 0;
  return static_cast<std::uint32_t>(row) * kWidth + static_cast<std::uint32_t>(column) + 1;
}

/// Runs 256 threads. The tensor map is in the parameters and in global memory.
TensorRun run_threads(const std::string& text, TensorMap map = tensor(), std::size_t element_count = kWidth * kHeight,
                      AllocationFlags flags = {}) {
  TensorRun run;
  run.data.resize(element_count);
  for (std::size_t i = 0; i < element_count; ++i)
    run.data[i] = static_cast<std::uint32_t>(i) + 1;
  run.output.resize(256);
  Machine machine;
  const AllocationId x = machine.adopt("x", std::as_writable_bytes(std::span(run.data)), flags);
  const AllocationId y = machine.adopt("y", std::as_writable_bytes(std::span(run.output)));
  const AllocationId maps = machine.allocate("maps", 2 * kTensorMapBytes).value();
  if (map.address == 0) map.address = machine.address(x);
  const TensorMapBytes bytes = encode(map);
  std::ranges::copy(bytes, machine.bytes(maps).begin());
  KernelArguments arguments;
  arguments.add(machine.address(x)).add(bytes).add(machine.address(y)).add(machine.address(maps));
  const auto kernel = kernel_of(text);
  if (kernel == nullptr) return run;
  run.result = machine.launch(kernel, {{1}, {256}}, arguments, {});
  return run;
}
constexpr unsigned kBytes = kBoxWidth * kBoxHeight * 4;

TEST(TensorCopies, LoadsABoxAndFillsElementsOutsideOfTheTensorWithZeros) {
  for (const auto& [column, row] : {std::pair(0, 0), {5, 2}, {20, 8}, {-3, -2}, {100, 0}, {-64, 4}}) {
    const TensorRun done = run_threads(body(kInit, expect(kBytes), load(column, row), kWait, kOutput));
    expect_clean(done.result);
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(done.output[static_cast<std::size_t>(i)], element(column + i % 32, row + i / 32)) << column << " " << i;
  }
}

TEST(TensorCopies, SwizzlePermutesChunksOfRows) {
  // In rows of 128 bytes, the chunk of 16 bytes is xored with the number of the row; rows of 64 and 32 bytes share a
  // line of 128 bytes.
  for (std::uint8_t code = 1; code <= 3; ++code) {
    TensorMap map = tensor(code);
    const int width = 4 << code;
    map.box = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(256 / width)};
    map.extents = {kWidth, 64};
    const TensorRun done = run_threads(body(kInit, expect(kBytes), load(2, 1), kWait, kOutput), map, kWidth * 64);
    expect_clean(done.result);
    for (int i = 0; i < 256; ++i) {
      const int line = i / 32;
      const int chunk = i / 4 ^ (line & ((1 << code) - 1));
      const int at = chunk * 4 + i % 4;
      const auto expected =
          static_cast<std::uint32_t>((1 + at / width) * static_cast<int>(kWidth) + 2 + at % width + 1);
      ASSERT_EQ(done.output[static_cast<std::size_t>(i)], expected) << int{code} << " " << i;
    }
  }
}

TEST(TensorCopies, LoadsBoxesWithOneToFiveDimensions) {
  for (unsigned rank = 1; rank <= kMaxTensorRank; ++rank) {
    TensorMap map{.box = {64, 1, 1, 1, 1}, .element_strides = {1, 1, 1, 1, 1}, .element_code = kU32Code};
    map.rank_code = static_cast<std::uint8_t>(rank - 1);
    constexpr std::uint32_t kExtents[] = {64, 3, 2, 4, 2};
    std::uint64_t stride = 4;
    std::string coordinates;
    for (unsigned d = 0; d < rank; ++d) {
      map.extents[d] = kExtents[d];
      if (d > 0) map.strides[d - 1] = stride;
      if (d > 0) map.box[d] = 2;
      stride *= kExtents[d];
      coordinates += fmt::format("{}%r{}", d == 0 ? "" : ", ", d == 1 ? 10 : 11);
    }
    if (rank == kMaxTensorRank) map.box[4] = 1;
    if (rank > 3) map.box[0] = 32;
    // Coordinate 1 in dimension 1, and 0 in the others.
    const TensorRun done = run_threads(
        body(kInit, expect(static_cast<unsigned>(map.box_bytes())), "mov.b32 %r10, 1; mov.b32 %r11, 0;\n",
             fmt::format("@%p1 cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                         ".cta_group::1.L2::cache_hint [%r4], [%rd2, {{{}}}], [%r5], %rd1;\n",
                         rank, coordinates),
             kWait, fmt::format("setp.lt.u32 %p3, %r1, {};\n", map.box_bytes() / 4),
             "@%p3 ld.shared.u32 %r8, [%r2]; @%p3 st.global.u32 [%rd4], %r8;\n"),
        map, 64 * 3 * 2 * 4 * 2);
    expect_clean(done.result);
    for (std::uint64_t i = 0; i < map.box_bytes() / 4; ++i) {
      std::uint64_t rest = i;
      std::uint64_t address = 0;
      for (unsigned d = 0; d < rank; ++d) {
        address += (rest % map.box[d] + (d == 1 ? 1 : 0)) * (d == 0 ? 4 : map.strides[d - 1]);
        rest /= map.box[d];
      }
      ASSERT_EQ(done.output[i], address / 4 + 1) << rank << " " << i;
    }
  }
}

TEST(TensorCopies, AccessBeforeTheWaitIsDetected) {
  const RunResult early = run_threads(body(kInit, expect(kBytes), load(0, 0), "ld.shared.u32 %r8, [%r2];")).result;
  expect_first(early, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(early.findings[0]), HasSubstr("which its thread has not waited for"));
  expect_first(run_threads(body(kInit, expect(kBytes), load(0, 0), kFill)).result, Kind::kWriteWriteRace);
  // A wait for the phase before the one that the copy completes does not wait for the copy.
  expect_first(run_threads(body(kInit, expect(kBytes), load(0, 0),
                                "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 1; @!%p2 bra W;\n", kOutput))
                   .result,
               Kind::kReadWriteRace);
}

TEST(TensorCopies, IncorrectNumberOfBytesNeverCompletes) {
  for (const unsigned bytes : {kBytes - 128, kBytes + 16}) {
    const RunResult result = run_threads(body(kInit, expect(bytes), load(0, 0), kWait)).result;
    EXPECT_EQ(result.status, RunResult::Status::kInstructionLimit);
    EXPECT_THAT(result.message, HasSubstr("does not complete"));
  }
  // Elements outside of the tensor count, too.
  expect_clean(run_threads(body(kInit, expect(kBytes), load(30, 10), kWait)).result);
}

TEST(TensorCopies, AccessOutsideOfTheArrayIsDetected) {
  expect_first(run_threads(body(kInit, expect(kBytes), load(8, 4), kWait), tensor(), kWidth * kHeight - 1).result,
               Kind::kOutOfBounds);
  expect_clean(run_threads(body(kInit, expect(kBytes), load(0, 0), kWait), tensor(), kWidth * (kHeight - 4)).result);
  expect_first(
      run_threads(body(kFill, kFence, store(8, 4), kCommit, kWaitForGroup), tensor(), kWidth * kHeight - 1).result,
      Kind::kOutOfBounds);
  // The box does not fit into the variable.
  expect_first(run_threads(body(kInit, expect(kBytes), "add.u32 %r7, %r4, 1152;\n", load(0, 0, "%rd2", "%r7"))).result,
               Kind::kOutOfBounds);
}

TEST(TensorCopies, MisalignedDestinationIsDetected) {
  expect_first(run_threads(body(kInit, expect(kBytes), "add.u32 %r7, %r4, 64;\n", load(0, 0, "%rd2", "%r7"))).result,
               Kind::kMisaligned);
}

TEST(TensorCopies, UninitializedSourceIsDetected) {
  expect_first(
      run_threads(body(kInit, expect(kBytes), load(0, 0), kWait), tensor(), kWidth * kHeight, {.uninitialized = true})
          .result,
      Kind::kUninitializedRead);
  expect_first(run_threads(body(store(0, 0), kCommit)).result, Kind::kUninitializedRead);
}

TEST(TensorCopies, WriteToTheSourceBeforeTheWaitIsDetected) {
  expect_first(run_threads(body(kInit, expect(kBytes), load(0, 0),
                                "setp.eq.u32 %p3, %r1, 64; @%p3 st.global.u32 [%rd1], 5;\n", kWait))
                   .result,
               Kind::kReadWriteRace);
}

TEST(TensorCopies, StoresTheElementsOfABoxThatLieInTheTensor) {
  for (const auto& [column, row] : {std::pair(0, 0), {20, 8}, {-3, -2}}) {
    const TensorRun done = run_threads(body(kFill, kFence, store(column, row), kCommit, kWaitForGroup));
    expect_clean(done.result);
    for (int i = 0; i < static_cast<int>(kWidth * kHeight); ++i) {
      const int x = i % static_cast<int>(kWidth) - column, y = i / static_cast<int>(kWidth) - row;
      const bool is_in_box = x >= 0 && x < 32 && y >= 0 && y < 8;
      ASSERT_EQ(done.data[static_cast<std::size_t>(i)],
                static_cast<std::uint32_t>(is_in_box ? 1000 + y * 32 + x : i + 1));
    }
  }
}

TEST(TensorCopies, FaultyStoresAreDetected) {
  const RunResult fence = run_threads(body(kFill, "bar.sync 0;\n", store(0, 0), kCommit, kWaitForGroup)).result;
  expect_first(fence, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(fence.findings[0]), HasSubstr("which no fence.proxy.async follows"));
  expect_first(run_threads(body(kFill, kFence, store(0, 0), kCommit, "bar.sync 0;\n", kFill)).result,
               Kind::kReadWriteRace);
  expect_clean(run_threads(body(kFill, kFence, store(0, 0), kCommit,
                                "@%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\n", kFill))
                   .result);
  expect_first(run_threads(body(kFill, kFence, store(0, 0), kCommit, kWaitForGroup), tensor(), kWidth * kHeight,
                           {.read_only = true})
                   .result,
               Kind::kWriteToReadOnly);
}

TEST(TensorCopies, ReductionsCombineWithTheTensor) {
  const struct {
    std::string_view name;
    std::uint32_t (*combine)(std::uint32_t, std::uint32_t);
  } operations[] = {{".add", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
                    {".min", [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }},
                    {".max", [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }},
                    {".and", [](std::uint32_t a, std::uint32_t b) { return a & b; }},
                    {".or", [](std::uint32_t a, std::uint32_t b) { return a | b; }},
                    {".xor", [](std::uint32_t a, std::uint32_t b) { return a ^ b; }}};
  for (const auto& operation : operations) {
    const TensorRun done = run_threads(body("mul.lo.u32 %r8, %r1, 3; st.shared.u32 [%r2], %r8;\n", kFence,
                                            store(4, 2, operation.name), kCommit, kWaitForGroup));
    expect_clean(done.result);
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::size_t at = (2 + i / 32) * kWidth + 4 + i % 32;
      ASSERT_EQ(done.data[at], operation.combine(static_cast<std::uint32_t>(at) + 1, 3 * i)) << operation.name;
    }
  }
}

TEST(TensorCopies, BulkReductionsCombineWithTheArray) {
  const TensorRun done =
      run_threads(body("mul.lo.u32 %r8, %r1, 3; st.shared.u32 [%r2], %r8;\n", kFence,
                       "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r4], 1024;\n",
                       kCommit, kWaitForGroup));
  expect_clean(done.result);
  for (std::uint32_t i = 0; i < 256; ++i)
    ASSERT_EQ(done.data[i], 4 * i + 1);
}

TEST(TensorCopies, PrefetchesHaveNoEffect) {
  expect_clean(run_threads(body("mov.b32 %r10, 0; prefetch.tensormap [%rd2]; prefetch.param.tensormap [%rd2];\n"
                                "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd2, {%r10, %r10}];\n"
                                "cp.async.bulk.prefetch.L2.global [%rd1], 64;\n"))
                   .result);
}

TEST(TensorCopies, CopyToTheOwnBlockOfAClusterIsSupported) {
  const auto multicast = [](int mask) {
    return body(kInit, expect(kBytes),
                fmt::format("mov.b32 %r10, 1; .reg .b16 %rs<2>; mov.b16 %rs1, {};\n"
                            "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                            ".multicast::cluster [%r4], [%rd2, {{%r10, %r10}}], [%r5], %rs1;\n",
                            mask),
                kWait, kOutput);
  };
  const TensorRun done = run_threads(multicast(1));
  expect_clean(done.result);
  EXPECT_EQ(done.output[0], element(1, 1));
  EXPECT_EQ(run_threads(multicast(3)).result.status, RunResult::Status::kUnsupported);
}

/// Runs 256 threads with unrounded values. `prepare` gets the machine and the address of the tensor.
template <class T, class Prepare>
std::vector<UnroundedNumber> unrounded_values_of(const std::string& text, TensorMap map, std::vector<T> data,
                                                 bool of_output, Prepare prepare) {
  constexpr Type kType = sizeof(T) == 2 ? Type::kF16 : Type::kF32;
  Machine machine;
  std::vector<T> output(256);
  const AllocationId x = machine.adopt("x", std::as_writable_bytes(std::span(data)));
  const AllocationId y = machine.adopt("y", std::as_writable_bytes(std::span(output)));
  map.address = machine.address(x);
  prepare(machine, machine.address(x));
  KernelArguments arguments;
  arguments.add(machine.address(x)).add(encode(map)).add(machine.address(y)).add(machine.address(y));
  const auto kernel = kernel_of(text);
  if (kernel == nullptr) return {};
  const RunResult result = machine.launch(kernel, {{1}, {256}}, arguments, {.computes_unrounded_values = true});
  expect_clean(result);
  return machine.unrounded_values(machine.address(of_output ? y : x), kType, of_output ? output.size() : data.size());
}
constexpr double kTolerance = 1e-12;
constexpr std::string_view kReciprocal =
    ".reg .f32 %f<4>; .reg .b16 %rs<4>; add.u32 %r8, %r1, 3; cvt.rn.f32.u32 %f1, %r8; rcp.approx.f32 %f2, %f1;\n";

TEST(TensorCopies, ReductionsAddUnroundedValues) {
  TensorMap map = tensor();
  map.element_code = kF32Code;
  const auto values = unrounded_values_of(
      body(kReciprocal, "st.shared.f32 [%r2], %f2;\n", kFence, store(0, 0, ".add"), kCommit, kWaitForGroup), map,
      std::vector<float>(kWidth * kHeight, 1.0F), false, [](Machine&, std::uint64_t) {});
  ASSERT_EQ(values.size(), kWidth * kHeight);
  for (std::size_t i = 0; i < 256; ++i)
    ASSERT_NEAR(values[i / 32 * kWidth + i % 32].value, 1 + 1 / (static_cast<double>(i) + 3), kTolerance);
}

TEST(TensorCopies, BoxesAtOddColumnsOfHalvesKeepUnroundedValues) {
  constexpr std::uint8_t kF16Code = 6;
  TensorMap map = tensor();
  map.element_code = kF16Code;
  map.strides = {kWidth * 2};
  std::vector<std::uint16_t> data(kWidth * kHeight);
  const auto stored = unrounded_values_of(
      body(kReciprocal, "cvt.rn.f16.f32 %rs1, %f2; mad.lo.u32 %r2, %r1, 2, %r4; st.shared.b16 [%r2], %rs1;\n", kFence,
           store(1, 0), kCommit, kWaitForGroup),
      map, data, false, [](Machine&, std::uint64_t) {});
  ASSERT_EQ(stored.size(), data.size());
  for (std::size_t i = 0; i < 256; ++i)
    ASSERT_NEAR(stored[i / 32 * kWidth + 1 + i % 32].value, 1 / (static_cast<double>(i) + 3), kTolerance);

  constexpr std::uint16_t kOne = 0x3c00;
  constexpr double kDifference = 1e-5;
  const auto number = [](std::size_t i) { return 1 + static_cast<double>(i) / 1024 + kDifference; };
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::uint16_t>(kOne + i);
  const auto loaded = unrounded_values_of(
      body(kInit, expect(kBytes / 2), load(1, 0), kWait,
           ".reg .b16 %rs<4>; mad.lo.u32 %r2, %r1, 2, %r4; ld.shared.b16 %rs1, [%r2]; mul.wide.u32 %rd6, %r1, 2;"
           " add.s64 %rd4, %rd3, %rd6; st.global.b16 [%rd4], %rs1;\n"),
      map, data, true, [&](Machine& machine, std::uint64_t address) {
        for (std::size_t i = 0; i < data.size(); ++i)
          machine.set_unrounded_value(address + 2 * i, Type::kF16, {number(i), 0});
      });
  ASSERT_EQ(loaded.size(), 256U);
  for (std::size_t i = 0; i < 256; ++i)
    ASSERT_NEAR(loaded[i].value, number(i / 32 * kWidth + 1 + i % 32), kTolerance) << i;
}

TEST(TensorMaps, InvalidTensorMapsEndTheLaunch) {
  const std::string text = body(kInit, expect(kBytes), load(0, 0), kWait);
  const auto expect_trap = [&](const TensorMap& map, std::string_view message) {
    const RunResult result = run_threads(text, map).result;
    EXPECT_EQ(result.status, RunResult::Status::kTrapped);
    EXPECT_THAT(result.message, HasSubstr(message));
  };
  TensorMap map = tensor();
  map.strides[0] = 168;
  expect_trap(map, "the stride of dimension 1 must be a multiple of 16 bytes below 2^40, got 168");
  map = tensor();
  map.box[1] = 257;
  expect_trap(map, "must be from 1 to 256, got 257");
  map = tensor();
  map.box[0] = 30;
  expect_trap(map, "a row of a box must have a multiple of 16 bytes, got 120");
  map = tensor(2);
  expect_trap(map, "a row of a box must have at most 64 bytes with this swizzle mode, got 128");
  map = tensor();
  map.rank_code = 0;
  expect_trap(map, "the tensor map has 1 dimensions, but the instruction has 2");
  map = tensor();
  map.address = 8;
  expect_trap(map, "must be a multiple of 16, got 0x8");
  map = tensor();
  map.extents[1] = 0;
  expect_trap(map, "the extent of dimension 1 must be from 1 to 2^32, got 0");
}

TEST(TensorMaps, UnsupportedTensorMapsAreReported) {
  const std::string text = body(kInit, expect(kBytes), load(0, 0), kWait);
  const auto expect_limit = [&](const TensorMap& map, std::string_view message) {
    const RunResult result = run_threads(text, map).result;
    EXPECT_EQ(result.status, RunResult::Status::kUnsupported);
    EXPECT_THAT(result.message, HasSubstr(message));
  };
  TensorMap map = tensor();
  map.element_strides[1] = 2;
  expect_limit(map, "tensor maps with element strides are not supported");
  map = tensor();
  map.interleave_code = 1;
  expect_limit(map, "interleaved layout");
  map = tensor();
  map.fill_code = 1;
  expect_limit(map, "fill with NaN");
  map = tensor(3);
  map.box[0] = 16;
  expect_limit(map, "rows are shorter");
  map = tensor();
  map.element_code = 11;
  expect_limit(map, "converted");
  const std::string columns =
      body(kInit, "mov.b32 %r10, 0; .reg .b16 %rs<2>; mov.b16 %rs1, 0;\n",
           "@%p1 cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r4],"
           " [%rd2, {%r10, %r10, %r10}], [%r5], {%rs1};\n");
  EXPECT_THAT(run_threads(columns).result.message, HasSubstr("modifier .im2col of cp is not supported"));
}

TEST(TensorMaps, OtherMemoryIsNoTensorMap) {
  EXPECT_THAT(run_threads(body(kInit, expect(kBytes), load(0, 0, "%rd3"))).result.message,
              HasSubstr("contains no tensor map"));
  const RunResult shared =
      run_threads(body(kInit, expect(kBytes), "mov.u64 %rd7, map; cvta.shared.u64 %rd8, %rd7;\n", load(0, 0, "%rd8")))
          .result;
  EXPECT_EQ(shared.status, RunResult::Status::kTrapped);
  EXPECT_THAT(shared.message, HasSubstr("must be in global, constant or parameter memory, but is in shared memory"));
}

constexpr std::string_view kReplace =
    "setp.lt.u32 %p4, %r1, 32; mad.lo.u32 %r7, %r1, 4, %r6; mov.b32 %r9, 0; @%p4 st.shared.b32 [%r7], %r9;\n"
    "bar.sync 0; @!%p1 bra DONE;\n mov.b32 %r10, 32; mov.b32 %r11, 8; mov.b32 %r12, 40; mov.b32 %r13, 12;"
    " mov.b32 %r14, 1; mov.b64 %rd9, 160;\n"
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r6], %rd1;\n"
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r6], 1;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r6], 0, %r10;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r6], 1, %r11;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r6], 0, %r12;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r6], 1, %r13;\n"
    "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r6], 0, %rd9;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r6], 0, %r14;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r6], 1, %r14;\n"
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r6], 2;\n"
    "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r6], 0;\n"
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r6], 0;\n"
    "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%r6], 0;\n"
    "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r6], 0;\n DONE: bar.warp.sync 0xffffffff;\n";
constexpr std::string_view kCopyMap =
    "@%p4 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd5+128], [%r6], "
    "128;\nadd.s64 %rd10, %rd5, 128;\n";
constexpr std::string_view kMapFence = "@%p4 fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;\n";

TEST(TensorMaps, MapsCanBeMadeOnTheDevice) {
  const TensorRun done = run_threads(
      body(kInit, kReplace, kCopyMap, kMapFence, "bar.sync 0;\n", expect(kBytes), load(3, 1, "%rd10"), kWait, kOutput));
  expect_clean(done.result);
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(done.output[static_cast<std::size_t>(i)], element(3 + i % 32, 1 + i / 32));
}

TEST(TensorMaps, MissingFenceIsDetected) {
  const RunResult fence =
      run_threads(body(kInit, kReplace, kCopyMap, "bar.sync 0;\n", expect(kBytes), load(0, 0, "%rd10"), kWait)).result;
  expect_first(fence, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(fence.findings[0]), HasSubstr("which no fence.proxy.tensormap of the block follows"));
  // A change of the host's map in global memory, without a fence and with one.
  constexpr std::string_view kChange =
      "mov.b32 %r14, 20; @%p1 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd5], 0, %r14;\n";
  expect_first(run_threads(body(kInit, kChange, expect(kBytes), load(0, 0, "%rd5"), kWait)).result,
               Kind::kReadWriteRace);
  const TensorRun changed = run_threads(body(kInit, kChange,
                                             "fence.proxy.tensormap::generic.release.gpu; bar.sync 0;\n"
                                             "fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;\n",
                                             expect(kBytes), load(0, 0, "%rd5"), kWait, kOutput));
  expect_clean(changed.result);
  EXPECT_EQ(changed.output[19], 20U);
  EXPECT_EQ(changed.output[20], 0U);
}

TEST(TensorMaps, UninitializedFieldsAreDetected) {
  expect_first(run_threads(body(kInit, "@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r6], 1;\n")).result,
               Kind::kUninitializedRead);
}

TEST(Clusters, BarrierOfAClusterOfOneBlockOrdersAccesses) {
  constexpr std::string_view kNext =
      "add.u32 %r9, %r1, 32; rem.u32 %r9, %r9, 256; mad.lo.u32 %r9, %r9, 4, %r4; ld.shared.u32 %r8, [%r9];"
      " st.global.u32 [%rd4], %r8;\n";
  constexpr std::string_view kArrive = "barrier.cluster.arrive.release.aligned;\n";
  constexpr std::string_view kWaitForCluster = "barrier.cluster.wait.acquire.aligned;\n";
  const TensorRun done = run_threads(body(kFill, kArrive, kWaitForCluster, kNext, kArrive, kWaitForCluster, kFill));
  expect_clean(done.result);
  EXPECT_EQ(done.output[0], 1032U);
  constexpr std::string_view kClear = "st.shared.u32 [%r2], 0; bar.sync 0;\n";
  expect_first(run_threads(body(kClear, kFill, kNext)).result, Kind::kReadWriteRace);
  expect_first(run_threads(body(kFill, "barrier.cluster.arrive.relaxed.aligned;\n", kWaitForCluster, kNext)).result,
               Kind::kReadWriteRace);
  // An access between the arrival and the wait.
  expect_first(run_threads(body(kClear, kArrive, kFill, kWaitForCluster, kNext)).result, Kind::kReadWriteRace);
  // Threads that have exited do not arrive.
  expect_clean(run_threads(body(kFill, "setp.ge.u32 %p3, %r1, 32; @%p3 exit;\n", kArrive, kWaitForCluster)).result);
  const RunResult missing =
      run_threads(body("setp.ge.u32 %p3, %r1, 32; @%p3 bra L;\n", kArrive, "L:\n", kWaitForCluster)).result;
  EXPECT_EQ(missing.status, RunResult::Status::kInstructionLimit);
  EXPECT_THAT(missing.message, HasSubstr("waits at a barrier of the cluster at which not all threads arrive"));
}

TEST(Clusters, RegistersAndAddressesOfAClusterOfOneBlock) {
  const TensorRun done = run_threads(
      body(kFill, "bar.sync 0;\n mapa.shared::cluster.u32 %r9, %r2, 0; ld.shared::cluster.u32 %r8, [%r9];\n",
           "mov.u32 %r10, %cluster_nctaid.x; mov.u32 %r11, %cluster_ctarank; mov.u32 %r12, %nclusterid.x;"
           " getctarank.shared::cluster.u32 %r13, %r9; mov.pred %p5, %is_explicit_cluster; selp.u32 %r14, 1, 0, %p5;\n",
           "mad.lo.u32 %r8, %r8, 10, %r10; mad.lo.u32 %r8, %r8, 10, %r11; mad.lo.u32 %r8, %r8, 10, %r12;"
           " mad.lo.u32 %r8, %r8, 10, %r13; mad.lo.u32 %r8, %r8, 10, %r14; st.global.u32 [%rd4], %r8;\n"));
  expect_clean(done.result);
  EXPECT_EQ(done.output[7], 100710100U);
  EXPECT_EQ(run_threads(body("mapa.shared::cluster.u32 %r9, %r2, 1;\n")).result.status,
            RunResult::Status::kUnsupported);
}

TEST(Clusters, LargerClustersAreUnsupported) {
  const auto with = [](std::string_view attribute) {
    std::string text = body(kFill);
    text.insert(text.find("\n{"), attribute);
    return run_threads(text).result;
  };
  expect_clean(with("\n.explicitcluster\n.reqnctapercluster 1, 1, 1"));
  const RunResult large = with("\n.explicitcluster\n.reqnctapercluster 2, 2");
  EXPECT_EQ(large.status, RunResult::Status::kUnsupported);
  EXPECT_THAT(large.message, HasSubstr("clusters of 4 blocks are not supported"));
}

TEST(IndexedBranches, LanesBranchToTheirTargets) {
  constexpr std::string_view kBranch =
      "T: .branchtargets A, B, C;\n and.b32 %r9, %r1, 3;\n @!%p6 brx.idx %r9, T;\n"
      "A: mov.u32 %r8, 100; bra E;\nB: mov.u32 %r8, 200; bra E;\nC: mov.u32 %r8, 300; bra E;\n"
      "E: st.global.u32 [%rd4], %r8;\n";
  const TensorRun done = run_threads(body("and.b32 %r7, %r1, 3; setp.eq.u32 %p6, %r7, 3;\n", kBranch));
  expect_clean(done.result);
  for (std::size_t i = 0; i < 256; ++i)
    ASSERT_EQ(done.output[i], (std::array<std::uint32_t, 4>{100, 200, 300, 100}.at(i % 4)));
  const RunResult outside = run_threads(body("setp.ne.u32 %p6, %r1, %r1;\n", kBranch)).result;
  EXPECT_EQ(outside.status, RunResult::Status::kTrapped);
  EXPECT_THAT(outside.message, HasSubstr("the index of a branch must be less than 3, got 3"));
}

TEST(Labels, BelongToTheirScope) {
  const TensorRun done =
      run_threads(body("mov.u32 %r8, 0;\n{ setp.eq.u32 %p3, %r8, 0; @%p3 bra L; add.u32 %r8, %r8, 50;\n"
                       "L: add.u32 %r8, %r8, 1; }\n{ setp.eq.u32 %p3, %r8, 1; @%p3 bra L; add.u32 %r8, "
                       "%r8, 50;\nL: add.u32 %r8, %r8, 1; }\nst.global.u32 [%rd4], %r8;\n"));
  expect_clean(done.result);
  EXPECT_EQ(done.output[0], 2U);
}

}  // namespace
}  // namespace assay::ptx
