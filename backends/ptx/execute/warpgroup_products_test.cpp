// Tests of wgmma against the layouts that the PTX manual gives for registers and shared memory.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"
#include "backends/ptx/testing/shared_matrices.hpp"
#include "support/rng.hpp"

namespace assay::ptx {
namespace {

using testing::bytes_of_type;
using testing::encoded;
using testing::entry;
using testing::expect_clean;
using testing::expect_first;
using testing::Layout;
using testing::layout_of;
using testing::position_of_element;
using testing::run;
using testing::Storage;
using Kind = CheckFinding::Kind;
using ::testing::HasSubstr;

/// A product d = a * b + d of a warpgroup.
struct Form {
  std::string sum_type, a_type, b_type;
  unsigned n;
  Storage a, b;
  bool has_a_in_registers = false;
  bool adds = true;
  bool negates_a = false;
  bool negates_b = false;
};

unsigned inner_of(const Form& form) { return 32 / bytes_of_type(form.a_type); }

std::uint64_t descriptor_of(const Storage& storage, const Layout& layout) {
  const std::uint64_t mode = storage.swizzle_bytes == 128  ? 1
                             : storage.swizzle_bytes == 64 ? 2
                             : storage.swizzle_bytes == 32 ? 3
                                                           : 0;
  return std::uint64_t{layout.leading_bytes / 16} << 16U | std::uint64_t{layout.stride_bytes / 16} << 32U | mode << 62U;
}

constexpr unsigned kStartOfB = 8192;
constexpr unsigned kRegistersOfA = 4;

/// Replacements of lines of the kernel, for tests of the checks.
struct Lines {
  std::string fence = "fence.proxy.async.shared::cta;";
  std::string barrier = "bar.sync 0;";
  std::string before_wait;
  std::string wait = "wgmma.wait_group.sync.aligned 0;";
};

std::string registers(std::string_view prefix, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return list + "}";
}
unsigned sum_count(const Form& form) { return form.n * bytes_of_type(form.sum_type) / 8; }

/// The array has the content of shared memory, followed for each thread by 4 registers of a and by the registers of d.
std::string kernel_text(const Form& form, unsigned shared_words, const Lines& lines) {
  const unsigned sums = sum_count(form);
  const unsigned words_per_thread = kRegistersOfA + sums;
  std::string text = fmt::format(
      ".shared .align 1024 .b8 s[{}]; .reg .b32 %a<4>; .reg .b32 %d<{}>; ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;"
      " mov.u32 %r5, s; mov.u32 %r2, %r1; COPY: mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3;"
      " ld.global.b32 %r3, [%rd4]; shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r5; st.shared.b32 [%r4], %r3;"
      " mov.u32 %r8, %ntid.x; add.u32 %r2, %r2, %r8; setp.lt.u32 %p1, %r2, {}; @%p1 bra COPY;"
      " mul.wide.u32 %rd3, %r1, {}; add.s64 %rd2, %rd1, %rd3; add.s64 %rd2, %rd2, {};\n",
      4 * shared_words, sums, shared_words, 4 * words_per_thread, 4 * shared_words);
  for (unsigned i = 0; i < kRegistersOfA; ++i)
    text += fmt::format("ld.global.b32 %a{}, [%rd2+{}];", i, 4 * i);
  for (unsigned i = 0; i < sums; ++i)
    text += fmt::format("ld.global.b32 %d{}, [%rd2+{}];", i, 4 * (kRegistersOfA + i));
  const Layout a = layout_of(form.a, 64, bytes_of_type(form.a_type));
  const Layout b = layout_of(form.b, form.n, bytes_of_type(form.b_type));
  text += fmt::format(
      " bfe.u32 %r6, %r5, 4, 14; cvt.u64.u32 %rd6, %r6; or.b64 %rd7, %rd6, {}; add.u32 %r6, %r6, {};"
      " cvt.u64.u32 %rd6, %r6; or.b64 %rd8, %rd6, {}; setp.eq.u32 %p2, {}, 1;\n{}\n{}\nwgmma.fence.sync.aligned;\n",
      descriptor_of(form.a, a), kStartOfB / 16, descriptor_of(form.b, b), form.adds ? 1 : 0, lines.fence,
      lines.barrier);
  text += fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {}, {}, %rd8, %p2", form.n, inner_of(form),
                      form.sum_type, form.a_type, form.b_type, registers("%d", sums),
                      form.has_a_in_registers ? registers("%a", 4) : "%rd7");
  if (form.sum_type != "s32") text += fmt::format(", {}, {}", form.negates_a ? -1 : 1, form.negates_b ? -1 : 1);
  if (bytes_of_type(form.a_type) == 2) {
    if (!form.has_a_in_registers) text += fmt::format(", {}", form.a.is_transposed ? 1 : 0);
    text += fmt::format(", {}", form.b.is_transposed ? 1 : 0);
  }
  text += fmt::format(";\nwgmma.commit_group.sync.aligned;\n{}\n{}\n", lines.before_wait, lines.wait);
  for (unsigned i = 0; i < sums; ++i)
    text += fmt::format("st.global.b32 [%rd2+{}], %d{};", 4 * (kRegistersOfA + i), i);
  return entry(text);
}

/// Runs the form with small integers. If `compares`, compares the registers of d with the product.
RunResult run_form(const Form& form, const Lines& lines = {}, bool compares = true, unsigned threads = 128) {
  const unsigned inner = inner_of(form);
  const unsigned bytes = bytes_of_type(form.a_type);
  Rng random(form.n);
  const auto draw = [&](unsigned lines_of_matrix, const std::string& type) {
    std::vector<int> numbers(std::size_t{lines_of_matrix} * inner);
    for (int& number : numbers)
      number = static_cast<int>(random.next() % 9) - (type == "u8" ? 0 : 4);
    return numbers;
  };
  const std::vector<int> a = draw(64, form.a_type), b = draw(form.n, form.b_type);
  const Layout layout_a = layout_of(form.a, 64, bytes), layout_b = layout_of(form.b, form.n, bytes);
  const unsigned shared_words = (kStartOfB + layout_b.total_bytes) / 4;
  const unsigned sums = sum_count(form);
  const unsigned words_per_thread = kRegistersOfA + sums;
  std::vector<std::uint32_t> data(shared_words + std::size_t{threads} * words_per_thread);
  auto* const image = reinterpret_cast<std::uint8_t*>(data.data());
  const auto store = [&](const std::vector<int>& numbers, const Storage& storage, const Layout& layout, unsigned start,
                         const std::string& type) {
    for (unsigned i = 0; i < numbers.size(); ++i) {
      const std::uint32_t bits = encoded(type, numbers[i]);
      std::memcpy(image + start + position_of_element(storage, layout, i / inner, i % inner, bytes), &bits, bytes);
    }
  };
  if (!form.has_a_in_registers) store(a, form.a, layout_a, 0, form.a_type);
  store(b, form.b, layout_b, kStartOfB, form.b_type);
  // Row and column of the elements of d that a thread holds, in pairs of adjacent columns.
  const auto row_of = [](unsigned thread, unsigned i) { return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2); };
  const auto column_of = [](unsigned thread, unsigned i) { return 8 * (i / 4) + 2 * (thread % 4) + i % 2; };
  const auto old_sum = [&](unsigned row, unsigned column) { return static_cast<int>((row * 5 + column * 3) % 7) - 3; };
  const unsigned per_word = 4 / bytes_of_type(form.sum_type);
  const unsigned a_per_word = 4 / bytes;
  for (unsigned thread = 0; thread < std::min(threads, 128U); ++thread) {
    std::uint32_t* const words = &data[shared_words + std::size_t{thread} * words_per_thread];
    for (unsigned i = 0; i < kRegistersOfA * a_per_word; ++i) {
      // Register 0 has the first half of k, register 2 the second half; registers 1 and 3 are 8 rows below.
      const unsigned index = i / a_per_word;
      const unsigned row = thread / 32 * 16 + thread % 32 / 4 + 8 * (index % 2);
      const unsigned column = inner / 2 * (index / 2) + thread % 4 * a_per_word + i % a_per_word;
      words[index] |= encoded(form.a_type, a[row * inner + column]) << (8 * bytes * (i % a_per_word));
    }
    for (unsigned i = 0; i < sums * per_word; ++i)
      words[kRegistersOfA + i / per_word] |= encoded(form.sum_type, old_sum(row_of(thread, i), column_of(thread, i)))
                                             << (16 * (i % per_word));
  }
  auto done = run<std::uint32_t>(kernel_text(form, shared_words, lines), data, {{1}, {threads}});
  if (!compares || !done.result.ok()) return done.result;
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < sums * per_word; ++i) {
      const unsigned row = row_of(thread, i), column = column_of(thread, i);
      int expected = 0;
      for (unsigned k = 0; k < inner; ++k)
        expected += a[row * inner + k] * b[column * inner + k];
      if (form.negates_a != form.negates_b) expected = -expected;
      if (form.adds) expected += old_sum(row, column);
      const std::uint32_t word = done.data[shared_words + thread * words_per_thread + kRegistersOfA + i / per_word];
      const std::uint32_t got = per_word == 1 ? word : word >> (16 * (i % 2)) & 0xffffU;
      EXPECT_EQ(got, encoded(form.sum_type, expected))
          << form.a_type << " n " << form.n << " row " << row << " column " << column;
      if (::testing::Test::HasFailure()) return done.result;
    }
  }
  return done.result;
}

constexpr Storage kRows{128, false};
const Form kHalfProduct{.sum_type = "f32", .a_type = "f16", .b_type = "f16", .n = 64, .a = kRows, .b = kRows};

TEST(WarpgroupProducts, AllTypesAndWidthsMultiply) {
  for (const auto& [sum, a, b] : std::vector<std::array<std::string, 3>>{{"f32", "f16", "f16"},
                                                                         {"f16", "f16", "f16"},
                                                                         {"f32", "bf16", "bf16"},
                                                                         {"f32", "tf32", "tf32"},
                                                                         {"f32", "e4m3", "e4m3"},
                                                                         {"f16", "e5m2", "e4m3"},
                                                                         {"s32", "s8", "u8"},
                                                                         {"s32", "u8", "u8"}}) {
    for (const unsigned n : {8U, 24U, 64U, 256U}) {
      for (const bool in_registers : {false, true}) {
        expect_clean(run_form({.sum_type = sum,
                               .a_type = a,
                               .b_type = b,
                               .n = n,
                               .a = kRows,
                               .b = kRows,
                               .has_a_in_registers = in_registers}));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(WarpgroupProducts, MatricesMayBeTransposedAndSwizzled) {
  for (const unsigned a_bytes : {16U, 32U, 64U, 128U}) {
    for (const unsigned b_bytes : {16U, 32U, 64U, 128U}) {
      for (const bool transposes_a : {false, true}) {
        for (const bool transposes_b : {false, true}) {
          expect_clean(run_form({.sum_type = "f32",
                                 .a_type = "bf16",
                                 .b_type = "bf16",
                                 .n = 128,
                                 .a = {a_bytes, transposes_a},
                                 .b = {b_bytes, transposes_b}}));
          ASSERT_FALSE(HasFailure()) << a_bytes << " " << b_bytes << transposes_a << transposes_b;
        }
      }
    }
  }
}

TEST(WarpgroupProducts, OperandsCanBeNegatedAndSumsReplaced) {
  for (const bool adds : {false, true}) {
    for (const bool negates_a : {false, true}) {
      for (const bool negates_b : {false, true}) {
        Form form = kHalfProduct;
        form.adds = adds;
        form.negates_a = negates_a;
        form.negates_b = negates_b;
        expect_clean(run_form(form));
      }
    }
  }
}

TEST(WarpgroupProducts, FlopsAreCountedAndApproximate) {
  const RunResult result = run_form(kHalfProduct);
  EXPECT_EQ(result.profile.flop_count, 2U * 64 * 64 * 16);
  EXPECT_EQ(result.profile.approximate_instruction_count, 128U);
  EXPECT_TRUE(result.profile.approximation_reaches_result);
}

TEST(WarpgroupProducts, UsesOfRegistersBeforeWaitAreDetected) {
  const RunResult read = run_form(kHalfProduct, {.before_wait = "add.f32 %f1, %d0, %d1;"}, false);
  expect_first(read, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(read.findings[0]), HasSubstr("which its thread has not waited for"));
  expect_first(run_form(kHalfProduct, {.before_wait = "mov.b32 %d3, 0;"}, false), Kind::kWriteWriteRace);
  expect_first(run_form(kHalfProduct, {.wait = "wgmma.wait_group.sync.aligned 1;"}, false), Kind::kReadWriteRace);
  // Compilers copy registers before the wait, and ptxas removes the copies.
  expect_clean(run_form(kHalfProduct, {.before_wait = "mov.b32 %r9, %d0;"}));
  expect_first(run_form(kHalfProduct, {.before_wait = "mov.b32 %r9, %d0; st.global.b32 [%rd2], %r9;"}, false),
               Kind::kReadWriteRace);
  Form registers_of_a = kHalfProduct;
  registers_of_a.has_a_in_registers = true;
  expect_first(run_form(registers_of_a, {.before_wait = "mov.b32 %a2, 0;"}, false), Kind::kWriteWriteRace);
  expect_clean(run_form(registers_of_a, {.before_wait = "add.u32 %r9, %a2, 0;"}));
}

TEST(WarpgroupProducts, UnorderedAccessesToSharedMemoryAreDetected) {
  const std::string late_write = "bar.sync 0; setp.eq.u32 %p3, %r1, 64; @%p3 st.shared.b32 [%r5+8192], %r1;";
  expect_first(run_form(kHalfProduct, {.fence = "", .barrier = late_write + "fence.proxy.async;"}, false),
               Kind::kReadWriteRace);
  const RunResult fence = run_form(kHalfProduct, {.fence = ""}, false);
  expect_first(fence, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(fence.findings[0]), HasSubstr("which no fence.proxy.async follows"));
  expect_clean(run_form(kHalfProduct, {.fence = "", .barrier = "bar.sync 0; fence.proxy.async;"}));
  const std::string write_once = "bar.sync 0; setp.eq.u32 %p3, %r1, 0; @%p3 st.shared.b32 [%r5+8192], %r1;";
  expect_first(run_form(kHalfProduct, {.before_wait = write_once}, false), Kind::kReadWriteRace);
  expect_clean(run_form(kHalfProduct, {.wait = "wgmma.wait_group.sync.aligned 0;" + write_once}));
}

TEST(WarpgroupProducts, IncompleteWarpgroupsAreDetected) {
  expect_first(run_form(kHalfProduct, {}, false, 64), Kind::kInactiveLane);
}

TEST(WarpgroupProducts, MatricesOutsideSharedMemoryAreDetected) {
  Form form = kHalfProduct;
  const RunResult result = run_form(form, {.barrier = "bar.sync 0; add.u64 %rd8, %rd8, 8;"}, false);
  expect_first(result, Kind::kOutOfBounds);
}

TEST(WarpgroupProducts, UnknownVariantsAreUnsupported) {
  const std::string sums = "{%f1, %f2, %f3, %f4}";
  for (const std::string& instruction : std::vector<std::string>{
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 " + sums + ", %rd1, %rd1, 1, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 " + sums + ", %rd1, %rd1, 1, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 " + sums + ", %rd1, %rd1, 1, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " + sums + ", %rd1, %rd1, 1, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums + ", %rd1, %rd1, 1, 1, 1, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums + ", %rd1, %rd1, 1, 2, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + sums + ", %r1, %rd1, 1, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k32.f32.s8.s8 " + sums + ", %rd1, %rd1, 1;"}) {
    const auto done = run<float>(entry("ld.param.u64 %rd1, [p0]; " + instruction), std::vector<float>(4), {{1}, {128}});
    EXPECT_EQ(done.result.status, RunResult::Status::kUnsupported) << instruction;
  }
}

TEST(WarpgroupProducts, InstructionsForRegistersAndDependentGridsHaveNoEffect) {
  const auto done =
      run<float>(entry("setmaxnreg.inc.sync.aligned.u32 232; griddepcontrol.wait; griddepcontrol.launch_dependents;"
                       " fence.mbarrier_init.release.cluster; setmaxnreg.dec.sync.aligned.u32 40;"),
                 std::vector<float>(4), {{1}, {128}});
  expect_clean(done.result);
}

}  // namespace
}  // namespace assay::ptx
