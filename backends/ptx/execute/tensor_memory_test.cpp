// Tests of tcgen05 against the layouts that the PTX manual gives for tensor memory, registers and shared memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
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
using testing::kernel_of;
using testing::Layout;
using testing::layout_of;
using testing::position_of_element;
using testing::run;
using testing::Storage;
using Kind = CheckFinding::Kind;
using ::testing::HasSubstr;

constexpr unsigned kLanes = 128;

std::string registers(std::string_view prefix, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return list + "}";
}

/// Allocates columns in warp 0. Then %r10 has the address, %r11 the address of the first lane of the warp's quarter,
/// %r1 the thread, %rd1 the array, and %p10 is true in warp 0.
std::string allocation(unsigned columns) {
  return fmt::format(
      ".shared .align 8 .b8 bar[8]; .shared .align 4 .b8 place[8]; .reg .b32 %v<128>; ld.param.u64 %rd1, [p0];"
      " mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.u32 %p10, %r2, 0; mov.u32 %r3, place; mov.u32 %r4, bar;"
      " setp.eq.u32 %p11, %r1, 0; @%p11 mbarrier.init.shared.b64 [%r4], 1;\n"
      "@%p10 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], {};\n"
      "bar.sync 0; ld.shared.b32 %r10, [%r3]; and.b32 %r2, %r2, 3; shl.b32 %r2, %r2, 21; add.u32 %r11, %r10, %r2;\n",
      columns);
}
std::string freeing(unsigned columns) {
  return fmt::format("\nbar.sync 0;\n@%p10 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, {};\n", columns);
}

/// Copies words between the array, where each lane has `columns` words from `%rd1 + offset` on, and tensor memory.
std::string copies(bool loads, unsigned columns, unsigned offset, std::string_view wait) {
  constexpr unsigned kWords = 8;
  std::string text = fmt::format("mul.wide.u32 %rd5, %r1, {}; add.s64 %rd5, %rd5, %rd1;\n", 4 * columns);
  for (unsigned column = 0; column < columns; column += kWords) {
    const auto global = [&](std::string_view form) {
      for (unsigned i = 0; i < kWords; ++i) {
        const std::string address = fmt::format("[%rd5+{}]", offset + 4 * (column + i));
        text += form == "ld" ? fmt::format("ld.global.b32 %v{}, {};", i, address)
                             : fmt::format("st.global.b32 {}, %v{};", address, i);
      }
    };
    if (!loads) global("ld");
    text += loads
                ? fmt::format("tcgen05.ld.sync.aligned.32x32b.x8.b32 {}, [%r11+{}];", registers("%v", kWords), column)
                : fmt::format("tcgen05.st.sync.aligned.32x32b.x8.b32 [%r11+{}], {};", column, registers("%v", kWords));
    text += fmt::format("\n{}\n", wait);
    if (loads) global("st");
  }
  return text;
}
constexpr std::string_view kWaitForLoads = "tcgen05.wait::ld.sync.aligned;";
constexpr std::string_view kWaitForStores = "tcgen05.wait::st.sync.aligned;";

// -------------------------------------------------------------------------------------------------- loads and stores

struct Shape {
  std::string name;
  unsigned registers_per_repetition;
  unsigned max_repetitions;
  /// Lane (of 16 or 32) and column of a register of a thread.
  std::function<std::pair<unsigned, unsigned>(unsigned thread, unsigned index)> place;
};
constexpr unsigned kHalfOffset = 64;

/// The layouts of the figures of the PTX manual, in which each row of four columns repeats those of mma.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kAll = {
      {"32x32b", 1, 128, [](unsigned thread, unsigned i) { return std::pair(thread, i); }},
      {"16x64b", 1, 128,
       [](unsigned thread, unsigned i) {
         // Threads 0 and 1 have rows 0 and 8 of column 0, threads 2 and 3 those of column 1, threads 4 to 7 rows 1, 9.
         const unsigned row = thread / 4 + (thread % 2 == 1 ? 8 : 0);
         return std::pair(row, 2 * i + (thread % 4 >= 2 ? 1 : 0));
       }},
      {"16x128b", 2, 64,
       [](unsigned thread, unsigned i) { return std::pair(i % 2 * 8 + thread / 4, i / 2 * 4 + thread % 4); }},
      {"16x256b", 4, 32,
       [](unsigned thread, unsigned i) {
         return std::pair((i % 4 >= 2 ? 8 : 0) + thread / 4, i / 4 * 8 + 2 * (thread % 4) + i % 2);
       }},
      {"16x32bx2", 1, 64,
       [](unsigned thread, unsigned i) { return std::pair(thread % 16, thread < 16 ? i : kHalfOffset + i); }},
  };
  return kAll;
}

/// The word of a lane and column in the tests of loads and stores.
std::uint32_t word_at(unsigned lane, unsigned column) { return (lane * 1000 + column) * 65537 + column; }

/// Runs a body between an allocation of 256 columns, whose words contain word_at(), and its end. The array has 256
/// words for each thread.
testing::TestRun<std::uint32_t> run_in_memory(const std::string& body, unsigned threads = kLanes) {
  constexpr unsigned kColumns = 256;
  std::vector<std::uint32_t> data(std::size_t{threads} * kColumns);
  for (unsigned i = 0; i < data.size(); ++i)
    data[i] = word_at(i / kColumns, i % kColumns);
  return run<std::uint32_t>(
      entry(allocation(kColumns) + copies(false, kColumns, 0, kWaitForStores) + body + freeing(kColumns)), data,
      {{1}, {threads}});
}

TEST(TensorMemory, LoadsAndStoresHaveTheLayoutsOfTheManual) {
  for (const Shape& shape : shapes()) {
    for (const bool packs : {false, true}) {
      for (unsigned count = 1; count <= shape.max_repetitions; count *= 2) {
        const unsigned width = packs ? 2 : 1;
        const unsigned used = count * shape.registers_per_repetition;
        const bool has_halves = shape.name == "16x32bx2";
        if (shape.place(31, used - 1).second * width >= 256) continue;
        if (has_halves && count * width > kHalfOffset) continue;  // the halves overlap
        for (const unsigned first_lane : {0U, 16U}) {
          if (first_lane != 0 && shape.name == "32x32b") continue;
          const std::string half = has_halves ? fmt::format(", {}", kHalfOffset) : "";
          const std::string address = fmt::format("[%r11+{}]", first_lane << 16U);
          std::string load =
              fmt::format("tcgen05.ld.sync.aligned.{}.x{}{}.b32 {}, {}{};\n{}\n", shape.name, count,
                          packs ? ".pack::16b" : "", registers("%v", used), address, half, kWaitForLoads);
          load += "mul.wide.u32 %rd5, %r1, 1024; add.s64 %rd5, %rd5, %rd1;";
          for (unsigned i = 0; i < used; ++i)
            load += fmt::format("st.global.b32 [%rd5+{}], %v{};", 4 * i, i);
          const auto loaded = run_in_memory(load);
          expect_clean(loaded.result);
          std::string store;
          for (unsigned i = 0; i < used; ++i)
            store += fmt::format("mad.lo.u32 %v{}, %r1, 200, {};", i, 77777 + i);
          store += fmt::format("tcgen05.st.sync.aligned.{}.x{}{}.b32 {}{}, {};\n{}\n", shape.name, count,
                               packs ? ".unpack::16b" : "", address, half, registers("%v", used), kWaitForStores);
          const auto stored = run_in_memory(store + copies(true, 256, 0, kWaitForLoads));
          expect_clean(stored.result);
          ASSERT_FALSE(HasFailure()) << shape.name << " x" << count;
          for (unsigned thread = 0; thread < kLanes; ++thread) {
            for (unsigned i = 0; i < used; ++i) {
              auto [row, column] = shape.place(thread % 32, i);
              const unsigned lane = thread / 32 * 32 + first_lane + row;
              // The offset between the halves of .16x32bx2 counts columns of tensor memory.
              if (packs)
                column = has_halves && thread % 32 >= 16 ? kHalfOffset + 2 * (column - kHalfOffset) : 2 * column;
              const std::uint32_t wanted =
                  packs ? (word_at(lane, column) & 0xffffU) | word_at(lane, column + 1) << 16U : word_at(lane, column);
              EXPECT_EQ(loaded.data[thread * 256 + i], wanted) << "ld." << shape.name << ".x" << count;
              const std::uint32_t value = thread * 200 + 77777 + i;
              EXPECT_EQ(stored.data[lane * 256 + column], packs ? value & 0xffffU : value) << "st." << shape.name;
              if (packs) {
                EXPECT_EQ(stored.data[lane * 256 + column + 1], value >> 16U) << "st." << shape.name;
              }
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST(TensorMemory, AccessesOutsideTheAllocationOrTheQuarterAreDetected) {
  const auto load = [](const std::string& address) {
    return run_in_memory(
               fmt::format("tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%v0, %v1}}, {};\n{}", address, kWaitForLoads))
        .result;
  };
  expect_first(load("[%r11+255]"), Kind::kOutOfBounds);
  expect_first(load("[%r11+65535]"), Kind::kOutOfBounds);
  expect_first(load("[%r11+65536]"), Kind::kMisaligned);
  const RunResult quarter = load("[%r10]");
  expect_first(quarter, Kind::kOutOfBounds);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(quarter.findings[0]), HasSubstr("the warp can access only its quarter of the lanes"));
  EXPECT_THAT(describe(load("[%r11+255]").findings[0]),
              HasSubstr("column 256 of tensor memory, which is not allocated"));
  expect_clean(run_in_memory("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%r11+254]; "
                             "tcgen05.wait::ld.sync.aligned;")
                   .result);
}

TEST(TensorMemory, ReadsOfUnwrittenWordsAreDetected) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r11+5]; tcgen05.wait::ld.sync.aligned;";
  const auto result = [&](const std::string& body) {
    return run<std::uint32_t>(entry(allocation(32) + body + freeing(32)), {0}, {{1}, {kLanes}}).result;
  };
  expect_first(result(load), Kind::kUninitializedRead);
  expect_clean(result("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+5], {%r1}; tcgen05.wait::st.sync.aligned;" + load));
  // A new allocation does not keep the words of the old one.
  expect_first(
      result("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+5], {%r1}; tcgen05.wait::st.sync.aligned;" + freeing(32) +
             "@%p10 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 32; bar.sync 0;" + load),
      Kind::kUninitializedRead);
}

TEST(TensorMemory, UsesBeforeTheWaitAreDetected) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r11];";
  const std::string wait(kWaitForLoads);
  const std::string use = "st.global.b32 [%rd5], %v0;";
  const RunResult read = run_in_memory(load + use).result;
  expect_first(read, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(read.findings[0]), HasSubstr("which its thread has not waited for"));
  expect_first(run_in_memory(load + use + std::string(kWaitForStores)).result, Kind::kReadWriteRace);
  expect_first(run_in_memory(load + "mov.b32 %v0, 1;").result, Kind::kWriteWriteRace);
  expect_clean(run_in_memory(load + wait + use).result);
  // Triton uses the registers before the wait, and ptxas lets the use wait for them.
  expect_clean(run_in_memory(load + use + wait).result);
  const std::string sum = "add.u32 %v1, %v0, 1; mul.lo.u32 %v0, %v0, %v1; mov.b64 %rd9, {%v0, %v1}; mov.b32 %v1, 2;";
  expect_clean(run_in_memory(load + sum + "st.global.b32 [%rd5], %v1;").result);
  expect_first(run_in_memory(load + sum + "st.global.b64 [%rd5], %rd9;").result, Kind::kReadWriteRace);
  expect_first(run_in_memory(load + "setp.eq.u32 %p7, %v0, 1; @%p7 trap;").result, Kind::kReadWriteRace);
  const std::string store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1};";
  expect_first(run_in_memory(store + load + std::string(kWaitForLoads)).result, Kind::kReadWriteRace);
  expect_clean(run_in_memory(store + std::string(kWaitForStores) + load + std::string(kWaitForLoads)).result);
}

TEST(TensorMemory, UnorderedAccessesOfWarpsAreDetected) {
  // Warps 0 and 4 access the same quarter.
  const std::string store =
      "setp.lt.u32 %p3, %r1, 128; @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1}; "
      "tcgen05.wait::st.sync.aligned;";
  const std::string load = "@!%p3 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r11]; tcgen05.wait::ld.sync.aligned;";
  const auto result = [&](const std::string& body) {
    return run<std::uint32_t>(entry(allocation(32) + body + freeing(32)), {0}, {{1}, {2 * kLanes}}).result;
  };
  expect_first(result(store + load), Kind::kReadWriteRace);
  expect_clean(result(store + "bar.sync 0;" + load));
  // A wait after the barrier does not order the accesses.
  expect_first(result("setp.lt.u32 %p3, %r1, 128; @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1}; bar.sync 0;"
                      " tcgen05.wait::st.sync.aligned;" +
                      load),
               Kind::kReadWriteRace);
  const std::string write = "@%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1}; tcgen05.wait::st.sync.aligned;";
  const std::string first_write =
      "setp.lt.u32 %p3, %r1, 128; @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1};"
      " tcgen05.wait::st.sync.aligned; bar.sync 0; "
      "@!%p3 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r11]; ";
  expect_first(result(first_write + "bar.sync 0;" + write + "tcgen05.wait::ld.sync.aligned;"), Kind::kReadWriteRace);
  expect_clean(result(first_write + "tcgen05.wait::ld.sync.aligned; bar.sync 0;" + write));
}

// ------------------------------------------------------------------------------------------------------- allocations

RunResult run_text(const std::string& body, unsigned threads = kLanes) {
  return run<std::uint32_t>(entry(body), {0, 0, 0, 0}, {{1}, {threads}}).result;
}

TEST(TensorMemory, AllocationsMustBeValidAndFreed) {
  expect_clean(run_text(allocation(512) + freeing(512)));
  const RunResult lost = run_text(allocation(64));
  expect_first(lost, Kind::kNotFreed);
  if (HasFatalFailure()) return;
  EXPECT_EQ(to_text(lost.findings[0].kind), "not_freed");
  for (const unsigned columns : {0U, 16U, 48U, 1024U}) {
    const RunResult result = run_text(allocation(columns) + freeing(columns));
    EXPECT_EQ(result.status, RunResult::Status::kTrapped);
    EXPECT_THAT(result.message, HasSubstr("must be a power of two from 32 to 512"));
  }
  EXPECT_THAT(run_text(allocation(64) + freeing(32)).message, HasSubstr("with 32 columns is not allocated"));
  EXPECT_THAT(run_text(allocation(64) + freeing(64) + freeing(64)).message, HasSubstr("is not allocated"));
  EXPECT_THAT(run_text(allocation(32) + "@%p10 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; @%p10 "
                                        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 32;")
                  .message,
              HasSubstr("after tcgen05.relinquish_alloc_permit"));
  expect_first(
      run_text(allocation(32) + freeing(32) + "@%p11 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"),
      Kind::kInactiveLane);
}

TEST(TensorMemory, AllocationsWaitForFreeColumns) {
  const std::string second =
      "setp.eq.u32 %p3, %r1, 32; and.b32 %r5, %r1, 96; setp.eq.u32 %p4, %r5, 32;"
      "@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+4], 512;\n";
  const RunResult stuck = run_text(allocation(512) + second + freeing(512));
  EXPECT_EQ(stuck.status, RunResult::Status::kInstructionLimit);
  EXPECT_THAT(stuck.message, HasSubstr("waits for tensor memory that no thread frees"));
  // Warp 1 waits until warp 0 frees its columns.
  expect_clean(run_text(allocation(512) + "shr.u32 %r5, %r1, 5; setp.eq.u32 %p4, %r5, 1;"
                                          "@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+4], 512;"
                                          "@%p10 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;"
                                          "@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 512;"));
}

// ---------------------------------------------------------------------------------------------------------- products

/// A product d = a * b + d.
struct Form {
  std::string kind, sum_type, a_type, b_type;
  unsigned m, n;
  Storage a, b;
  bool has_a_in_tensor_memory = false;
  bool adds = true;
  bool negates_a = false;
  bool negates_b = false;
  bool is_weight_stationary = false;
  unsigned first_lane = 0;
  std::string modifiers = {};
  std::string masks = {};
  std::string scale = {};
};

unsigned inner_of(const Form& form) { return 32 / bytes_of_type(form.a_type); }
unsigned format_of(const std::string& type) {
  if (type == "bf16" || type == "e5m2" || type == "s8") return 1;
  return type == "tf32" ? 2 : 0;
}
std::uint32_t instruction_descriptor_of(const Form& form) {
  const unsigned sum = form.sum_type == "f16" ? 0 : form.sum_type == "f32" ? 1 : 2;
  return sum << 4U | format_of(form.a_type) << 7U | format_of(form.b_type) << 10U | (form.negates_a ? 1U : 0U) << 13U |
         (form.negates_b ? 1U : 0U) << 14U | (form.a.is_transposed ? 1U : 0U) << 15U |
         (form.b.is_transposed ? 1U : 0U) << 16U | form.n / 8 << 17U | form.m / 16 << 24U;
}
std::uint64_t descriptor_of(const Storage& storage, const Layout& layout) {
  const std::uint64_t mode = storage.swizzle_bytes == 128  ? 2
                             : storage.swizzle_bytes == 64 ? 4
                             : storage.swizzle_bytes == 32 ? 6
                                                           : 0;
  return std::uint64_t{layout.leading_bytes / 16} << 16U | std::uint64_t{layout.stride_bytes / 16} << 32U |
         std::uint64_t{1} << 46U | mode << 61U;
}

constexpr unsigned kStartOfB = 32768;
constexpr unsigned kWordsOfA = 8;          ///< number of words of a row of a in tensor memory
constexpr unsigned kColumnsBeforeA = 256;  ///< first column of a in tensor memory

/// Replacements of lines of the kernel, for tests of the checks.
struct Lines {
  std::string fence = "fence.proxy.async.shared::cta;";
  std::string wait_for_stores = std::string(kWaitForStores);
  std::string barrier = "bar.sync 0;";
  std::string before_commit;
  std::string commit = "@%p11 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];";
  std::string before_wait;
  std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r4], 0; @!%p5 bra WAIT;";
  std::string after_wait;
};

/// The array has the content of shared memory, then a, and then d with n words for each lane.
std::string kernel_text(const Form& form, unsigned shared_words, const Lines& lines) {
  std::string text = ".shared .align 1024 .b8 s[" + fmt::format("{}", 4 * shared_words) + "]; " + allocation(512);
  text += fmt::format(
      " mov.u32 %r5, s; mov.u32 %r2, %r1; COPY: mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3;"
      " ld.global.b32 %r6, [%rd4]; shl.b32 %r7, %r2, 2; add.u32 %r7, %r7, %r5; st.shared.b32 [%r7], %r6;"
      " mov.u32 %r8, %ntid.x; add.u32 %r2, %r2, %r8; setp.lt.u32 %p1, %r2, {}; @%p1 bra COPY;\n",
      shared_words);
  const unsigned start_of_a = 4 * shared_words;
  const unsigned start_of_d = start_of_a + 4 * kWordsOfA * kLanes;
  text += fmt::format("add.u32 %r11, %r11, {};", kColumnsBeforeA) +
          copies(false, kWordsOfA, start_of_a, lines.wait_for_stores) +
          fmt::format("sub.u32 %r11, %r11, {};", kColumnsBeforeA);
  text += copies(false, form.n, start_of_d, lines.wait_for_stores);
  const Layout a = layout_of(form.a, form.m, bytes_of_type(form.a_type));
  const Layout b = layout_of(form.b, form.n, bytes_of_type(form.b_type));
  text += fmt::format(
      " bfe.u32 %r6, %r5, 4, 14; cvt.u64.u32 %rd6, %r6; or.b64 %rd7, %rd6, {}; add.u32 %r6, %r6, {};"
      " cvt.u64.u32 %rd6, %r6; or.b64 %rd8, %rd6, {}; mov.pred %p2, {}; mov.u32 %r12, {}; mov.u32 %r15, 65535;"
      " mov.u32 %r16, 0;\n{}\n{}\n",
      descriptor_of(form.a, a), kStartOfB / 16, descriptor_of(form.b, b), form.adds ? 1 : 0,
      instruction_descriptor_of(form), lines.fence, lines.barrier);
  text += fmt::format(
      "@%p11 tcgen05.mma{}.cta_group::1.kind::{}{} [%r10+{}], {}, %rd8, %r12{}, %p2{};\n",
      form.is_weight_stationary ? ".ws" : "", form.kind, form.modifiers, form.first_lane << 16U,
      form.has_a_in_tensor_memory ? fmt::format("[%r10+{}]", kColumnsBeforeA + (form.first_lane << 16U)) : "%rd7",
      form.masks, form.scale);
  text += fmt::format("{}\n{}\n{}\n{}\n{}\n", lines.before_commit, lines.commit, lines.before_wait, lines.wait,
                      lines.after_wait);
  return entry(text + copies(true, form.n, start_of_d, kWaitForLoads) + freeing(512));
}

/// Where an element of d is: lane and column.
std::pair<unsigned, unsigned> place_of_sum(const Form& form, unsigned row, unsigned column) {
  if (form.is_weight_stationary) {
    const unsigned columns = form.n * form.m / 128;
    return {row + column / columns * form.m, column % columns};
  }
  if (form.m == 128) return {row, column};
  return {form.first_lane + row / 16 * 32 + row % 16, column};
}

/// Runs the form with small integers. If `compares`, compares tensor memory with the product. `factor` is that of the
/// old sums, and `is_kept` selects the lanes that keep them.
RunResult run_form(const Form& form, const Lines& lines = {}, bool compares = true, int divisor = 1,
                   const std::function<bool(unsigned)>& is_kept = nullptr) {
  const unsigned inner = inner_of(form);
  const unsigned bytes = bytes_of_type(form.a_type);
  Rng random(form.n + form.m);
  const auto draw = [&](unsigned lines_of_matrix, const std::string& type) {
    std::vector<int> numbers(std::size_t{lines_of_matrix} * inner);
    for (int& number : numbers)
      number = static_cast<int>(random.next() % 9) - (type == "u8" ? 0 : 4);
    return numbers;
  };
  const std::vector<int> a = draw(form.m, form.a_type), b = draw(form.n, form.b_type);
  const Layout layout_a = layout_of(form.a, form.m, bytes), layout_b = layout_of(form.b, form.n, bytes);
  const unsigned shared_words = (kStartOfB + layout_b.total_bytes) / 4;
  const unsigned start_of_d = shared_words + kWordsOfA * kLanes;
  std::vector<std::uint32_t> data(start_of_d + std::size_t{kLanes} * form.n);
  auto* const image = reinterpret_cast<std::uint8_t*>(data.data());
  const auto store = [&](const std::vector<int>& numbers, const Storage& storage, const Layout& layout, unsigned start,
                         const std::string& type) {
    for (unsigned i = 0; i < numbers.size(); ++i) {
      const std::uint32_t bits = encoded(type, numbers[i]);
      std::memcpy(image + start + position_of_element(storage, layout, i / inner, i % inner, bytes), &bits, bytes);
    }
  };
  if (!form.has_a_in_tensor_memory) store(a, form.a, layout_a, 0, form.a_type);
  store(b, form.b, layout_b, kStartOfB, form.b_type);
  const unsigned parts = form.is_weight_stationary ? 128 / form.m : 1;
  for (unsigned part = 0; part < parts && form.has_a_in_tensor_memory; ++part) {
    for (unsigned i = 0; i < a.size(); ++i) {
      const unsigned lane = place_of_sum(form, i / inner, part * form.n / parts).first;
      const std::uint32_t bits = encoded(form.a_type, a[i]);
      std::memcpy(image + 4 * std::size_t{shared_words + lane * kWordsOfA} + i % inner * bytes, &bits, bytes);
    }
  }
  const auto old_sum = [&](unsigned lane, unsigned column) {
    return (static_cast<int>((lane * 5 + column * 3) % 7) - 3) * divisor;
  };
  for (unsigned i = 0; i < kLanes * form.n; ++i)
    data[start_of_d + i] = encoded(form.sum_type, old_sum(i / form.n, i % form.n));
  auto done = run<std::uint32_t>(kernel_text(form, shared_words, lines), data, {{1}, {kLanes}});
  if (!compares || !done.result.ok()) return done.result;
  std::vector<int> expected(std::size_t{kLanes} * form.n);
  for (unsigned i = 0; i < expected.size(); ++i)
    expected[i] = old_sum(i / form.n, i % form.n);
  for (unsigned row = 0; row < form.m; ++row) {
    for (unsigned column = 0; column < form.n; ++column) {
      int sum = 0;
      for (unsigned k = 0; k < inner; ++k)
        sum += a[row * inner + k] * b[column * inner + k];
      if (form.negates_a != form.negates_b) sum = -sum;
      const auto [lane, tensor_column] = place_of_sum(form, row, column);
      int& place = expected[lane * form.n + tensor_column];
      if (is_kept && is_kept(lane)) continue;
      place = sum + (form.adds ? place / divisor : 0);
    }
  }
  for (unsigned i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(done.data[start_of_d + i], encoded(form.sum_type, expected[i]))
        << form.kind << " m " << form.m << " n " << form.n << " lane " << i / form.n << " column " << i % form.n;
    if (::testing::Test::HasFailure()) break;
  }
  return done.result;
}

constexpr Storage kRows{128, false};
Form half_product() {
  return {
      .kind = "f16", .sum_type = "f32", .a_type = "f16", .b_type = "f16", .m = 128, .n = 64, .a = kRows, .b = kRows};
}

TEST(TensorProducts, AllKindsAndExtentsMultiply) {
  for (const auto& [kind, sum, a, b] : std::vector<std::array<std::string, 4>>{{"f16", "f32", "f16", "f16"},
                                                                               {"f16", "f16", "f16", "f16"},
                                                                               {"f16", "f32", "bf16", "bf16"},
                                                                               {"tf32", "f32", "tf32", "tf32"},
                                                                               {"f8f6f4", "f32", "e4m3", "e4m3"},
                                                                               {"f8f6f4", "f16", "e5m2", "e4m3"},
                                                                               {"i8", "s32", "s8", "u8"},
                                                                               {"i8", "s32", "u8", "s8"}}) {
    for (const unsigned m : {64U, 128U}) {
      for (const unsigned n : {8U, 16U, 64U, 256U}) {
        if (m == 128 && n == 8) continue;
        for (const bool in_tensor_memory : {false, true}) {
          Form form{.kind = kind, .sum_type = sum, .a_type = a, .b_type = b, .m = m, .n = n, .a = kRows, .b = kRows};
          form.has_a_in_tensor_memory = in_tensor_memory;
          form.first_lane = m == 64 && n == 64 ? 16 : 0;
          expect_clean(run_form(form));
          ASSERT_FALSE(HasFailure()) << kind << " " << a << " " << m << " " << n << in_tensor_memory;
        }
      }
    }
  }
}

TEST(TensorProducts, MatricesMayBeTransposedAndSwizzled) {
  for (const unsigned a_bytes : {16U, 32U, 64U, 128U}) {
    for (const unsigned b_bytes : {16U, 32U, 64U, 128U}) {
      for (const bool transposes_a : {false, true}) {
        for (const bool transposes_b : {false, true}) {
          Form form = half_product();
          form.a = {a_bytes, transposes_a};
          form.b = {b_bytes, transposes_b};
          expect_clean(run_form(form));
          ASSERT_FALSE(HasFailure()) << a_bytes << " " << b_bytes << transposes_a << transposes_b;
        }
      }
    }
  }
}

TEST(TensorProducts, OptionsOfTheInstructionApply) {
  for (const bool negates : {false, true}) {
    Form form = half_product();
    form.negates_a = negates;
    form.negates_b = true;
    form.modifiers = ".collector::a::lastuse";
    expect_clean(run_form(form));
    form.adds = false;
    expect_clean(run_form(form));
  }
  Form scaled = half_product();
  scaled.scale = ", 3";
  expect_clean(run_form(scaled, {}, true, 8));
  Form masked = half_product();
  masked.masks = ", {%r16, %r15, %r16, %r16}";
  expect_clean(run_form(masked, {}, true, 1, [](unsigned lane) { return lane >= 32 && lane < 48; }));
  for (const unsigned m : {32U, 64U, 128U}) {
    for (const bool in_tensor_memory : {false, true}) {
      Form form = half_product();
      form.m = m;
      form.n = 128;
      form.is_weight_stationary = true;
      form.has_a_in_tensor_memory = in_tensor_memory;
      expect_clean(run_form(form));
    }
  }
}

TEST(TensorProducts, FlopsAreCountedAndApproximate) {
  const RunResult result = run_form(half_product());
  EXPECT_EQ(result.profile.flop_count, 2U * 128 * 64 * 16);
  EXPECT_EQ(result.profile.approximate_instruction_count, kLanes);
  EXPECT_TRUE(result.profile.approximation_reaches_result);
}

TEST(TensorProducts, AccessesToSumsBeforeTheWaitAreDetected) {
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r11]; tcgen05.wait::ld.sync.aligned;";
  const RunResult read = run_form(half_product(), {.before_wait = load}, false);
  expect_first(read, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(read.findings[0]), HasSubstr("tcgen05.mma"));
  EXPECT_THAT(describe(read.findings[0]), HasSubstr("which its thread has not waited for"));
  const std::string store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1}; tcgen05.wait::st.sync.aligned;";
  expect_first(run_form(half_product(), {.before_wait = store}, false), Kind::kWriteWriteRace);
  expect_first(run_form(half_product(), {.wait = ""}, false), Kind::kReadWriteRace);
  expect_first(run_form(half_product(), {.before_commit = "bar.sync 0;" + load}, false), Kind::kReadWriteRace);
  // The phase does not wait for a product that follows the commit.
  const std::string product = "@%p11 tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd7, %rd8, %r12, %p2;";
  expect_first(run_form(half_product(), {.before_wait = product}, false), Kind::kReadWriteRace);
  expect_clean(run_form(half_product(), {.before_commit = product}, false));
  expect_first(
      run_form(half_product(),
               {.before_wait = "bar.sync 0;" + freeing(512), .wait = "bra END;", .after_wait = "END: ret;"}, false),
      Kind::kWriteWriteRace);
}

TEST(TensorProducts, UnfinishedStoresBeforeTheProductAreDetected) {
  expect_first(run_form(half_product(), {.wait_for_stores = ""}, false), Kind::kReadWriteRace);
  const std::string store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%r1}; tcgen05.wait::st.sync.aligned;";
  expect_first(run_form(half_product(), {.barrier = "bar.sync 0;" + store}, false), Kind::kWriteWriteRace);
  expect_clean(run_form(half_product(), {.barrier = "bar.sync 0;" + store + "bar.sync 0;"}, false));
  Form form = half_product();
  form.has_a_in_tensor_memory = true;
  const std::string late_store =
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+256], {%r1}; tcgen05.wait::st.sync.aligned;";
  expect_first(run_form(form, {.before_wait = late_store}, false), Kind::kReadWriteRace);
  expect_clean(run_form(form, {.after_wait = late_store}));
}

TEST(TensorProducts, UnorderedAccessesToSharedMemoryAreDetected) {
  const RunResult fence = run_form(half_product(), {.fence = ""}, false);
  expect_first(fence, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_THAT(describe(fence.findings[0]), HasSubstr("which no fence.proxy.async follows"));
  const std::string write = "bar.sync 0; setp.eq.u32 %p3, %r1, 64; @%p3 st.shared.b32 [%r5+32768], %r1;";
  expect_first(run_form(half_product(), {.before_wait = write}, false), Kind::kReadWriteRace);
  expect_clean(run_form(half_product(), {.after_wait = write}));
}

TEST(TensorProducts, OperandsOutsideTheirMemoryAreDetected) {
  Form form = half_product();
  form.adds = false;
  expect_first(run_form(half_product(), {.barrier = "bar.sync 0; add.u64 %rd8, %rd8, 200;"}, false),
               Kind::kOutOfBounds);
  expect_first(run_form(form, {.barrier = "bar.sync 0; add.u32 %r10, %r10, 500;"}, false), Kind::kOutOfBounds);
  expect_first(run_form(half_product(), {.barrier = "bar.sync 0; add.u32 %r10, %r10, 1048576;"}, false),
               Kind::kMisaligned);
}

TEST(TensorProducts, InvalidDescriptorsAreRejected) {
  const auto message = [](const std::string& change) {
    return run_form(half_product(), {.barrier = "bar.sync 0; " + change}, false).message;
  };
  EXPECT_THAT(message("or.b32 %r12, %r12, 4;"), HasSubstr("of a sparse matrix is not supported"));
  EXPECT_THAT(message("or.b32 %r12, %r12, 256;"),
              HasSubstr("has types that the kind of the instruction does not allow"));
  EXPECT_THAT(message("and.b32 %r12, %r12, 16777215;"), HasSubstr("has the invalid extents m = 0 and n = 64"));
  EXPECT_THAT(message("and.b64 %rd8, %rd8, 0xffff3fffffffffff;"), HasSubstr("without the constant 1"));
  EXPECT_THAT(message("or.b64 %rd8, %rd8, 0x2000000000000000;"), HasSubstr("invalid swizzle"));
  EXPECT_THAT(message("or.b64 %rd8, %rd8, 0x2000000000000;"), HasSubstr("base offset"));
}

TEST(TensorProducts, UnsupportedVariantsAreReported) {
  for (const std::string& instruction : std::vector<std::string>{
           "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd1, %r1, %p1;",
           "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd1, %r1, [%r1], [%r1], %p1;",
           "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd1, [%r1], %r1, %p1;",
           "tcgen05.mma.cta_group::1.kind::f16 [%r1], %r1, %rd1, %r1, %p1;",
           "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd1, %r1, %p1, 16;",
           "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd1, %r1, %p1, 1;",
           "tcgen05.shift.cta_group::1.down [%r1];", "tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;",
           "tcgen05.cp.cta_group::1.64x128b [%r1], %rd1;", "tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r1];",
           "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r1];"}) {
    const auto done = run<float>(entry(instruction), std::vector<float>(4), {{1}, {kLanes}});
    EXPECT_EQ(done.result.status, RunResult::Status::kUnsupported) << instruction;
  }
}

// ------------------------------------------------------------------------------------------------ copies, unrounded

TEST(TensorProducts, CopiesFromSharedMemoryReachTheirLanes) {
  struct Copy {
    std::string shape;
    unsigned rows, bytes;
    std::function<bool(unsigned row, unsigned lane)> reaches;
  };
  const auto is_same = [](unsigned row, unsigned lane) { return row == lane; };
  for (const Copy& copy : std::vector<Copy>{
           {"128x256b", 128, 32, is_same},
           {"128x128b", 128, 16, is_same},
           {"64x128b.warpx2::02_13", 64, 16, [](unsigned row, unsigned lane) { return row == lane % 64; }},
           {"64x128b.warpx2::01_23", 64, 16,
            [](unsigned row, unsigned lane) { return row % 32 == lane % 32 && row / 32 == lane / 64; }},
           {"32x128b.warpx4", 32, 16, [](unsigned row, unsigned lane) { return row == lane % 32; }}}) {
    const std::string wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r4], 0; @!%p5 bra WAIT;";
    const auto text = [&](const std::string& before_load) {
      // Each thread writes 8 words; groups of 8 rows are 128 bytes apart, and chunks of a row 2048.
      std::string body = ".shared .align 1024 .b8 s[4096]; mov.u32 %r5, s; shl.b32 %r6, %r1, 5; add.u32 %r6, %r6, %r5;";
      for (unsigned i = 0; i < 8; ++i)
        body += fmt::format("mad.lo.u32 %r7, %r1, 8, {}; st.shared.b32 [%r6+{}], %r7;", i, 4 * i);
      body += fmt::format(
          "bfe.u32 %r6, %r5, 4, 14; cvt.u64.u32 %rd6, %r6; or.b64 %rd7, %rd6, {};"
          " fence.proxy.async; bar.sync 0; @%p11 tcgen05.cp.cta_group::1.{} [%r10], %rd7;"
          " @%p11 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r4]; {}\n",
          std::uint64_t{128} << 16U | std::uint64_t{8} << 32U | std::uint64_t{1} << 46U, copy.shape, before_load);
      // The address of the commit is generic.
      body = "cvt.u64.u32 %rd9, %r4; cvta.shared.u64 %rd9, %rd9;" + body;
      body.replace(body.find(".b64 [%r4]"), 10, ".b64 [%rd9]");
      std::string words = copies(true, 8, 0, kWaitForLoads);
      if (copy.bytes == 16) {
        words =
            "mul.wide.u32 %rd5, %r1, 32; add.s64 %rd5, %rd5, %rd1; tcgen05.ld.sync.aligned.32x32b.x4.b32 "
            "{%v0, %v1, %v2, %v3}, [%r11]; tcgen05.wait::ld.sync.aligned;";
        for (unsigned i = 0; i < 4; ++i)
          words += fmt::format("st.global.b32 [%rd5+{}], %v{};", 4 * i, i);
      }
      return entry(allocation(32) + body + words + freeing(32));
    };
    const auto done = run<std::uint32_t>(text(wait), std::vector<std::uint32_t>(kLanes * 8), {{1}, {kLanes}});
    expect_clean(done.result);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned row = 0; row < copy.rows; ++row) {
        if (!copy.reaches(row, lane)) continue;
        for (unsigned word = 0; word < copy.bytes / 4; ++word) {
          const unsigned place = row % 8 * 4 + row / 8 * 32 + word / 4 * 512 + word % 4;
          ASSERT_EQ(done.data[lane * 8 + word], place) << copy.shape << " lane " << lane;
        }
      }
    }
    expect_first(run<std::uint32_t>(text(""), std::vector<std::uint32_t>(kLanes * 8), {{1}, {kLanes}}).result,
                 Kind::kReadWriteRace);
  }
}

TEST(TensorProducts, UnroundedValuesGoThroughProducts) {
  // d = third + third of the thread's number, with a in tensor memory as tf32, and b with a one in column 0 of row 0.
  std::string body =
      ".shared .align 1024 .b8 s[1024]; mov.u32 %r5, s; shl.b32 %r6, %r1, 3; add.u32 %r6, %r6, %r5;"
      " setp.eq.u32 %p3, %r1, 0; selp.b32 %r7, 0x3f800000, 0, %p3; st.shared.b32 [%r6], %r7;"
      " mov.b32 %r8, 0; st.shared.b32 [%r6+4], %r8; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd5, %rd1;"
      " ld.global.f32 %f1, [%rd5]; div.rn.f32 %f2, %f1, 0f40400000; mov.b32 %v0, %f2; mov.b32 %v1, 0;"
      " tcgen05.st.sync.aligned.32x32b.x16.b32 [%r11], {%v0";
  for (unsigned i = 1; i < 16; ++i)
    body += ", %v1";
  body +=
      "}; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r11+16], {%v0, %v1, %v1, %v1, %v1, %v1, %v1, %v1};"
      " tcgen05.wait::st.sync.aligned; fence.proxy.async; bar.sync 0;";
  Form form{.kind = "tf32",
            .sum_type = "f32",
            .a_type = "tf32",
            .b_type = "tf32",
            .m = 128,
            .n = 16,
            .a = {16, false},
            .b = {16, false}};
  body += fmt::format(
      " bfe.u32 %r6, %r5, 4, 14; cvt.u64.u32 %rd6, %r6; or.b64 %rd7, %rd6, {};"
      " @%p11 tcgen05.mma.cta_group::1.kind::tf32 [%r10], [%r10+16], %rd7, {}, 1;"
      " @%p11 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];"
      " WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r4], 0; @!%p5 bra WAIT;"
      " tcgen05.ld.sync.aligned.16x64b.x1.b32 {{%v2}}, [%r11]; tcgen05.wait::ld.sync.aligned;"
      " st.global.b32 [%rd5], %v2;",
      descriptor_of(form.b, layout_of(form.b, 16, 4)), instruction_descriptor_of(form));
  std::vector<float> data(kLanes);
  for (unsigned i = 0; i < kLanes; ++i)
    data[i] = 0.37F + 0.11F * static_cast<float>(i);
  const std::vector<float> inputs = data;
  Machine machine;
  const AllocationId id = machine.adopt("x", std::as_writable_bytes(std::span(data)), {});
  KernelArguments arguments;
  arguments.add(machine.address(id));
  const auto kernel = kernel_of(entry(allocation(32) + body + freeing(32)));
  ASSERT_NE(kernel, nullptr);
  LaunchOptions options;
  options.computes_unrounded_values = true;
  const RunResult result = machine.launch(kernel, {{1}, {kLanes}}, arguments, options);
  expect_clean(result);
  const std::vector<UnroundedNumber> numbers = machine.unrounded_values(machine.address(id), Type::kF32, kLanes);
  unsigned rounded_count = 0;
  for (unsigned thread = 0; thread < kLanes; ++thread) {
    if (thread % 4 >= 2) continue;  // column 1
    const unsigned lane = thread / 32 * 32 + thread % 32 / 4 + 8 * (thread % 2);
    const double wanted = 2 * (double{inputs[lane]} / 3);
    EXPECT_NEAR(numbers[thread].value, wanted, 1e-14) << thread;
    EXPECT_NEAR(data[thread], wanted, 4e-3 * wanted);
    rounded_count += std::abs(double{data[thread]} - wanted) > 1e-9 ? 1 : 0;
  }
  EXPECT_GT(rounded_count, 32U);
}

}  // namespace
}  // namespace assay::ptx
