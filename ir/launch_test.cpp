#include "ir/launch.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ir/builder.hpp"

namespace assay::ir {
namespace {

double bits_as_float(Scalar scalar, std::uint16_t bits) {
  std::array<std::byte, 2> memory = std::bit_cast<std::array<std::byte, 2>>(bits);
  return read_float(scalar, memory.data());
}
std::uint16_t float_as_bits(Scalar scalar, double value) {
  std::array<std::byte, 2> memory{};
  write_float(scalar, memory.data(), value);
  return std::bit_cast<std::uint16_t>(memory);
}

TEST(LaunchScalars, DecodesKnownHalfAndBfloatBits) {
  EXPECT_EQ(bits_as_float(Scalar::kF16, 0x3C00), 1.0);
  EXPECT_EQ(bits_as_float(Scalar::kF16, 0xC000), -2.0);
  EXPECT_EQ(bits_as_float(Scalar::kF16, 0x7BFF), 65504.0);
  EXPECT_EQ(bits_as_float(Scalar::kF16, 0x0001), 0x1p-24);
  EXPECT_EQ(bits_as_float(Scalar::kF16, 0x7C00), HUGE_VAL);
  EXPECT_EQ(bits_as_float(Scalar::kBF16, 0x3F80), 1.0);
  EXPECT_EQ(bits_as_float(Scalar::kBF16, 0xC049), -3.140625);
  EXPECT_EQ(bits_as_float(Scalar::kBF16, 0x0001), 0x1p-133);
  EXPECT_TRUE(std::isnan(bits_as_float(Scalar::kBF16, 0x7FC0)));
}

TEST(LaunchScalars, SixteenBitFloatsRoundTripThroughDouble) {
  for (const Scalar scalar : {Scalar::kF16, Scalar::kBF16}) {
    for (int i = 0; i < 0x10000; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const double value = bits_as_float(scalar, bits);
      const std::uint16_t again = float_as_bits(scalar, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(bits_as_float(scalar, again)));
      } else {
        ASSERT_EQ(again, bits) << row(scalar).name << " " << i;
      }
    }
  }
}

TEST(LaunchScalars, BfloatIsUpperHalfOfFloat) {
  for (int i = 0; i < 0x7F80; ++i) {
    const double expected = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(i) << 16));
    ASSERT_EQ(bits_as_float(Scalar::kBF16, static_cast<std::uint16_t>(i)), expected);
  }
}

// Between neighbors a < b of the format: values round to the nearer one, the midpoint to the even one.
TEST(LaunchScalars, WritingSixteenBitFloatRoundsToNearestEven) {
  for (const Scalar scalar : {Scalar::kF16, Scalar::kBF16}) {
    const int largest = scalar == Scalar::kF16 ? 0x7BFF : 0x7F7F;
    for (int i = 0; i < largest; i += 7) {
      const auto low = static_cast<std::uint16_t>(i);
      const auto high = static_cast<std::uint16_t>(i + 1);
      const double middle = (bits_as_float(scalar, low) + bits_as_float(scalar, high)) / 2;
      ASSERT_EQ(float_as_bits(scalar, std::nextafter(middle, 0.0)), low) << i;
      ASSERT_EQ(float_as_bits(scalar, middle), i % 2 == 0 ? low : high) << i;
      ASSERT_EQ(float_as_bits(scalar, std::nextafter(middle, HUGE_VAL)), high) << i;
    }
  }
}

TEST(LaunchScalars, WritingSixteenBitFloatRoundsOverflowToInfinity) {
  EXPECT_EQ(float_as_bits(Scalar::kF16, 65519.99), 0x7BFF);
  EXPECT_EQ(float_as_bits(Scalar::kF16, 65520.0), 0x7C00);
  EXPECT_EQ(float_as_bits(Scalar::kBF16, -1e39), 0xFF80);
  EXPECT_EQ(float_as_bits(Scalar::kF16, -0x1p-26), 0x8000);
}

TEST(LaunchScalars, WritingFloatRoundsToFormatAndPreservesSignOfZero) {
  std::array<std::byte, 8> memory{};
  write_float(Scalar::kF32, memory.data(), 0.1);
  EXPECT_EQ(read_float(Scalar::kF32, memory.data()), static_cast<double>(0.1F));
  write_float(Scalar::kF64, memory.data(), -0.0);
  EXPECT_TRUE(std::signbit(read_float(Scalar::kF64, memory.data())));
}

TEST(LaunchScalars, IntegersAreTruncatedOnWriteAndExtendedOnRead) {
  struct Case {
    Scalar scalar;
    std::int64_t written, read;
  };
  constexpr Case kCases[] = {
      {Scalar::kBool, 2, 1},
      {Scalar::kBool, 0, 0},
      {Scalar::kI8, 200, -56},
      {Scalar::kI16, 40000, -25536},
      {Scalar::kI32, std::int64_t{1} << 31, -(std::int64_t{1} << 31)},
      {Scalar::kI64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min()},
      {Scalar::kU8, -1, 255},
      {Scalar::kU16, -1, 65535},
      {Scalar::kU32, -1, 4294967295},
      {Scalar::kU64, -1, -1},
  };
  for (const Case& c : kCases) {
    std::array<std::byte, 9> memory;
    memory.fill(std::byte{0x5A});
    write_integer(c.scalar, memory.data(), c.written);
    EXPECT_EQ(read_integer(c.scalar, memory.data()), c.read) << row(c.scalar).name;
    EXPECT_EQ(memory[static_cast<std::size_t>(row(c.scalar).bytes)], std::byte{0x5A}) << row(c.scalar).name;
  }
}

Module module_with_structs() {
  Module module;
  module.structs.push_back({"Inner", {{"flag", kBool}, {"v", vector_type(Scalar::kF32, 3)}}});
  module.structs.push_back({"Outer",
                            {{"b", scalar_type(Scalar::kU8)},
                             {"inner", struct_type(0)},
                             {"h", scalar_type(Scalar::kF16)},
                             {"data", kF32.array_of(2)},
                             {"d", kF64}}});
  return module;
}

struct CInner {
  bool flag;
  float v[3];
};
struct CArray {
  float* data;
  std::int32_t shape[2];
  std::int64_t strides[2];
};
struct COuter {
  std::uint8_t b;
  CInner inner;
  std::uint16_t h;
  CArray data;
  double d;
};

TEST(LaunchLayout, StructLayoutMatchesCompiler) {
  const Module module = module_with_structs();
  EXPECT_EQ(layout_of(module, struct_type(0)).size, sizeof(CInner));
  EXPECT_EQ(layout_of(module, struct_type(1)).size, sizeof(COuter));
  EXPECT_EQ(layout_of(module, struct_type(1)).alignment, alignof(COuter));
  const StructDef& outer = module.structs[1];
  EXPECT_EQ(field_offset(module, outer, 1), offsetof(COuter, inner));
  EXPECT_EQ(field_offset(module, outer, 2), offsetof(COuter, h));
  EXPECT_EQ(field_offset(module, outer, 3), offsetof(COuter, data));
  EXPECT_EQ(field_offset(module, outer, 4), offsetof(COuter, d));
}

TEST(LaunchLayout, VectorsAndMatricesHaveNoPadding) {
  const Module module;
  EXPECT_EQ(layout_of(module, vector_type(Scalar::kF32, 3)).size, 12U);
  EXPECT_EQ(layout_of(module, matrix_type(Scalar::kF64, 2, 3)).size, 48U);
  EXPECT_EQ(layout_of(module, quaternion_type(Scalar::kF16)).size, 8U);
  EXPECT_EQ(layout_of(module, transform_type(Scalar::kF32)).size, 28U);
  EXPECT_EQ(layout_of(module, kF32.local_array_of(5)).size, 20U);
}

TEST(LaunchLayout, ScalarComponentsFollowMemoryOrderAndSkipArrays) {
  const Module module = module_with_structs();
  const std::vector<ScalarComponent> components = scalar_components(module, struct_type(1));
  ASSERT_EQ(components.size(), 7U);
  EXPECT_EQ(components[0].scalar, Scalar::kU8);
  EXPECT_EQ(components[1].scalar, Scalar::kBool);
  EXPECT_EQ(components[4].offset, offsetof(COuter, inner) + offsetof(CInner, v) + 8);
  EXPECT_EQ(components[6].offset, offsetof(COuter, d));
}

TEST(LaunchArguments, ArraysAreRowMajorAndZeroInitialized) {
  const Module module;
  const Argument argument = make_argument(module, vector_type(Scalar::kF32, 3).array_of(3), {2, 3, 5});
  EXPECT_EQ(argument.strides, (std::vector<std::int64_t>{180, 60, 12}));
  EXPECT_EQ(argument.bytes.size(), 360U);
  EXPECT_EQ(element_count(argument), 30);
  EXPECT_EQ(element_offset(argument, 29), 29U * 12U);
  for (const std::byte byte : argument.bytes)
    EXPECT_EQ(byte, std::byte{0});
}

TEST(LaunchArguments, ElementOffsetsFollowStrides) {
  const Module module;
  Argument transposed = make_argument(module, kF32.array_of(2), {3, 2});
  transposed.strides = {4, 12};
  EXPECT_EQ(element_offset(transposed, 1), 12U);
  EXPECT_EQ(element_offset(transposed, 4), 8U);
}

TEST(LaunchArguments, EmptyArrayHasNoElementsAndScalarValueHasOne) {
  const Module module;
  EXPECT_EQ(element_count(make_argument(module, kF32.array_of(2), {0, 4})), 0);
  const Argument value = make_argument(module, kF64);
  EXPECT_EQ(element_count(value), 1);
  EXPECT_EQ(value.bytes.size(), 8U);
  EXPECT_EQ(element_offset(value, 0), 0U);
  EXPECT_EQ((Launch{.extents = {3, 4, 5}, .arguments = {}}.threads()), 60);
}

TEST(LaunchPromotion, PromotesAllFloatTypesAndPreservesBitsOfLiterals) {
  Module module = module_with_structs();
  module.functions.push_back({.name = "f", .results = {scalar_type(Scalar::kBF16)}});
  Function kernel{.name = "k", .is_kernel = true};
  Builder b(module, kernel);
  const VarId x = b.parameter("x", vector_type(Scalar::kF16, 2).array_of(1));
  const VarId n = b.parameter("n", kI32);
  const ExprId tenth = b.literal(kF32, 0.1);
  b.let("a", tenth);
  b.let_zero("buffer", kF32.local_array_of(4));
  module.kernels.push_back(kernel);

  const Module wide = promoted(module);
  const Function& promoted_kernel = wide.kernels[0];
  EXPECT_EQ(wide.functions[0].results[0], kF64);
  EXPECT_EQ(promoted_kernel.var(x).type, vector_type(Scalar::kF64, 2).array_of(1));
  EXPECT_EQ(promoted_kernel.var(n).type, kI32);
  EXPECT_EQ(promoted_kernel.expr(tenth).type, kF64);
  EXPECT_EQ(std::bit_cast<double>(promoted_kernel.expr(tenth).bits), static_cast<double>(0.1F));
  EXPECT_EQ(promoted_kernel.variables.back().type, kF64.local_array_of(4));
  EXPECT_EQ(wide.structs[0].fields[1].type, vector_type(Scalar::kF64, 3));
  EXPECT_EQ(wide.structs[1].fields[3].type, kF64.array_of(2));
}

TEST(LaunchPromotion, PreservesArgumentValues) {
  const Module module = module_with_structs();
  Argument array = make_argument(module, struct_type(1).array_of(2), {2, 2});
  const std::vector<ScalarComponent> components = scalar_components(module, struct_type(1));
  for (std::int64_t i = 0; i < 4; ++i) {
    std::byte* element = array.bytes.data() + element_offset(array, i);
    write_float(Scalar::kF32, element + components[3].offset, 0.1 * static_cast<double>(i));
    write_float(Scalar::kF16, element + components[5].offset, -2.5);
    write_integer(Scalar::kU8, element + components[0].offset, 200 + i);
  }
  std::swap(array.strides[0], array.strides[1]);  // a transposed view stays transposed
  const Launch launch{.extents = {4}, .arguments = {array}};

  const Module wide = promoted(module);
  const Launch promoted_launch = promoted(module, launch);
  const Argument& result = promoted_launch.arguments[0];
  const std::vector<ScalarComponent> wide_components = scalar_components(wide, struct_type(1));
  EXPECT_EQ(promoted_launch.extents, launch.extents);
  EXPECT_EQ(result.bytes.size(), 4 * layout_of(wide, struct_type(1)).size);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::byte* before = array.bytes.data() + element_offset(array, i);
    const std::byte* after = result.bytes.data() + element_offset(result, i);
    EXPECT_EQ(read_float(Scalar::kF64, after + wide_components[3].offset),
              read_float(Scalar::kF32, before + components[3].offset));
    EXPECT_EQ(read_float(Scalar::kF64, after + wide_components[5].offset), -2.5);
    EXPECT_EQ(read_integer(Scalar::kU8, after + wide_components[0].offset),
              read_integer(Scalar::kU8, before + components[0].offset));
  }
}

}  // namespace
}  // namespace assay::ir
