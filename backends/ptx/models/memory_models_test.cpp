// Tests of memory: loads, stores and atomics of every type, and the distinction of spaces.
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/ptx/models/inputs.hpp"
#include "backends/ptx/testing/machine.hpp"

namespace assay::ptx::models {
namespace {

std::string_view register_of(unsigned bytes) { return bytes == 8 ? "%rd" : bytes == 4 ? "%r" : "%rs"; }
std::uint64_t masked(std::uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

// ------------------------------------------------------------------------------------------------------------- atomics

struct AtomicCase {
  std::string_view operation;
  std::vector<Type> types;
};
const std::vector<AtomicCase> kAtomics = {
    {"add",
     {Type::kU32, Type::kS32, Type::kU64, Type::kF16, Type::kF16x2, Type::kBf16, Type::kBf16x2, Type::kF32,
      Type::kF64}},
    {"and", {Type::kB32, Type::kB64}},
    {"or", {Type::kB32, Type::kB64}},
    {"xor", {Type::kB32, Type::kB64}},
    {"min", {Type::kU32, Type::kS32, Type::kU64, Type::kS64}},
    {"max", {Type::kU32, Type::kS32, Type::kU64, Type::kS64}},
    {"inc", {Type::kU32}},
    {"dec", {Type::kU32}},
    {"exch", {Type::kB32, Type::kB64}},
    {"cas", {Type::kB16, Type::kB32, Type::kB64}},
};

/// Correctly rounded sums; single precision in global memory flushes subnormal operands and results.
std::uint64_t sum_of_floats(Type type, std::uint64_t a, std::uint64_t b, bool is_global) {
  const FloatFormat& format = format_of(type);
  const unsigned count = type == Type::kF16x2 || type == Type::kBf16x2 ? 2 : 1;
  const auto flush = [&](std::uint64_t bits) {
    return type == Type::kF32 && is_global && (bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits;
  };
  std::uint64_t result = 0;
  for (unsigned half = 0; half < count; ++half) {
    const unsigned bytes = static_cast<unsigned>(format.total_bits) / 8;
    const ExactValue x = exact_float(format, flush(masked(a >> (16 * half), bytes)));
    const ExactValue y = exact_float(format, flush(masked(b >> (16 * half), bytes)));
    result |= flush(float_bits(format, sum(x, y, Rounding::kNearest), Rounding::kNearest)) << (16 * half);
  }
  return result;
}

std::uint64_t after_atomic(std::string_view operation, Type type, std::uint64_t old, std::uint64_t a, std::uint64_t b,
                           bool is_global) {
  const unsigned width = 8 * bytes_of(type);
  if (operation == "add" && is_float(type)) return sum_of_floats(type, old, a, is_global);
  if (operation == "add") return masked(old + a, bytes_of(type));
  if (operation == "and") return old & a;
  if (operation == "or") return old | a;
  if (operation == "xor") return old ^ a;
  if (operation == "exch") return a;
  if (operation == "cas") return old == a ? b : old;
  if (operation == "inc") return old >= a ? 0 : old + 1;
  if (operation == "dec") return old == 0 || old > a ? a : old - 1;
  const int order = compare(exact_integer(old, width, is_signed(type)), exact_integer(a, width, is_signed(type)));
  return (order < 0) == (operation == "min") ? old : a;
}

/// A thread's element, its operands, the atomic's return value and the resulting element.
struct AtomicRecord {
  std::uint64_t cell = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t returned = 0;
  std::uint64_t left = 0;
  std::uint64_t unused = 0;
};

std::string atomic_body(std::string_view operation, Type type, bool is_global, bool returns) {
  const unsigned bytes = bytes_of(type);
  const auto name = [&](int number) { return fmt::format("{}{}", register_of(bytes), number); };
  const std::string space = is_global ? "global" : "shared";
  const std::string address = is_global ? "%rd1" : "%r7";
  const std::string_view noftz = bytes_of(type) <= 4 && is_float(type) && type != Type::kF32 ? ".noftz" : "";
  std::string body =
      ".shared .align 8 .b8 cells[256]; ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;"
      " mad.lo.u32 %r2, %r2, 32, %r1; mul.wide.u32 %rd2, %r2, 48; add.s64 %rd1, %rd1, %rd2; mov.u32 %r7, cells;"
      " mad.lo.u32 %r7, %r1, 8, %r7; ld.global.b64 %rd9, [%rd1]; st.shared.b64 [%r7], %rd9;\n";
  body += fmt::format("ld.global.b{0} {1}, [%rd1+8]; ld.global.b{0} {2}, [%rd1+16];\n", 8 * bytes, name(10), name(11));
  body += fmt::format("{}.{}.{}{}.{} {}[{}], {}{};\n", returns ? "atom" : "red", space, operation, noftz, to_text(type),
                      returns ? name(12) + ", " : "", address, name(10), operation == "cas" ? ", " + name(11) : "");
  if (returns) body += fmt::format("st.global.b{} [%rd1+24], {};\n", 8 * bytes, name(12));
  return body +
         fmt::format("ld.{0}.b{1} {2}, [{3}]; st.global.b{1} [%rd1+32], {2};", space, 8 * bytes, name(13), address);
}

void check_atomic(std::string_view operation, Type type, bool is_global, bool returns) {
  const std::vector<std::uint64_t> values = special_values({type});
  std::vector<AtomicRecord> records;
  for (const std::uint64_t old : values) {
    for (const std::uint64_t a : values)
      records.push_back({old, a, values[records.size() * 7 % values.size()]});
  }
  records.resize((records.size() + 31) / 32 * 32);
  const std::vector<AtomicRecord> before = records;
  const auto blocks = static_cast<std::uint32_t>(records.size() / 32);
  const auto done =
      testing::run(testing::entry(atomic_body(operation, type, is_global, returns)), records, {{blocks}, {32}});
  SCOPED_TRACE(fmt::format("{}.{} on {}", operation, to_text(type), is_global ? "global" : "shared"));
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const AtomicRecord& in = before[i];
    const std::uint64_t expected = after_atomic(operation, type, in.cell, in.a, in.b, is_global);
    const bool open = type == Type::kF64 && exact_float(kF64, expected).is_nan();  // the NaN's bits are unspecified
    if (open) {
      ASSERT_TRUE(exact_float(kF64, done.data[i].left).is_nan());
    } else {
      ASSERT_EQ(done.data[i].left, expected) << std::hex << "old 0x" << in.cell << ", a 0x" << in.a << ", b 0x" << in.b;
    }
    if (returns) {
      ASSERT_EQ(done.data[i].returned, in.cell);
    }
  }
}

TEST(MemoryInstructions, AtomicsMatchReferenceModel) {
  for (const AtomicCase& atomic : kAtomics) {
    for (const Type type : atomic.types) {
      for (const bool is_global : {true, false}) {
        check_atomic(atomic.operation, type, is_global, true);
        if (atomic.operation != "exch" && atomic.operation != "cas") {
          check_atomic(atomic.operation, type, is_global, false);
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// An atomic on a half must not change the other half of its word.
TEST(MemoryInstructions, HalfPrecisionAtomicsPreserveOtherHalfOfWord) {
  const auto sum = [](std::string_view type, std::uint32_t start, std::uint32_t operand) {
    const auto done = testing::run<std::uint32_t>(
        testing::entry(fmt::format(
            "ld.param.u64 %rd1, [p0]; mov.b16 %rs1, {}; atom.global.add.noftz.{} %rs5, [%rd1], %rs1;", operand, type)),
        std::vector<std::uint32_t>{start}, {{1}, {4}});
    EXPECT_TRUE(done.result.ok()) << done.result.message;
    return done.data[0];
  };
  EXPECT_EQ(sum("f16", 0xabcd0000, 0x3c00), 0xabcd4400U);
  EXPECT_EQ(sum("bf16", 0xabcd3f80, 0x3f80), 0xabcd40a0U);  // 1 + 4
}

// --------------------------------------------------------------------------------------------------- loads and stores

constexpr Type kLoaded[] = {Type::kB8,  Type::kU8,   Type::kS8,    Type::kB16,    Type::kU16, Type::kS16,
                            Type::kB32, Type::kU32,  Type::kS32,   Type::kB64,    Type::kU64, Type::kS64,
                            Type::kF16, Type::kBf16, Type::kF16x2, Type::kBf16x2, Type::kF32, Type::kF64};

/// "{%rd10, %rd11}", or a single register.
std::string registers(std::string_view kind, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", kind, 10 + i);
  return count == 1 ? text : "{" + text + "}";
}

/// Words 0 to 3 of the data are stored to the space and loaded from it. The loaded values go to words 4 to 7 as 64-bit
/// words, and are stored to the space again, whose content then goes to words 8 to 11.
std::string transfer_body(std::string_view load, std::string_view space, Type type, unsigned count) {
  // Integers use registers wider than their type, in which they are extended.
  const unsigned width = is_float(type) ? bytes_of(type) : 8;
  const std::string values = registers(register_of(width), count);
  const std::string form = fmt::format("{}.{}", count == 4 ? ".v4" : count == 2 ? ".v2" : "", to_text(type));
  const std::string_view place = space == "shared" ? "%r3" : space == "local" ? "%rd3" : "%rd1";
  const unsigned second = space == "global" ? 64 : 32;  // where it is stored again
  std::string body =
      ".shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64]; ld.param.u64 %rd1, [p0]; mov.u32 %r3, s; mov.u64 %rd3, "
      "l;"
      " mov.u64 %rd4, 0;\n";
  for (unsigned word = 0; word < 4 && space != "global"; ++word) {
    body += fmt::format("ld.global.b64 %rd5, [%rd1+{0}]; st.{1}.b64 [{2}+{0}], %rd5; st.{1}.b64 [{2}+{3}], %rd4;\n",
                        8 * word, space, place, 32 + 8 * word);
  }
  body += fmt::format("{}{} {}, [{}];\n", load, form, values, place);
  for (unsigned i = 0; i < count; ++i)
    body += fmt::format("st.global.b{} [%rd1+{}], {}{};\n", 8 * width, 32 + 8 * i, register_of(width), 10 + i);
  body += fmt::format("st.{}{} [{}+{}], {};\n", space, form, place, second, values);
  for (unsigned word = 0; word < 4 && space != "global"; ++word) {
    body += fmt::format("ld.{}.b64 %rd5, [{}+{}]; st.global.b64 [%rd1+{}], %rd5;\n", space, place, 32 + 8 * word,
                        64 + 8 * word);
  }
  return body;
}

void check_transfer(std::string_view load, std::string_view space, Type type, unsigned count) {
  std::vector<std::uint64_t> data(12);
  for (std::size_t i = 0; i < 4; ++i)
    data[i] = 0x8372615094a5b6c7 * (2 * i + 1);
  const auto done = testing::run(testing::entry(transfer_body(load, space, type, count)), data, {{1}, {1}});
  SCOPED_TRACE(fmt::format("{} {} of {} in {}", load, count, to_text(type), space));
  ASSERT_TRUE(done.result.ok()) << done.result.message
                                << (done.result.findings.empty() ? "" : describe(done.result.findings[0]));
  const unsigned bytes = bytes_of(type);
  std::vector<std::uint64_t> stored(4);
  std::memcpy(stored.data(), data.data(), std::size_t{bytes} * count);
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint64_t expected = 0;
    if (i < count) std::memcpy(&expected, reinterpret_cast<const std::byte*>(data.data()) + i * bytes, bytes);
    const bool negative = is_signed(type) && (expected >> (8 * bytes - 1) & 1U) != 0;
    EXPECT_EQ(done.data[4 + i], negative ? expected | ~masked(~std::uint64_t{0}, bytes) : expected) << i;
    EXPECT_EQ(done.data[8 + i], stored[i]) << i;
  }
}

TEST(MemoryInstructions, LoadsAndStoresMatchReferenceModel) {
  for (const Type type : kLoaded) {
    for (const unsigned count : {1U, 2U, 4U}) {
      if (bytes_of(type) * count > 16) continue;
      for (const std::string_view space : {"global", "shared", "local"})
        check_transfer(fmt::format("ld.{}", space), space, type, count);
      for (const std::string_view load : {"ldu.global", "ld.volatile.global", "ld.relaxed.gpu.global", "ld"})
        check_transfer(load, "global", type, count);
    }
  }
}

TEST(MemoryInstructions, MovPacksAndUnpacksRegisters) {
  const auto done = testing::run<std::uint64_t>(
      testing::entry("ld.param.u64 %rd1, [p0]; ld.global.u64 %rd2, [%rd1]; mov.b64 {%r1, %r2}, %rd2;"
                     " mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd2; mov.b32 {%rs5, %rs6}, %r1; mov.b64 %rd3, {%r2, %r1};"
                     " mov.b64 %rd4, {%rs4, %rs3, %rs2, %rs1}; mov.b32 %r3, {%rs6, %rs5}; mov.b64 {_, %r4}, %rd2;"
                     " st.global.u64 [%rd1+8], %rd3; st.global.u64 [%rd1+16], %rd4; st.global.u32 [%rd1+24], %r3;"
                     " st.global.u32 [%rd1+28], %r4;"),
      {0x1122334455667788, 0, 0, 0}, {{1}, {1}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data[1], 0x5566778811223344U);
  EXPECT_EQ(done.data[2], 0x7788556633441122U);
  EXPECT_EQ(done.data[3], 0x1122334477885566U);
}

TEST(MemoryInstructions, IsspacepRecognizesStateSpaceOfGenericAddress) {
  const auto done = testing::run<std::uint32_t>(
      testing::entry(
          ".shared .align 4 .b8 s[4]; .local .align 4 .b8 l[4]; ld.param.u64 %rd1, [p0];"
          " mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3;"
          " isspacep.global %p1, %rd1; isspacep.shared %p2, %rd2; isspacep.local %p3, %rd3;"
          " isspacep.global %p4, %rd2; isspacep.shared %p5, %rd3; isspacep.local %p6, %rd1;"
          " selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3;"
          " selp.u32 %r4, 8, 0, %p4; selp.u32 %r5, 16, 0, %p5; selp.u32 %r6, 32, 0, %p6;"
          " or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;"
          " or.b32 %r1, %r1, %r6; st.global.u32 [%rd1], %r1;"
          // Writes through a generic address are visible through an address of the space, and vice versa.
          " st.u32 [%rd2], 11; st.u32 [%rd3], 12; cvta.to.shared.u64 %rd4, %rd2; cvta.to.local.u64 %rd5, %rd3;"
          " ld.shared.u32 %r7, [%rd4]; ld.local.u32 %r8, [%rd5]; add.u32 %r7, %r7, %r8;"
          " st.global.u32 [%rd1+4], %r7;"),
      std::vector<std::uint32_t>(2), {{1}, {1}});
  ASSERT_TRUE(done.result.ok()) << done.result.message;
  EXPECT_EQ(done.data[0], 7U);
  EXPECT_EQ(done.data[1], 23U);
}

}  // namespace
}  // namespace assay::ptx::models
