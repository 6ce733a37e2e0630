// Tests of instructions on matrices against the layouts that the PTX manual gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::run;
using Kind = CheckFinding::Kind;

void expect_clean(const RunResult& result) {
  EXPECT_TRUE(result.ok()) << result.message << (result.findings.empty() ? "" : describe(result.findings[0]));
}
void expect_first(const RunResult& result, Kind kind) {
  ASSERT_FALSE(result.findings.empty()) << to_text(kind) << " expected. " << result.message;
  EXPECT_EQ(result.findings[0].kind, kind) << describe(result.findings[0]);
}

// ------------------------------------------------------------------------------------------------ ldmatrix, stmatrix

/// Thread i copies its 16 bytes of the array to row i of `s`, which has 32 rows. %r2: address of row i; %rd2: the
/// thread's 16 bytes of the array.
constexpr std::string_view kFillRows =
    ".shared .align 16 .b8 s[512]; ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;"
    " mul.wide.u32 %rd3, %r1, 16; add.s64 %rd2, %rd1, %rd3; mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;"
    " ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2]; st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};"
    " mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n";
constexpr std::string_view kStoreRegisters = "st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};\n";

std::string rows_body(std::string_view middle) {
  return entry(std::string(kFillRows) + std::string(middle) + std::string(kStoreRegisters));
}
/// 32 rows of 8 elements with different values.
std::vector<std::uint16_t> numbered_elements() {
  std::vector<std::uint16_t> elements(256);
  for (std::uint16_t i = 0; i < 256; ++i)
    elements[i] = static_cast<std::uint16_t>(7 * i + 1);
  return elements;
}
RunResult run_rows(std::string_view middle) {
  return run<std::uint16_t>(rows_body(middle), numbered_elements()).result;
}
std::string registers(unsigned count) {
  std::string list = "{%r10";
  for (unsigned i = 1; i < count; ++i)
    list += fmt::format(", %r{}", 10 + i);
  return list + "}";
}

TEST(MatrixOperations, LdmatrixDistributesRowsOfMatrices) {
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const bool transposed : {false, true}) {
      for (const std::string space : {".shared", ".shared::cta", ""}) {
        const std::string address = space.empty() ? "[%rd4]" : "[%r2]";
        const auto done = run<std::uint16_t>(
            rows_body(fmt::format("mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; add.s64 %rd4, %rd4, %rd3;"
                                  " ldmatrix.sync.aligned.m8n8.x{}{}{}.b16 {}, {};",
                                  count, transposed ? ".trans" : "", space, registers(count), address)),
            numbered_elements());
        expect_clean(done.result);
        const std::vector<std::uint16_t> given = numbered_elements();
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned i = 0; i < 8; ++i) {
            const unsigned row = transposed ? 2 * (lane % 4) + i % 2 : lane / 4;
            const unsigned column = transposed ? lane / 4 : 2 * (lane % 4) + i % 2;
            ASSERT_EQ(done.data[8 * lane + i], i / 2 < count ? given[8 * (8 * (i / 2) + row) + column] : 0)
                << "lane " << lane << " element " << i << " of x" << count;
          }
        }
      }
    }
  }
}

TEST(MatrixOperations, StmatrixIsInverseOfLdmatrix) {
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const std::string transposed : {"", ".trans"}) {
      const auto done = run<std::uint16_t>(
          rows_body(fmt::format("ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 {2}, [%r2];"
                                " mov.u32 %r14, -1; st.shared.v4.u32 [%r2], {{%r14, %r14, %r14, %r14}};"
                                " stmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 [%r2], {2};"
                                " ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r2];",
                                count, transposed, registers(count))),
          numbered_elements());
      expect_clean(done.result);
      for (unsigned i = 0; i < 256; ++i)
        ASSERT_EQ(done.data[i], i < 64 * count ? numbered_elements()[i] : 0xffff) << "element " << i;
    }
  }
}

TEST(MatrixOperations, RowsInSharedMemoryAreChecked) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, ";
  const std::string store = "stmatrix.sync.aligned.m8n8.x4.shared.b16 ";
  expect_clean(run_rows(load + "[%r2];"));
  const RunResult outside = run_rows("bar.warp.sync -1;" + load + "[%r2+16];");
  expect_first(outside, Kind::kOutOfBounds);
  if (HasFatalFailure()) return;
  EXPECT_EQ(outside.findings[0].site.thread, (Dim3{31, 0, 0}));
  EXPECT_EQ(outside.findings[0].access_bytes, 16U);
  EXPECT_EQ(outside.findings[0].count, 1U);
  expect_first(run_rows("bar.warp.sync -1;" + store + "[%r2+16], {%r10, %r11, %r12, %r13};"), Kind::kOutOfBounds);
  expect_first(run_rows("and.b32 %r3, %r1, 7; mov.u32 %r2, s; mad.lo.u32 %r2, %r3, 24, %r2;" + load + "[%r2];"),
               Kind::kMisaligned);
  expect_first(run_rows(".shared .align 16 .b8 t[512]; mov.u32 %r2, t; add.u32 %r2, %r2, %r3;" + load + "[%r2];"),
               Kind::kUninitializedRead);
  expect_first(run_rows("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [%rd1];"), Kind::kOutOfBounds);
  expect_clean(
      run_rows("setp.lt.u32 %p1, %r1, 8; selp.u32 %r2, %r2, 0, %p1;"
               " ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [%r2];"));
}

TEST(MatrixOperations, MissingBarrierBeforeLdmatrixIsDetected) {
  const std::string next_row = "add.u32 %r3, %r3, 16; and.b32 %r3, %r3, 511; mov.u32 %r2, s; add.u32 %r2, %r2, %r3;";
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];";
  const RunResult race = run_rows(next_row + load);
  expect_first(race, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_EQ(race.findings[0].conflicting_access->thread, (Dim3{1, 0, 0}));
  expect_clean(run_rows("bar.warp.sync -1;" + next_row + load));
  expect_first(run_rows("mov.u32 %r2, s; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r10, %r11};"),
               Kind::kWriteWriteRace);
}

TEST(MatrixOperations, InactiveLaneIsDetected) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [%r2];";
  expect_first(run_rows("setp.lt.u32 %p1, %r1, 31; @%p1 " + load), Kind::kInactiveLane);
  expect_first(run_rows("setp.lt.u32 %p1, %r1, 31; @!%p1 exit; " + load), Kind::kInactiveLane);
  expect_first(run<std::uint16_t>(rows_body(load), numbered_elements(), {{1}, {24}}).result, Kind::kInactiveLane);
  expect_clean(run_rows("setp.lt.u32 %p1, %r1, 31; @%p1 bra L; mov.u32 %r14, 1; L: " + load));
}

TEST(MatrixOperations, LdmatrixWithWrongNumberOfRegistersIsNotSupported) {
  EXPECT_EQ(run_rows("ldmatrix.sync.aligned.m8n8.x2.shared.b16 %r10, [%r2];").status, RunResult::Status::kUnsupported);
}

}  // namespace
}  // namespace assay::ptx
