// Tests of instructions on matrices against the layouts that the PTX manual gives.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/ptx/testing/machine.hpp"
#include "support/rng.hpp"

namespace assay::ptx {
namespace {

using testing::entry;
using testing::expect_clean;
using testing::expect_first;
using testing::run;
using Kind = CheckFinding::Kind;

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

TEST(MatrixOperations, FaultyAccessesToMatrixRowsAreDetected) {
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

TEST(MatrixOperations, RedundantLanesMayStoreTheSameRow) {
  // Lanes 0 and 4 have the address of the same row, as in code of Triton.
  const std::string rows =
      "and.b32 %r3, %r1, 3; shl.b32 %r3, %r3, 4; mov.u32 %r2, s; add.u32 %r2, %r2, %r3;"
      " bar.warp.sync -1; ";
  const std::string store = " stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r10};";
  expect_clean(run_rows(rows + "mov.u32 %r10, 7;" + store));
  expect_first(run_rows(rows + "mov.u32 %r10, %r1;" + store), Kind::kWriteWriteRace);
}

TEST(MatrixOperations, MissingBarrierBeforeLdmatrixIsDetected) {
  const std::string next_row = "add.u32 %r3, %r3, 16; and.b32 %r3, %r3, 511; mov.u32 %r2, s; add.u32 %r2, %r2, %r3;";
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];";
  const RunResult race = run_rows(next_row + load);
  expect_first(race, Kind::kReadWriteRace);
  if (HasFatalFailure()) return;
  EXPECT_EQ(race.findings[0].conflicting_access->thread, (Dim3{1, 0, 0}));
  expect_clean(run_rows("bar.warp.sync -1;" + next_row + load));
  expect_first(run_rows("mov.u32 %r2, s; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r4, %r5};"),
               Kind::kWriteWriteRace);
}

TEST(MatrixOperations, LdmatrixWithInactiveLaneIsDetected) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [%r2];";
  expect_first(run_rows("setp.lt.u32 %p1, %r1, 31; @%p1 " + load), Kind::kInactiveLane);
  expect_first(run_rows("setp.lt.u32 %p1, %r1, 31; @!%p1 exit; " + load), Kind::kInactiveLane);
  expect_first(run<std::uint16_t>(rows_body(load), numbered_elements(), {{1}, {24}}).result, Kind::kInactiveLane);
  expect_clean(run_rows("setp.lt.u32 %p1, %r1, 31; @%p1 bra L; mov.u32 %r14, 1; L: " + load));
}

TEST(MatrixOperations, LdmatrixWithIncorrectRegisterCountIsUnsupported) {
  EXPECT_EQ(run_rows("ldmatrix.sync.aligned.m8n8.x2.shared.b16 %r10, [%r2];").status, RunResult::Status::kUnsupported);
}

// --------------------------------------------------------------------------------------------------------------- mma

struct ElementPosition {
  unsigned row;
  unsigned column;
};
/// The position of element i of a lane. g is the number of its group of 4 lanes, t the number of the lane in the group.
using ElementLayout = ElementPosition (*)(unsigned g, unsigned t, unsigned i);

/// A form of mma with the layouts that the PTX manual gives for it.
struct MmaForm {
  std::string shape;
  std::string types;  ///< types of d, a, b and c
  unsigned m, n, k;
  ElementLayout a, b, c;
};

ElementPosition sums_of_16_rows(unsigned g, unsigned t, unsigned i) { return {i < 2 ? g : g + 8, 2 * t + (i & 1U)}; }
ElementPosition sums_of_8_rows(unsigned g, unsigned t, unsigned i) { return {g, 2 * t + i}; }
ElementPosition halves_a_8(unsigned g, unsigned t, unsigned i) { return {i < 2 ? g : g + 8, 2 * t + (i & 1U)}; }
ElementPosition halves_b_8(unsigned g, unsigned t, unsigned i) { return {2 * t + i, g}; }
ElementPosition halves_a_16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 || (4 <= i && i < 6) ? g : g + 8, i < 4 ? 2 * t + (i & 1U) : 2 * t + (i & 1U) + 8};
}
ElementPosition halves_b_16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? 2 * t + (i & 1U) : 2 * t + (i & 1U) + 8, g};
}
ElementPosition words_a_4(unsigned g, unsigned t, unsigned i) { return {i == 0 ? g : g + 8, t}; }
ElementPosition words_b_4(unsigned g, unsigned t, unsigned) { return {t, g}; }
ElementPosition words_a_8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
ElementPosition words_b_8(unsigned g, unsigned t, unsigned i) { return {i == 0 ? t : t + 4, g}; }
ElementPosition bytes_a_of_8_rows(unsigned g, unsigned t, unsigned i) { return {g, 4 * t + i}; }
ElementPosition bytes_a_16(unsigned g, unsigned t, unsigned i) { return {i < 4 ? g : g + 8, 4 * t + (i & 3U)}; }
ElementPosition bytes_b_16(unsigned g, unsigned t, unsigned i) { return {4 * t + i, g}; }
ElementPosition bytes_a_32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 || (8 <= i && i < 12) ? g : g + 8, i < 8 ? 4 * t + (i & 3U) : 4 * t + (i & 3U) + 16};
}
ElementPosition bytes_b_32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? 4 * t + (i & 3U) : 4 * t + (i & 3U) + 16, g};
}
ElementPosition doubles_a(unsigned g, unsigned t, unsigned) { return {g, t}; }

const std::vector<MmaForm> kMmaForms = {
    {"m16n8k8", "f32.f16.f16.f32", 16, 8, 8, halves_a_8, halves_b_8, sums_of_16_rows},
    {"m16n8k8", "f16.f16.f16.f16", 16, 8, 8, halves_a_8, halves_b_8, sums_of_16_rows},
    {"m16n8k8", "f32.bf16.bf16.f32", 16, 8, 8, halves_a_8, halves_b_8, sums_of_16_rows},
    {"m16n8k16", "f32.f16.f16.f32", 16, 8, 16, halves_a_16, halves_b_16, sums_of_16_rows},
    {"m16n8k16", "f16.f16.f16.f16", 16, 8, 16, halves_a_16, halves_b_16, sums_of_16_rows},
    {"m16n8k16", "f32.bf16.bf16.f32", 16, 8, 16, halves_a_16, halves_b_16, sums_of_16_rows},
    {"m16n8k4", "f32.tf32.tf32.f32", 16, 8, 4, words_a_4, words_b_4, sums_of_16_rows},
    {"m16n8k8", "f32.tf32.tf32.f32", 16, 8, 8, words_a_8, words_b_8, sums_of_16_rows},
    {"m8n8k16", "s32.s8.s8.s32", 8, 8, 16, bytes_a_of_8_rows, bytes_b_16, sums_of_8_rows},
    {"m16n8k16", "s32.s8.s8.s32", 16, 8, 16, bytes_a_16, bytes_b_16, sums_of_16_rows},
    {"m16n8k16", "s32.u8.s8.s32", 16, 8, 16, bytes_a_16, bytes_b_16, sums_of_16_rows},
    {"m16n8k32", "s32.s8.u8.s32", 16, 8, 32, bytes_a_32, bytes_b_32, sums_of_16_rows},
    {"m16n8k32", "s32.u8.u8.s32", 16, 8, 32, bytes_a_32, bytes_b_32, sums_of_16_rows},
    {"m16n8k32", "f32.e4m3.e4m3.f32", 16, 8, 32, bytes_a_32, bytes_b_32, sums_of_16_rows},
    {"m16n8k32", "f32.e5m2.e4m3.f32", 16, 8, 32, bytes_a_32, bytes_b_32, sums_of_16_rows},
    {"m16n8k32", "f16.e4m3.e5m2.f16", 16, 8, 32, bytes_a_32, bytes_b_32, sums_of_16_rows},
    {"m8n8k4", "f64.f64.f64.f64", 8, 8, 4, doubles_a, words_b_4, sums_of_8_rows},
};

/// The registers of a lane as words; registers of 64 bits are two words.
struct LaneRegisters {
  std::uint32_t a[4];
  std::uint32_t b[2];
  std::uint32_t c[4];
  std::uint32_t d[4];
};
using Warp = std::vector<LaneRegisters>;

/// %r2 to %r5 are a, %r6 and %r7 are b, %r8 to %r11 are c, and %r12 to %r15 are d; likewise %rd4, %rd6, %rd8 and %rd12
/// for registers of 64 bits.
std::string mma_body(std::string_view instruction) {
  return entry(
      "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 56; add.s64 %rd2, %rd1, %rd2;"
      " ld.global.b32 %r2, [%rd2]; ld.global.b32 %r3, [%rd2+4]; ld.global.b32 %r4, [%rd2+8];"
      " ld.global.b32 %r5, [%rd2+12]; ld.global.b32 %r6, [%rd2+16]; ld.global.b32 %r7, [%rd2+20];"
      " ld.global.b32 %r8, [%rd2+24]; ld.global.b32 %r9, [%rd2+28]; ld.global.b32 %r10, [%rd2+32];"
      " ld.global.b32 %r11, [%rd2+36]; mov.b64 %rd4, {%r2, %r3}; mov.b64 %rd6, {%r6, %r7}; mov.b64 %rd8, {%r8, %r9};"
      " mov.b64 %rd9, {%r10, %r11};\n" +
      std::string(instruction) +
      "\nst.global.b32 [%rd2+40], %r12; st.global.b32 [%rd2+44], %r13; st.global.b32 [%rd2+48], %r14;"
      " st.global.b32 [%rd2+52], %r15;");
}
std::string register_list(unsigned first, unsigned count, bool is_wide) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i)
    list += fmt::format("{}%r{}{}", i == 0 ? "" : ", ", is_wide ? "d" : "", first + i);
  return list + "}";
}

unsigned bits_of_type(std::string_view type) {
  return type == "f64" ? 64 : type.ends_with("32") ? 32 : type.ends_with("16") ? 16 : 8;
}
std::vector<std::string> types_of(const MmaForm& form) {
  std::vector<std::string> types;
  std::istringstream text(form.types);
  for (std::string type; std::getline(text, type, '.');)
    types.push_back(type);
  return types;
}
std::string mma_text(const MmaForm& form, std::string_view modifier = "") {
  const std::vector<std::string> types = types_of(form);
  const bool wide = types[0] == "f64";
  const auto count = [&](unsigned elements, const std::string& type) {
    return std::max(1U, elements / 32 * std::min(32U, bits_of_type(type)) / 32);
  };
  const unsigned sums = count(form.m * form.n, types[0]);
  std::string text =
      fmt::format("mma.sync.aligned.{}.row.col{}.{} {}, {}, {}, {};", form.shape, modifier, form.types,
                  register_list(12, sums, wide), register_list(wide ? 4 : 2, count(form.m * form.k, types[1]), wide),
                  register_list(6, count(form.k * form.n, types[2]), wide), register_list(8, sums, wide));
  if (wide) text += " mov.b64 {%r12, %r13}, %rd12; mov.b64 {%r14, %r15}, %rd13;";
  return text;
}

/// The bits of a number that the type holds exactly.
std::uint64_t encoded(std::string_view type, double number) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(number);
  if (type == "f32" || type == "tf32") return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (type == "bf16") return std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16U;
  if (type == "s32") return static_cast<std::uint32_t>(static_cast<std::int32_t>(number));
  if (type == "s8" || type == "u8") return static_cast<std::uint8_t>(static_cast<std::int32_t>(number));
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  if (type == "e4m3" || type == "e5m2") {
    const int binade = type == "e4m3" ? 8 : 4;
    const int bias = type == "e4m3" ? 5 : 13;
    const std::uint64_t magnitude =
        number == 0 ? 0 : static_cast<std::uint64_t>((exponent + bias) * binade + std::lround(fraction * 2 * binade));
    return magnitude | (number < 0 ? 0x80U : 0U);
  }
  const std::uint64_t sign = number < 0 ? 0x8000 : 0;
  return number == 0 ? 0 : sign | static_cast<std::uint64_t>((exponent + 13) * 1024 + std::lround(fraction * 2048));
}
/// Element i of registers.
std::uint64_t element_bits(const std::uint32_t* registers, std::string_view type, unsigned i) {
  const unsigned bits = bits_of_type(type);
  if (bits == 64) return registers[2 * i] | std::uint64_t{registers[2 * i + 1]} << 32U;
  return registers[i * bits / 32] >> (i * bits % 32) & ((std::uint64_t{1} << bits) - 1);
}
void set_element(std::uint32_t* registers, std::string_view type, unsigned i, double number) {
  const unsigned bits = bits_of_type(type);
  const std::uint64_t value = encoded(type, number);
  registers[i * bits / 32] |= static_cast<std::uint32_t>(value << (i * bits % 32));
  if (bits == 64) registers[i * 2 + 1] = static_cast<std::uint32_t>(value >> 32U);
}
void fill(Warp& warp, std::uint32_t* (*registers)(LaneRegisters&), std::string_view type, unsigned count,
          ElementLayout layout, const std::function<double(ElementPosition)>& number_at) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < count; ++i)
      set_element(registers(warp[lane]), type, i, number_at(layout(lane / 4, lane % 4, i)));
  }
}
/// Fills the registers of a, b and c.
Warp filled_warp(const MmaForm& form, const std::function<double(ElementPosition)>& a,
                 const std::function<double(ElementPosition)>& b, const std::function<double(ElementPosition)>& c) {
  const std::vector<std::string> types = types_of(form);
  Warp warp(32, LaneRegisters{});
  fill(
      warp, [](LaneRegisters& lane) { return lane.a; }, types[1], form.m * form.k / 32, form.a, a);
  fill(
      warp, [](LaneRegisters& lane) { return lane.b; }, types[2], form.k * form.n / 32, form.b, b);
  fill(
      warp, [](LaneRegisters& lane) { return lane.c; }, types[3], form.m * form.n / 32, form.c, c);
  return warp;
}
TEST(MatrixOperations, MmaComputesProductsWithDocumentedLayouts) {
  for (const MmaForm& form : kMmaForms) {
    const std::vector<std::string> types = types_of(form);
    // Small integers, which every type holds and whose sums every type holds too.
    Rng random(form.k);
    std::array<std::array<int, 32>, 32> a{}, b{}, c{};
    const auto draw = [&](auto& matrix, bool is_unsigned) {
      for (auto& row : matrix) {
        for (int& element : row)
          element = static_cast<int>(random.next() % 9) - (is_unsigned ? 0 : 4);
      }
    };
    draw(a, types[1] == "u8");
    draw(b, types[2] == "u8");
    draw(c, false);
    const Warp warp = filled_warp(
        form, [&](ElementPosition at) { return a[at.row][at.column]; },
        [&](ElementPosition at) { return b[at.row][at.column]; },
        [&](ElementPosition at) { return c[at.row][at.column]; });
    const auto done = run<LaneRegisters>(mma_body(mma_text(form)), warp);
    expect_clean(done.result);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < form.m * form.n / 32; ++i) {
        const auto [row, column] = form.c(lane / 4, lane % 4, i);
        int expected = c[row][column];
        for (unsigned j = 0; j < form.k; ++j)
          expected += a[row][j] * b[j][column];
        ASSERT_EQ(element_bits(done.data[lane].d, types[0], i), encoded(types[0], expected))
            << form.shape << "." << form.types << " row " << row << " column " << column;
      }
    }
    const bool is_integer = types[0] == "s32";
    EXPECT_EQ(done.result.profile.approximate_instruction_count, is_integer ? 0U : 32U) << form.types;
    EXPECT_EQ(done.result.profile.approximation_reaches_result, !is_integer) << form.types;
    EXPECT_EQ(done.result.profile.flop_count, is_integer ? 0U : 2 * form.m * form.n * form.k) << form.types;
  }
}

/// The first element of d, if all elements of a, b and c have the given values.
std::uint64_t constant_product(const MmaForm& form, double a, double b, double c, std::string_view modifier = "") {
  const auto constant = [](double number) { return [number](ElementPosition) { return number; }; };
  const auto done =
      run<LaneRegisters>(mma_body(mma_text(form, modifier)), filled_warp(form, constant(a), constant(b), constant(c)));
  expect_clean(done.result);
  return element_bits(done.data[0].d, types_of(form)[0], 0);
}

TEST(MatrixOperations, MmaRoundsSumsOnce) {
  const MmaForm& single_sums = kMmaForms[3];
  const MmaForm& half_sums = kMmaForms[4];
  EXPECT_EQ(constant_product(single_sums, 1, 1, 0x1p24), encoded("f32", 0x1p24 + 16));
  EXPECT_EQ(constant_product(half_sums, 1, 1, 2048), encoded("f16", 2048 + 16));
  EXPECT_EQ(constant_product(half_sums, 256, 256, 1), 0x7c00U) << "overflow";
  EXPECT_EQ(constant_product(single_sums, 0x1p15, 0x1p15, 0), encoded("f32", 0x1p34)) << "exceeds the range of f16";
}

/// The bits of a and b are given, those of c are 0.
std::uint64_t product_of_bits(const MmaForm& form, std::uint32_t a, std::uint32_t b) {
  Warp warp(32, LaneRegisters{});
  for (LaneRegisters& lane : warp) {
    std::fill_n(lane.a, 4, a);
    std::fill_n(lane.b, 2, b);
  }
  return element_bits(run<LaneRegisters>(mma_body(mma_text(form)), warp).data[0].d, types_of(form)[0], 0);
}

TEST(MatrixOperations, MmaSupportsSubnormalsInfinitiesAndNan) {
  const MmaForm& half = kMmaForms[3];
  constexpr std::uint32_t kOnes = 0x3c003c00;
  EXPECT_EQ(product_of_bits(half, 0x00010001, kOnes), encoded("f32", 16 * 0x1p-24));
  EXPECT_EQ(product_of_bits(half, 0x83ff83ff, kOnes), encoded("f32", -16 * 1023 * 0x1p-24));
  EXPECT_EQ(product_of_bits(half, 0xfc00fc00, kOnes), 0xff800000U);
  EXPECT_EQ(product_of_bits(half, 0x7c007c00, 0), 0x7fffffffU);
  EXPECT_EQ(product_of_bits(half, 0x7e007e00, kOnes), 0x7fffffffU);
  EXPECT_EQ(product_of_bits(kMmaForms[4], 0x7e007e00, kOnes), 0x7fffU);
  const MmaForm& tf32 = kMmaForms[7];
  EXPECT_EQ(product_of_bits(tf32, 0x3f801fff, 0x3f800000), encoded("f32", 8)) << "the lower 13 bits have no effect";
  EXPECT_EQ(product_of_bits(tf32, 0x3f802000, 0x3f800000), encoded("f32", 8 * (1 + 0x1p-10)));
}

TEST(MatrixOperations, IntegerMmaWrapsOrSaturates) {
  const MmaForm& form = kMmaForms[11];
  EXPECT_EQ(constant_product(form, 1, 1, 0x7fffffff), 0x80000000U + 31);
  EXPECT_EQ(constant_product(form, 1, 1, 0x7fffffff, ".satfinite"), 0x7fffffffU);
  EXPECT_EQ(constant_product(form, -128, 255, -0x7fffffff, ".satfinite"), 0x80000000U);
}

TEST(MatrixOperations, MmaWithInactiveLanesIsDetected) {
  const auto done = run<LaneRegisters>(mma_body("setp.lt.u32 %p1, %r1, 16; @%p1 " + mma_text(kMmaForms[3])), Warp(32));
  expect_first(done.result, Kind::kInactiveLane);
}

TEST(MatrixOperations, UnknownMmaVariantsAreUnsupported) {
  for (const std::string instruction :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r12, %r13}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r9};",
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%r12, %r13, %r14, %r15}, {%r2}, {%r6}, {%r8, %r9, %r10, "
        "%r11};",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r12, %r13, %r14, %r15}, {%r2, %r3, %r4, %r5, %r2, %r3, "
        "%r4, %r5}, {%r6, %r7, %r6, %r7}, {%r8, %r9, %r10, %r11};",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r12, %r13, %r14, %r15}, {%r2, %r3, %r4, %r5}, {%r6, %r7},"
        " {%r8, %r9, %r10, %r11};",
        "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%r12, %r13, %r14, %r15}, {%r2, %r3}, {%r6},"
        " {%r8, %r9, %r10, %r11};"}) {
    EXPECT_EQ(run<LaneRegisters>(mma_body(instruction), Warp(32)).result.status, RunResult::Status::kUnsupported)
        << instruction;
  }
}

// ------------------------------------------------------------------------------------------------------ compiled PTX

/// The PTX of a file in testdata/ptx/tensor_cores.
std::string compiled_ptx(const std::string& name) {
  std::ifstream file(ASSAY_SOURCE_DIR "/testdata/ptx/tensor_cores/" + name + ".ptx");
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}
/// The text without the occurrence of `removed` with this number.
std::string without(std::string text, std::string_view removed, unsigned number) {
  std::size_t at = text.find(removed);
  for (unsigned i = 0; i < number && at != std::string::npos; ++i)
    at = text.find(removed, at + 1);
  EXPECT_NE(at, std::string::npos) << removed;
  return at == std::string::npos ? text : text.erase(at, removed.size());
}

/// Launches a kernel with arrays a, b and c, and n if it is not 0. c gets the result.
template <class T, class C>
RunResult run_product(const std::string& text, std::string_view kernel_name, std::uint32_t threads, std::vector<T>& a,
                      std::vector<T>& b, std::vector<C>& c, int n) {
  Machine machine;
  KernelArguments arguments;
  arguments.add(machine.address(machine.adopt("a", std::as_writable_bytes(std::span(a)))));
  arguments.add(machine.address(machine.adopt("b", std::as_writable_bytes(std::span(b)))));
  arguments.add(machine.address(machine.adopt("c", std::as_writable_bytes(std::span(c)))));
  if (n != 0) arguments.add(n);
  const auto kernel = testing::kernel_of(text, kernel_name);
  return kernel == nullptr ? RunResult{} : machine.launch(kernel, {{1}, {threads}}, arguments, {});
}

constexpr int kInner = 80;
struct HalfProduct {
  RunResult result;
  std::vector<float> got;
  std::vector<float> expected;
};
HalfProduct run_half_product(const std::string& text) {
  Rng random(3);
  std::vector<std::uint16_t> a(32 * kInner), b(kInner * 8);
  std::vector<int> numbers_a, numbers_b;
  const auto draw = [&](std::vector<std::uint16_t>& bits, std::vector<int>& numbers) {
    for (std::uint16_t& element : bits) {
      numbers.push_back(static_cast<int>(random.next() % 17) - 8);
      element = static_cast<std::uint16_t>(encoded("f16", numbers.back()));
    }
  };
  draw(a, numbers_a);
  draw(b, numbers_b);
  HalfProduct product{.result = {}, .got = std::vector<float>(256), .expected = std::vector<float>(256)};
  for (std::size_t row = 0; row < 32; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      for (std::size_t i = 0; i < kInner; ++i)
        product.expected[row * 8 + column] +=
            static_cast<float>(numbers_a[row * kInner + i] * numbers_b[i * 8 + column]);
    }
  }
  product.result = run_product(text, "product", 64, a, b, product.got, kInner);
  return product;
}

TEST(CompiledMatrixKernels, ProductWithAsyncCopiesIsCorrect) {
  const HalfProduct product = run_half_product(compiled_ptx("mma"));
  expect_clean(product.result);
  EXPECT_EQ(product.got, product.expected);
}

TEST(CompiledMatrixKernels, MissingBarrierOrWaitIsDetected) {
  const std::string text = compiled_ptx("mma");
  expect_first(run_half_product(without(text, "cp.async.wait_group 1;", 0)).result, Kind::kReadWriteRace);
  expect_first(run_half_product(without(text, "bar.sync \t0;", 0)).result, Kind::kReadWriteRace);
  expect_first(run_half_product(without(text, "bar.sync \t0;", 1)).result, Kind::kReadWriteRace);
}

/// A kernel of wmma.cu. The indices of an element of a, b or c are row * r + column * c.
struct WmmaKernel {
  struct Strides {
    unsigned row, column;
  };
  std::string_view name;
  std::string_view type;      ///< type of a and b
  std::string_view sum_type;  ///< type of c
  unsigned m, n, k;
  Strides a, b, c;
  int scale;           ///< factor of the result
  bool adds_c;         ///< whether the kernel adds to c
  bool has_parameter;  ///< whether k is a parameter
};
const std::vector<WmmaKernel> kWmmaKernels = {
    {"half_product", "f16", "f32", 16, 16, 48, {48, 1}, {16, 1}, {16, 1}, 2, false, true},
    {"half_sums", "f16", "f16", 8, 32, 16, {16, 1}, {1, 16}, {32, 1}, 1, true, false},
    {"bfloat16_product", "bf16", "f32", 32, 8, 16, {1, 32}, {8, 1}, {1, 32}, 1, false, false},
    {"tf32_product", "tf32", "f32", 16, 16, 8, {8, 1}, {1, 8}, {16, 1}, 1, true, false},
    {"byte_product", "s8", "s32", 16, 16, 16, {16, 1}, {16, 1}, {16, 1}, 1, false, false},
};

/// Launches the kernel with small integers and compares the result; returns the outcome of the launch.
RunResult run_wmma(const WmmaKernel& kernel, const std::string& text) {
  Rng random(5);
  const auto draw = [&](unsigned count) {
    std::vector<int> numbers(count);
    for (int& number : numbers)
      number = static_cast<int>(random.next() % 9) - 4;
    return numbers;
  };
  const std::vector<int> a = draw(kernel.m * kernel.k), b = draw(kernel.k * kernel.n), c = draw(kernel.m * kernel.n);
  const auto encode = [](const std::vector<int>& numbers, std::string_view type) {
    const unsigned bytes = bits_of_type(type) / 8;
    std::vector<std::uint8_t> data(numbers.size() * bytes);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint64_t bits = encoded(type, numbers[i]);
      std::memcpy(&data[i * bytes], &bits, bytes);
    }
    return data;
  };
  std::vector<int> sums = c;
  for (unsigned row = 0; row < kernel.m; ++row) {
    for (unsigned column = 0; column < kernel.n; ++column) {
      int& sum = sums[row * kernel.c.row + column * kernel.c.column];
      if (!kernel.adds_c) sum = 0;
      for (unsigned i = 0; i < kernel.k; ++i)
        sum += a[row * kernel.a.row + i * kernel.a.column] * b[i * kernel.b.row + column * kernel.b.column];
      sum *= kernel.scale;
    }
  }
  std::vector<std::uint8_t> data_a = encode(a, kernel.type), data_b = encode(b, kernel.type);
  std::vector<std::uint8_t> data_c = encode(c, kernel.sum_type);
  RunResult result =
      run_product(text, kernel.name, 32, data_a, data_b, data_c, kernel.has_parameter ? static_cast<int>(kernel.k) : 0);
  if (result.ok()) {
    EXPECT_EQ(data_c, encode(sums, kernel.sum_type)) << kernel.name;
  }
  return result;
}

TEST(CompiledMatrixKernels, WmmaProductsAreCorrect) {
  const std::string text = compiled_ptx("wmma");
  for (const WmmaKernel& kernel : kWmmaKernels) {
    const RunResult result = run_wmma(kernel, text);
    expect_clean(result);
    const bool is_integer = kernel.sum_type == "s32";
    EXPECT_EQ(result.profile.approximation_reaches_result, !is_integer) << kernel.name;
    EXPECT_GE(result.profile.flop_count, is_integer ? 0U : 2 * kernel.m * kernel.n * kernel.k) << kernel.name;
    EXPECT_LE(result.profile.flop_count, is_integer ? 0U : 2 * kernel.m * kernel.n * kernel.k + 512) << kernel.name;
  }
}

/// wmma.cu with another text in place of `from`.
RunResult run_changed_wmma(const WmmaKernel& kernel, std::string_view from, std::string_view to) {
  std::string text = compiled_ptx("wmma");
  const std::size_t start = text.find(fmt::format(".entry {}(", kernel.name));
  const std::size_t at = text.find(from, start);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? RunResult{} : run_wmma(kernel, text.replace(at, from.size(), to));
}

TEST(CompiledMatrixKernels, FaultyWmmaAccessesAreDetected) {
  const WmmaKernel& bfloat16 = kWmmaKernels[2];
  const WmmaKernel& bytes = kWmmaKernels[4];
  expect_first(run_changed_wmma(bfloat16, "bar.warp.sync", "// "), Kind::kReadWriteRace);
  // The stride of a is 16; one row of a larger stride is outside.
  expect_first(run_changed_wmma(bytes, "mov.u32 \t%r2, 16;", "mov.u32 \t%r2, 32;"), Kind::kOutOfBounds);
  expect_first(run_changed_wmma(bytes, "mov.u32 \t%r2, 16;", "mov.u32 \t%r2, 4;"), Kind::kMisaligned);
  const RunResult differs = run_changed_wmma(bytes, "mov.u32 \t%r2, 16;", "mov.u32 %r2, %tid.x;");
  EXPECT_EQ(differs.status, RunResult::Status::kUnsupported);
  EXPECT_THAT(differs.message, ::testing::HasSubstr("lanes have different addresses or strides"));
}

TEST(CompiledMatrixKernels, WmmaAcceptsGenericAddressOfSharedMemory) {
  const auto done = run<float>(
      entry(".shared .align 32 .b8 s[1024]; ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
            " add.s64 %rd2, %rd1, %rd2; mov.u64 %rd3, s; cvta.shared.u64 %rd4, %rd3; mov.f32 %f1, 0f40400000;"
            " wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd4], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, 16;"
            " bar.warp.sync -1; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; ld.shared.f32 %f2, [%r2];"
            " st.global.f32 [%rd2], %f2;"),
      std::vector<float>(32));
  expect_clean(done.result);
  EXPECT_THAT(done.data, ::testing::Each(3.0F));
}

TEST(CompiledMatrixKernels, UnknownWmmaVariantsAreUnsupported) {
  for (const std::string instruction :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3, %r4, %r5}, [%rd1], 16;",
        "wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd1], 16;",
        "wmma.load.d.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3, %r4, %r5}, [%rd1], 16;",
        "wmma.load.a.sync.aligned.m16n16k16.global.f16 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd1], 16;",
        "wmma.store.d.sync.aligned.row.m16n16k8.global.f16 [%rd1], {%r2, %r3, %r4, %r5}, 16;",
        "wmma.mma.sync.aligned.row.row.m16n16k8.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r2, %r3, %r4, %r5,"
        " %r6, %r7, %r8, %r9}, {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};",
        "wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r2, %r3,"
        " %r4, %r5}, {%r2, %r3, %r4, %r5}, {%r2, %r3, %r4, %r5};"}) {
    const auto done = run<float>(entry("ld.param.u64 %rd1, [p0]; " + instruction), std::vector<float>(256));
    EXPECT_EQ(done.result.status, RunResult::Status::kUnsupported) << instruction;
  }
}

}  // namespace
}  // namespace assay::ptx
