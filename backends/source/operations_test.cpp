// Tests that every row of the operation table compiles for both targets and computes the correct value.
#include "ir/operations/operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/helpers.hpp"
#include "backends/source/operation_programs.hpp"
#include "backends/source/testing/printing.hpp"

namespace assay::source {
namespace {

using backends::EmittedKernel;
using backends::SourceTarget;
using ir::Op;
using testing::Form;
using testing::Library;

constexpr const char* kWarnings = "-fsyntax-only -Wall -Werror -Wno-unused";

std::vector<EmittedKernel> every_program(SourceTarget target) {
  std::vector<EmittedKernel> kernels = testing::print_all(testing::every_operation(), target);
  for (EmittedKernel& kernel : testing::print_all(testing::every_atomic(target), target)) {
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

TEST(Operations, EveryOperationHasATestProgram) {
  const ir::Module module = testing::every_operation();
  ASSERT_EQ(module.kernels.size(), ir::kOperations.size());
  for (const ir::Function& kernel : module.kernels)
    EXPECT_FALSE(kernel.body.statements.empty()) << kernel.name;
}

TEST(Operations, EveryOperationCompilesForCpuInBothPrecisions) {
  const std::string source = testing::joined(every_program(SourceTarget::kCpp));
  EXPECT_EQ(testing::compiler_output(source, kWarnings), "");
  EXPECT_EQ(testing::compiler_output(source, std::string(kWarnings) + " -DASSAY_REAL=double"), "");
}

/// The expected value of an operation on T = float, double or an integer type.
template <typename T>
using Meaning = std::function<T(T a, T b, T c)>;

template <typename T>
T sign_of(T a) {
  return a < 0 ? T(-1) : T(1);
}

/// The x between -10 and 10 with f(x) = y, for an increasing f.
template <typename T>
T bisect(long double y, long double (*f)(long double)) {
  long double low = -10, high = 10;
  for (int step = 0; step < 80; ++step) {
    const long double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return static_cast<T>(low);
}

template <typename T>
std::map<Op, Meaning<T>> float_meanings() {
  return {
      {Op::kAdd, [](T a, T b, T) { return a + b; }},
      {Op::kSub, [](T a, T b, T) { return a - b; }},
      {Op::kMul, [](T a, T b, T) { return a * b; }},
      {Op::kDiv, [](T a, T b, T) { return a / b; }},
      {Op::kMod, [](T a, T b, T) { return std::fmod(a, b); }},
      {Op::kFloorDiv, [](T a, T b, T) { return std::floor(a / b); }},
      {Op::kNeg, [](T a, T, T) { return -a; }},
      {Op::kEq, [](T a, T b, T) { return T(a == b); }},
      {Op::kNe, [](T a, T b, T) { return T(a != b); }},
      {Op::kLt, [](T a, T b, T) { return T(a < b); }},
      {Op::kLe, [](T a, T b, T) { return T(a <= b); }},
      {Op::kGt, [](T a, T b, T) { return T(a > b); }},
      {Op::kGe, [](T a, T b, T) { return T(a >= b); }},
      {Op::kAbs, [](T a, T, T) { return std::fabs(a); }},
      {Op::kSign, [](T a, T, T) { return sign_of(a); }},
      {Op::kStep, [](T a, T, T) { return a < 0 ? T(1) : T(0); }},
      {Op::kNonzero, [](T a, T, T) { return a == 0 ? T(0) : T(1); }},
      {Op::kMin, [](T a, T b, T) { return std::fmin(a, b); }},
      {Op::kMax, [](T a, T b, T) { return std::fmax(a, b); }},
      {Op::kClamp, [](T a, T b, T c) { return std::fmin(std::fmax(b, a), c); }},
      {Op::kFloor, [](T a, T, T) { return std::floor(a); }},
      {Op::kCeil, [](T a, T, T) { return std::ceil(a); }},
      {Op::kRound, [](T a, T, T) { return std::round(a); }},
      {Op::kRint, [](T a, T, T) { return std::rint(a); }},
      {Op::kTrunc, [](T a, T, T) { return std::trunc(a); }},
      {Op::kFrac, [](T a, T, T) { return a - std::trunc(a); }},
      {Op::kCopysign, [](T a, T b, T) { return std::copysign(a, b); }},
      {Op::kIsNan, [](T a, T, T) { return T(std::isnan(a)); }},
      {Op::kIsInf, [](T a, T, T) { return T(std::isinf(a)); }},
      {Op::kIsFinite, [](T a, T, T) { return T(std::isfinite(a)); }},
      {Op::kSqrt, [](T a, T, T) { return std::sqrt(a); }},
      {Op::kRsqrt, [](T a, T, T) { return 1 / std::sqrt(a); }},
      {Op::kCbrt, [](T a, T, T) { return std::cbrt(a); }},
      {Op::kExp, [](T a, T, T) { return std::exp(a); }},
      {Op::kExp2, [](T a, T, T) { return std::exp2(a); }},
      {Op::kExpm1, [](T a, T, T) { return std::expm1(a); }},
      {Op::kLog, [](T a, T, T) { return std::log(a); }},
      {Op::kLog2, [](T a, T, T) { return std::log2(a); }},
      {Op::kLog10, [](T a, T, T) { return std::log10(a); }},
      {Op::kLog1p, [](T a, T, T) { return std::log1p(a); }},
      {Op::kSin, [](T a, T, T) { return std::sin(a); }},
      {Op::kCos, [](T a, T, T) { return std::cos(a); }},
      {Op::kTan, [](T a, T, T) { return std::tan(a); }},
      {Op::kAsin, [](T a, T, T) { return std::asin(a); }},
      {Op::kAcos, [](T a, T, T) { return std::acos(a); }},
      {Op::kAtan, [](T a, T, T) { return std::atan(a); }},
      {Op::kAtan2, [](T a, T b, T) { return std::atan2(a, b); }},
      {Op::kSinh, [](T a, T, T) { return std::sinh(a); }},
      {Op::kCosh, [](T a, T, T) { return std::cosh(a); }},
      {Op::kTanh, [](T a, T, T) { return std::tanh(a); }},
      {Op::kAsinh, [](T a, T, T) { return std::asinh(a); }},
      {Op::kAcosh, [](T a, T, T) { return std::acosh(a); }},
      {Op::kAtanh, [](T a, T, T) { return std::atanh(a); }},
      {Op::kPow, [](T a, T b, T) { return std::pow(a, b); }},
      {Op::kHypot, [](T a, T b, T) { return std::hypot(a, b); }},
      {Op::kErf, [](T a, T, T) { return std::erf(a); }},
      {Op::kErfc, [](T a, T, T) { return std::erfc(a); }},
      {Op::kErfinv, [](T a, T, T) { return bisect<T>(a, [](long double x) { return std::erf(x); }); }},
      {Op::kErfcinv, [](T a, T, T) { return bisect<T>(-a, [](long double x) { return -std::erfc(x); }); }},
      {Op::kFma, [](T a, T b, T c) { return std::fma(a, b, c); }},
      {Op::kLerp, [](T a, T b, T c) { return a * (1 - c) + b * c; }},
      {Op::kSmoothstep,
       [](T a, T b, T c) {
         const T t = std::fmin(std::fmax(T(0), (c - a) / (b - a)), T(1));
         return t * t * (3 - 2 * t);
       }},
      {Op::kDegrees, [](T a, T, T) { return T(a * 57.29577951308232); }},
      {Op::kRadians, [](T a, T, T) { return T(a * 0.017453292519943295); }},
  };
}

/// For all integer types, computed as unsigned 64-bit numbers and converted to the type.
template <typename T>
std::map<Op, Meaning<T>> integer_meanings() {
  using U = std::uint64_t;
  return {
      {Op::kAdd, [](T a, T b, T) { return T(U(a) + U(b)); }},
      {Op::kSub, [](T a, T b, T) { return T(U(a) - U(b)); }},
      {Op::kMul, [](T a, T b, T) { return T(U(a) * U(b)); }},
      {Op::kDiv, [](T a, T b, T) { return T(a / b); }},
      {Op::kMod, [](T a, T b, T) { return T(a % b); }},
      {Op::kFloorDiv, [](T a, T b, T) { return T(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0)); }},
      {Op::kLt, [](T a, T b, T) { return T(a < b); }},
      {Op::kAbs, [](T a, T, T) { return T(a < 0 ? 0 - U(a) : U(a)); }},
      {Op::kSign, [](T a, T, T) { return sign_of(a); }},
      {Op::kStep, [](T a, T, T) { return T(a < 0); }},
      {Op::kNonzero, [](T a, T, T) { return T(a != 0); }},
      {Op::kMin, [](T a, T b, T) { return a < b ? a : b; }},
      {Op::kMax, [](T a, T b, T) { return a > b ? a : b; }},
      {Op::kClamp, [](T a, T b, T c) { return std::min(std::max(b, a), c); }},
      {Op::kBitAnd, [](T a, T b, T) { return T(a & b); }},
      {Op::kBitOr, [](T a, T b, T) { return T(a | b); }},
      {Op::kBitXor, [](T a, T b, T) { return T(a ^ b); }},
      {Op::kBitNot, [](T a, T, T) { return T(~U(a)); }},
      {Op::kShiftLeft, [](T a, T b, T) { return T(U(a) << b); }},
      {Op::kShiftRight, [](T a, T b, T) { return T(a >> b); }},
  };
}

/// Whether the value is the expected one; inverse error functions have their own implementation, and may differ by what
/// the table allows.
template <typename T>
bool is_near(const ir::OperationEntry& row, T value, T expected) {
  if constexpr (std::is_floating_point_v<T>) {
    if (row.op == Op::kErfinv || row.op == Op::kErfcinv) {
      const double ulps = (sizeof(T) == 4 ? row.accuracy.libm_f32 : row.accuracy.libm_f64).ulps + 0.5;
      const T ulp = std::nextafter(std::abs(expected), std::numeric_limits<T>::infinity()) - std::abs(expected);
      return std::abs(value - expected) <= ulps * ulp;
    }
  }
  return value == expected;
}

/// Expects that the library's kernels of the operations match their meanings on each row of operands.
template <typename T>
void expect_meanings(const Library& library, ir::Scalar scalar, const std::map<Op, Meaning<T>>& meanings,
                     const std::function<std::vector<std::vector<T>>(const ir::OperationEntry&)>& operands) {
  using A = testing::Array<T>;
  for (const auto& [op, meaning] : meanings) {
    const ir::OperationEntry& row = ir::row(op);
    std::vector<std::vector<T>> in = operands(row);
    std::vector<T> out(in[0].size());
    const std::string name = std::string(row.mnemonic) + "_" + std::string(ir::row(scalar).name);
    library.function<void(long long, long long, A, A, A, A)>(name + "_forward")(
        0, static_cast<long long>(out.size()), testing::view(in[0]), testing::view(in[1]), testing::view(in[2]),
        testing::view(out));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const T expected = meaning(in[0][i], in[1][i], in[2][i]);
      const bool same = is_near(row, out[i], expected) || (out[i] != out[i] && expected != expected);
      EXPECT_TRUE(same) << name << "(" << +in[0][i] << ", " << +in[1][i] << ", " << +in[2][i] << ") = " << +out[i]
                        << ", expected " << +expected;
    }
  }
}

/// Points of the operands' intervals, including the ends, for which all steps of a computation round.
template <typename T>
std::vector<std::vector<T>> float_operands(const ir::OperationEntry& row) {
  constexpr double kFractions[] = {0, 0.113, 0.271, 0.381, 0.529, 0.617, 0.743, 0.877, 1};
  constexpr std::size_t kPoints = std::size(kFractions);
  std::vector<std::vector<T>> operands(3);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [low, high] = row.domain.operand_intervals[k];
    for (std::size_t i = 0; i < kPoints; ++i) {
      const std::size_t point = k == 0 ? i : (i * (k == 1 ? 4 : 5) + 1) % kPoints;
      operands[k].push_back(static_cast<T>(low + (high - low) * kFractions[point]));
    }
  }
  return operands;
}

template <typename T>
std::vector<std::vector<T>> integer_operands(const ir::OperationEntry& row) {
  const T least = std::numeric_limits<T>::min();
  const T most = std::numeric_limits<T>::max();
  if (row.domain.relation == ir::Relation::kShiftBelowWidth) return {{1, 5, most, least}, {7, 0, 1, 3}, {0, 0, 0, 0}};
  return {{7, T(-7), most, least, 100, most}, {3, 3, 2, 2, 100, most}, {5, 5, 5, 5, most, 7}};
}

template <typename T>
ir::Module elementwise_module(ir::Scalar scalar, const std::map<Op, Meaning<T>>& meanings, Form form) {
  ir::Module module;
  for (const auto& entry : meanings) {
    module.kernels.push_back(testing::elementwise(module, entry.first, ir::scalar_type(scalar), form));
  }
  return module;
}

constexpr const char* kStrict = "-O0 -ffp-contract=off";

class OperationValues : public ::testing::TestWithParam<Form> {};

TEST_P(OperationValues, FloatOperationsAreCorrectInBothPrecisions) {
  const std::string source = testing::joined(testing::print_all(
      elementwise_module(ir::Scalar::kF32, float_meanings<float>(), GetParam()), SourceTarget::kCpp));
  expect_meanings<float>(Library(source, kStrict), ir::Scalar::kF32, float_meanings<float>(), float_operands<float>);
  expect_meanings<double>(Library(source, std::string(kStrict) + " -DASSAY_REAL=double"), ir::Scalar::kF32,
                          float_meanings<double>(), float_operands<double>);
}

TEST(Operations, EveryFloatOperationHasAnExpectedValue) {
  const auto meanings = float_meanings<float>();
  for (const ir::OperationEntry& row : ir::kOperations) {
    const ir::Type operands[] = {ir::kF32, ir::kF32, ir::kF32};
    const bool takes_floats =
        row.arity > 0 && ir::result_type(row.op, std::span(operands).first(static_cast<std::size_t>(row.arity))).ok();
    EXPECT_EQ(takes_floats, meanings.contains(row.op)) << row.mnemonic;
  }
}

/// Signed overflow, which is undefined in C++, aborts the test.
constexpr const char* kTrapping = "-O2 -fsanitize=signed-integer-overflow -fsanitize-undefined-trap-on-error";

template <typename T>
void expect_integer_meanings(ir::Scalar scalar, Form form) {
  const auto meanings = integer_meanings<T>();
  const std::string source =
      testing::joined(testing::print_all(elementwise_module(scalar, meanings, form), SourceTarget::kCpp));
  expect_meanings<T>(Library(source, kTrapping), scalar, meanings, integer_operands<T>);
}

TEST_P(OperationValues, IntegerOperationsAreCorrect) {
  expect_integer_meanings<std::int8_t>(ir::Scalar::kI8, GetParam());
  expect_integer_meanings<std::uint16_t>(ir::Scalar::kU16, GetParam());
  expect_integer_meanings<std::int32_t>(ir::Scalar::kI32, GetParam());
  expect_integer_meanings<std::uint32_t>(ir::Scalar::kU32, GetParam());
  expect_integer_meanings<std::int64_t>(ir::Scalar::kI64, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Form, OperationValues, ::testing::Values(Form::kPlain, Form::kNested),
                         [](const auto& form) { return form.param == Form::kPlain ? "Plain" : "Nested"; });

TEST(Operations, OfExtremaHaveTheSameValueWithSumsThatAreNotContracted) {
  const std::span<const testing::ExtremumOperand> operands = testing::extremum_operands();
  std::vector<EmittedKernel> kernels;
  std::set<std::string> used;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::string text = testing::extremum_kernel(operands[k], fmt::format("k{}", k));
    kernels.push_back(testing::print_first(testing::parse(text), SourceTarget::kCpp));
    const std::string& body = kernels.back().body;
    EXPECT_NE(body.find("rounded_", body.find("atomic_max")), std::string::npos) << body;
    EXPECT_EQ(body.find("rounded_"), body.find("rounded_", body.find("atomic_max"))) << body;
    for (const backends::SourceHelper& helper : kernels.back().helpers)
      used.insert(helper.name);
  }
  for (const HelperWithDependencies& entry : helpers_of(SourceTarget::kCpp)) {
    const std::string& name = entry.helper.name;
    EXPECT_TRUE(!name.starts_with(kRoundedPrefix) || used.contains(name)) << name;
  }

  const Library library(testing::joined(kernels), kStrict);
  using A = testing::Array<float>;
  constexpr int kRows = 32;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-2.0F, 2.0F);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    constexpr int kFloatsOfInputs[] = {1, 1, 1, 3, 3, 9, 9, 4, 16, 4, 4};
    constexpr int kMostFloats = 16;
    const auto rows = [&](std::vector<float>& values, int floats) {
      return A{values.data(), {kRows}, {static_cast<long long>(sizeof(float)) * floats}};
    };
    std::vector<std::vector<float>> in;
    for (const int floats : kFloatsOfInputs) {
      in.emplace_back(kRows * floats);
      std::ranges::generate(in.back(), [&] { return uniform(random); });
    }
    std::vector<float> out(kRows * kMostFloats, -1e30F);
    std::vector<float> most = out;
    library.function<void(long long, long long, A, A, A, A, A, A, A, A, A, A, A, A, A)>(fmt::format("k{}_forward", k))(
        0, kRows, rows(in[0], 1), rows(in[1], 1), rows(in[2], 1), rows(in[3], 3), rows(in[4], 3), rows(in[5], 9),
        rows(in[6], 9), rows(in[7], 4), rows(in[8], 16), rows(in[9], 4), rows(in[10], 4), rows(out, kMostFloats),
        rows(most, kMostFloats));
    EXPECT_EQ(out, most) << operands[k].expression;
    EXPECT_NE(out[0], -1e30F);
  }
}

}  // namespace
}  // namespace assay::source
