// The error bounds hold for glibc's float and double functions on 10,000 points of each domain, with exact operands and
// with operands that have an error; and they are not excessively wide.
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include <gtest/gtest.h>

#include "reference/cpu/bound.hpp"
#include "reference/cpu/testing/operation_samples.hpp"
#include "support/rng.hpp"

namespace assay::reference {
namespace {

using ir::Op;
using testing::OracleFixture;
using testing::Usage;

constexpr std::size_t kPoints = 10'000;
constexpr double kFactor = 0.9990234375;  // 1 - 2^-10: exact in all types, the product is not
constexpr double kShift = 512;

/// How an operand is computed: unchanged, times kFactor, or plus and minus kShift, which loses many bits.
enum class Operand { kExact, kScaled, kShifted };

template <class T>
T prepared(T x, Operand form) {
  if (form == Operand::kScaled) return x * static_cast<T>(kFactor);
  return form == Operand::kShifted ? (x + static_cast<T>(kShift)) - static_cast<T>(kShift) : x;
}

/// The x with f(x) = y for an increasing f, by bisection; infinite outside the range of f.
long double inverse(long double y, long double (*f)(long double)) {
  long double low = -10, high = 10;
  if (y <= f(low) || y >= f(high)) return y < 0 ? -HUGE_VALL : HUGE_VALL;
  for (int step = 0; step < 80; ++step) {
    const long double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return low;
}

/// The operation as the emitted code computes it in type T.
template <class T>
T compute(Op op, T x, T y, T z) {
  switch (op) {
    case Op::kAdd: return x + y;
    case Op::kSub: return x - y;
    case Op::kMul: return x * y;
    case Op::kDiv: return x / y;
    case Op::kMod: return std::fmod(x, y);
    case Op::kFloorDiv: return std::floor(x / y);
    case Op::kNeg: return -x;
    case Op::kAbs: return std::abs(x);
    case Op::kSign: return x < 0 ? T{-1} : T{1};
    case Op::kStep: return x < 0 ? T{1} : T{0};
    case Op::kNonzero: return x != 0 ? T{1} : T{0};
    case Op::kMin: return std::fmin(x, y);
    case Op::kMax: return std::fmax(x, y);
    case Op::kClamp: return std::fmin(std::fmax(y, x), z);
    case Op::kFloor: return std::floor(x);
    case Op::kCeil: return std::ceil(x);
    case Op::kRound: return std::round(x);
    case Op::kRint: return std::rint(x);
    case Op::kTrunc: return std::trunc(x);
    case Op::kFrac: return x - std::trunc(x);
    case Op::kCopysign: return std::copysign(x, y);
    case Op::kSqrt: return std::sqrt(x);
    case Op::kRsqrt: return 1 / std::sqrt(x);
    case Op::kCbrt: return std::cbrt(x);
    case Op::kExp: return std::exp(x);
    case Op::kExp2: return std::exp2(x);
    case Op::kExpm1: return std::expm1(x);
    case Op::kLog: return std::log(x);
    case Op::kLog2: return std::log2(x);
    case Op::kLog10: return std::log10(x);
    case Op::kLog1p: return std::log1p(x);
    case Op::kSin: return std::sin(x);
    case Op::kCos: return std::cos(x);
    case Op::kTan: return std::tan(x);
    case Op::kAsin: return std::asin(x);
    case Op::kAcos: return std::acos(x);
    case Op::kAtan: return std::atan(x);
    case Op::kAtan2: return std::atan2(x, y);
    case Op::kSinh: return std::sinh(x);
    case Op::kCosh: return std::cosh(x);
    case Op::kTanh: return std::tanh(x);
    case Op::kAsinh: return std::asinh(x);
    case Op::kAcosh: return std::acosh(x);
    case Op::kAtanh: return std::atanh(x);
    case Op::kPow: return std::pow(x, y);
    case Op::kHypot: return std::hypot(x, y);
    case Op::kErf: return std::erf(x);
    case Op::kErfc: return std::erfc(x);
    case Op::kErfinv: return static_cast<T>(inverse(x, [](long double t) { return std::erf(t); }));
    case Op::kErfcinv:
      // Near 1, erfc loses the digits of its operand.
      if (std::abs(x - 1) < T{0.5})
        return static_cast<T>(-inverse(static_cast<long double>(x) - 1, [](long double t) { return std::erf(t); }));
      return static_cast<T>(inverse(-x, [](long double t) { return -std::erfc(t); }));
    case Op::kFma: return std::fma(x, y, z);
    case Op::kLerp: return x * (1 - z) + y * z;
    case Op::kSmoothstep: {
      const T t = std::fmin(std::fmax(T{0}, (z - x) / (y - x)), T{1});
      return t * t * (3 - 2 * t);
    }
    case Op::kDegrees: return x * static_cast<T>(180 / std::numbers::pi_v<long double>);
    case Op::kRadians: return x * static_cast<T>(std::numbers::pi_v<long double> / 180);
    default: ADD_FAILURE() << ir::row(op).mnemonic << " has no implementation to compare with"; return 0;
  }
}

/// Usages on scalars only.
std::vector<Usage> scalar_usages() {
  std::vector<Usage> all;
  for (Usage& usage : testing::usages(ir::Scalar::kF32)) {
    const auto rule = ir::row(usage.op).rule;
    const bool numeric = rule == ir::TypeRule::kAddition || rule == ir::TypeRule::kProduct ||
                         rule == ir::TypeRule::kQuotient || rule == ir::TypeRule::kNegation ||
                         rule == ir::TypeRule::kNumericScalars || rule == ir::TypeRule::kFloatScalars;
    if (numeric && usage.variant.empty()) all.push_back(std::move(usage));
  }
  return all;
}

using Points = std::vector<std::array<double, 3>>;

class OperationBoundTest : public ::testing::TestWithParam<Usage> {
 protected:
  static ir::ExprId prepared_in(OracleFixture& w, ir::ExprId x, Operand form) {
    if (form == Operand::kScaled) return w.op(Op::kMul, {x, w.b().f32(kFactor)});
    if (form == Operand::kExact) return x;
    return w.op(Op::kSub, {w.op(Op::kAdd, {x, w.b().f32(kShift)}), w.b().f32(kShift)});
  }

  /// out[i] = op of the operands.
  static ReferenceResult evaluate(const Usage& usage, const Points& points, Operand form) {
    OracleFixture w;
    std::vector<ir::VarId> inputs;
    for (std::size_t k = 0; k < usage.operands.size(); ++k) {
      std::vector<double> column;
      for (const auto& point : points)
        column.push_back(point[k]);
      inputs.push_back(w.floats("x" + std::to_string(k), column, ir::Scalar::kF32));
    }
    const auto n = static_cast<std::int32_t>(points.size());
    const ir::VarId out = w.zeros("out", ir::kF32, {n});
    const ir::VarId i = w.thread_index(n);
    std::vector<ir::ExprId> args;
    for (const ir::VarId input : inputs) {
      args.push_back(prepared_in(w, w.at(input, i), form));
    }
    w.b().store(out, {w.var(i)}, usage.build(w, args));
    return w.evaluate();
  }

  template <class T>
  static T real(const Usage& usage, const std::array<double, 3>& point, Operand form) {
    std::array<T, 3> x;
    for (std::size_t k = 0; k < 3; ++k)
      x[k] = prepared(static_cast<T>(point[k]), form);
    return compute<T>(usage.op, x[0], x[1], x[2]);
  }

  /// Compares all points; points with uncertain decisions are isolated by bisection.
  void check(const Usage& usage, const Points& points, Operand form) {
    const ReferenceResult r = evaluate(usage, points, form);
    if (r.decisions.uncertain_decision_counts[kNative] > 0) {
      if (points.size() == 1) return;
      const auto middle = points.begin() + static_cast<std::ptrdiff_t>(points.size() / 2);
      check(usage, {points.begin(), middle}, form);
      check(usage, {middle, points.end()}, form);
      return;
    }
    for (std::size_t n = 0; n < points.size(); ++n) {
      const OutputElement& element = r.outputs.back()->elements[n];
      if (!std::isfinite(element.bound[kNative])) continue;
      ++checked_;
      compare(element, static_cast<long double>(real<float>(usage, points[n], form)), kNative, points[n]);
      compare(element, static_cast<long double>(real<double>(usage, points[n], form)), kPromoted, points[n]);
      widest_ = std::max(widest_, element.bound[kNative] / ulp(format_of(ir::Scalar::kF32), magnitude(element.value)));
      if (HasFailure()) return;
    }
  }

  void compare(const OutputElement& element, long double got, Precision precision, const std::array<double, 3>& at) {
    ASSERT_LE(std::abs(got - element.value), static_cast<long double>(element.bound[precision]))
        << (precision == kNative ? "float" : "double") << " at " << at[0] << ", " << at[1] << ", " << at[2] << ": got "
        << got << ", oracle " << element.value;
    if (precision == kNative && element.bound[precision] > 0)
      tightest_ = std::max(tightest_, magnitude(got - element.value) / element.bound[precision]);
  }

  static Points points(const Usage& usage) {
    Rng rng(11);
    Points all;
    while (all.size() < kPoints) {
      const auto sampled = testing::sample(usage, rng);
      std::array<double, 3> point = {};
      for (std::size_t k = 0; k < sampled.size(); ++k)
        point[k] = sampled[k][0];
      all.push_back(point);
    }
    return all;
  }

  std::size_t checked_ = 0;
  double widest_ = 0;    ///< greatest bound, in ulp of the value
  double tightest_ = 0;  ///< greatest error of the implementation, as a fraction of its bound
};

TEST_P(OperationBoundTest, HoldsForExactOperands) {
  check(GetParam(), points(GetParam()), Operand::kExact);
  EXPECT_GE(checked_, kPoints * 99 / 100);
  const bool composed = ir::row(GetParam().op).accuracy.libm_f32.kind == ir::UlpBound::Kind::kDerived;
  EXPECT_LE(widest_, composed ? 1e5 : 64) << "ulp of the result; a sum of steps may cancel";
  // A bound that is far above all actual errors would hide faults.
  if (widest_ > 0) {
    EXPECT_GE(tightest_, 0.25) << "of the bound";
  }
}

TEST_P(OperationBoundTest, HoldsForOperandsWithErrors) {
  check(GetParam(), points(GetParam()), Operand::kScaled);
  EXPECT_GE(checked_, kPoints * 9 / 10);
}

TEST_P(OperationBoundTest, HoldsForOperandsWithLargeErrors) {
  check(GetParam(), points(GetParam()), Operand::kShifted);
  EXPECT_GE(checked_, kPoints * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Glibc, OperationBoundTest, ::testing::ValuesIn(scalar_usages()),
                         [](const auto& usage) { return usage.param.name(); });

// exp(-1e30 - x), as in a softmax that starts with a large negative maximum: the error of the difference is 1e22, but
// the result is 0.
TEST(ExponentialBound, IsSmallFarBelowZeroWhateverTheErrorOfTheOperand) {
  OracleFixture w;
  const auto x = w.array("x", ir::kF32, {3}, {0.5, 2, -3});
  const auto out = w.zeros("out", ir::kF32, {3});
  const auto scaled = w.zeros("scaled", ir::kF32, {3});
  const auto i = w.thread_index(3);
  const auto difference = w.op(Op::kSub, {w.b().literal(ir::kF32, -1e30), w.op(Op::kMul, {w.at(x, i), w.at(x, i)})});
  w.b().store(out, {w.var(i)}, w.op(Op::kExp, {difference}));
  w.b().store(scaled, {w.var(i)}, w.op(Op::kExp2, {difference}));
  const ReferenceResult reference = w.evaluate();
  for (const auto array : {out, scaled}) {
    for (const OutputElement& element : reference.outputs[static_cast<std::size_t>(array)]->elements) {
      EXPECT_EQ(element.value, 0);
      EXPECT_LE(element.bound[kNative], 1e-37) << "the least normal number";
      EXPECT_LE(element.bound[kPromoted], 1e-300);
    }
  }
}

// pow(max(x, 0), 1 / 2.2), the gamma of a color: the exponent has a rounding error.
TEST(PowerBound, IsZeroForBaseZeroAndInexactPositiveExponent) {
  OracleFixture w;
  const auto x = w.array("x", ir::kF32, {2}, {-1, 0});
  const auto out = w.zeros("out", ir::kF32, {2});
  const auto unbounded = w.zeros("unbounded", ir::kF32, {2});
  const auto i = w.thread_index(2);
  const auto base = w.op(Op::kMax, {w.at(x, i), w.b().literal(ir::kF32, 0.0)});
  const auto exponent = w.op(Op::kDiv, {w.b().literal(ir::kF32, 1.0), w.b().literal(ir::kF32, 2.2)});
  w.b().store(out, {w.var(i)}, w.op(Op::kPow, {base, exponent}));
  w.b().store(unbounded, {w.var(i)},
              w.op(Op::kPow, {base, w.op(Op::kSub, {exponent, w.b().literal(ir::kF32, 1.0 / 2.2)})}));
  const ReferenceResult reference = w.evaluate();
  for (const OutputElement& element : reference.outputs[static_cast<std::size_t>(out)]->elements) {
    EXPECT_EQ(element.value, 0);
    EXPECT_LE(element.bound[kNative], 1e-37) << "the least normal number";
    EXPECT_LE(element.bound[kPromoted], 1e-300);
  }
  // The exponent may be negative.
  for (const OutputElement& element : reference.outputs[static_cast<std::size_t>(unbounded)]->elements)
    EXPECT_FALSE(std::isfinite(element.bound[kNative]));
}

// length(v * kFactor - w) with w close to the product: the result is so close to zero that no digit is certain.
TEST(VectorLengthBound, HoldsUnderCancellation) {
  constexpr std::int32_t kVectors = 2000;
  OracleFixture w;
  const ir::Type vec3 = ir::vector_type(ir::Scalar::kF32, 3);
  std::vector<double> factors, shifts;
  std::vector<float> computed;
  std::vector<long double> exact;
  Rng rng(7);
  for (std::int32_t i = 0; i < kVectors; ++i) {
    float squares = 0;
    long double exact_squares = 0;
    for (int k = 0; k < 3; ++k) {
      const auto v = static_cast<float>(rng.uniform_real(-4, 4));
      const float product = v * static_cast<float>(kFactor);
      const float next = rng.bernoulli(0.5) ? product : std::nextafter(product, 8.0F);
      factors.push_back(v);
      shifts.push_back(next);
      squares += (product - next) * (product - next);
      const long double difference = static_cast<long double>(v) * kFactor - next;
      exact_squares += difference * difference;
    }
    computed.push_back(std::sqrt(squares));
    exact.push_back(std::sqrt(exact_squares));
  }
  const auto v = w.array("v", vec3, {kVectors}, factors);
  const auto near = w.array("w", vec3, {kVectors}, shifts);
  const auto out = w.zeros("out", ir::kF32, {kVectors});
  const auto i = w.thread_index(kVectors);
  const auto product = w.op(Op::kMul, {w.at(v, i), w.b().literal(ir::kF32, kFactor)});
  w.b().store(out, {w.var(i)}, w.op(Op::kLength, {w.op(Op::kSub, {product, w.at(near, i)})}));
  const ReferenceResult reference = w.evaluate();
  for (std::size_t k = 0; k < kVectors; ++k) {
    const OutputElement& element = reference.outputs[static_cast<std::size_t>(out)]->elements[k];
    ASSERT_NEAR(static_cast<double>(element.value), static_cast<double>(exact[k]), 1e-18);
    ASSERT_LE(std::abs(computed[k] - element.value), element.bound[kNative]) << "vector " << k;
    ASSERT_LE(element.bound[kNative], 4e-6) << "a few ulp of the subtracted values";
  }
}

/// A usual formula of w * df/dx in float, from operands and result.
struct AdjointFormula {
  std::string name;
  Op op;
  std::function<float(float w, float x, float r)> contribution;
};

class AdjointBoundTest : public ::testing::TestWithParam<AdjointFormula> {};

TEST_P(AdjointBoundTest, HoldsForCommonDerivativeFormulas) {
  const AdjointFormula& formula = GetParam();
  const ir::Interval domain = ir::row(formula.op).domain.operand_intervals[0];
  constexpr float kScale = static_cast<float>(kFactor);
  Rng rng(13);
  std::vector<double> x;
  std::vector<double> seeds;
  for (std::size_t n = 0; n < kPoints; ++n) {
    x.push_back(static_cast<double>(static_cast<float>(rng.uniform_real(domain.low, domain.high))));
    seeds.push_back(static_cast<double>(static_cast<float>(rng.uniform_real(-2, 2))));
  }
  OracleFixture w;
  const ir::VarId in = w.floats("x", x, ir::Scalar::kF32);
  const auto n = static_cast<std::int32_t>(kPoints);
  const ir::VarId out = w.zeros("out", ir::kF32, {n});
  const ir::VarId i = w.thread_index(n);
  w.b().store(out, {w.var(i)}, w.op(formula.op, {w.op(Op::kMul, {w.at(in, i), w.b().f32(kFactor)})}));
  const ReferenceResult r = w.gradient(out, seeds);
  for (std::size_t k = 0; k < kPoints; ++k) {
    const float t = static_cast<float>(x[k]) * kScale;
    const float value = compute<float>(formula.op, t, 0, 0);
    const float got = formula.contribution(static_cast<float>(seeds[k]), t, value) * kScale;
    const GradientElement& element = r.gradients[0]->elements[k];
    ASSERT_LE(std::abs(static_cast<long double>(got) - element.value), static_cast<long double>(element.bound[kNative]))
        << "at " << x[k];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Float, AdjointBoundTest,
    ::testing::Values(
        AdjointFormula{"sqrt", Op::kSqrt, [](float w, float, float r) { return w * (0.5F / r); }},
        AdjointFormula{"sqrt_of_product", Op::kSqrt, [](float w, float, float r) { return 0.5F * w / r; }},
        AdjointFormula{"rsqrt", Op::kRsqrt, [](float w, float x, float r) { return w * (-0.5F * r / x); }},
        AdjointFormula{"cbrt", Op::kCbrt, [](float w, float, float r) { return w / (3 * r * r); }},
        AdjointFormula{"log", Op::kLog, [](float w, float x, float) { return w / x; }},
        AdjointFormula{"log2", Op::kLog2, [](float w, float x, float) { return w / (x * 0.69314718F); }},
        AdjointFormula{"log2_by_factor", Op::kLog2, [](float w, float x, float) { return w * (1.44269504F / x); }},
        AdjointFormula{"exp2", Op::kExp2, [](float w, float, float r) { return w * r * 0.69314718F; }},
        AdjointFormula{"tan", Op::kTan, [](float w, float, float r) { return w * (1 + r * r); }},
        AdjointFormula{"tan_by_cosine", Op::kTan,
                       [](float w, float x, float) { return w / (std::cos(x) * std::cos(x)); }},
        AdjointFormula{"tanh", Op::kTanh, [](float w, float, float r) { return w * (1 - r * r); }},
        AdjointFormula{"tanh_by_cosh", Op::kTanh,
                       [](float w, float x, float) { return w / (std::cosh(x) * std::cosh(x)); }},
        AdjointFormula{"asin", Op::kAsin, [](float w, float x, float) { return w / std::sqrt(1 - x * x); }},
        AdjointFormula{"acos", Op::kAcos, [](float w, float x, float) { return -w / std::sqrt((1 - x) * (1 + x)); }},
        AdjointFormula{"atan", Op::kAtan, [](float w, float x, float) { return w / (1 + x * x); }},
        AdjointFormula{"acosh", Op::kAcosh, [](float w, float x, float) { return w / std::sqrt(x * x - 1); }},
        AdjointFormula{"atanh", Op::kAtanh, [](float w, float x, float) { return w / (1 - x * x); }},
        AdjointFormula{"asinh", Op::kAsinh, [](float w, float x, float) { return w / std::sqrt(x * x + 1); }},
        AdjointFormula{"erf", Op::kErf, [](float w, float x, float) { return w * (1.12837917F * std::exp(-x * x)); }},
        AdjointFormula{"sin", Op::kSin, [](float w, float x, float) { return w * std::cos(x); }},
        AdjointFormula{"expm1", Op::kExpm1, [](float w, float, float r) { return w * (r + 1); }},
        AdjointFormula{"degrees", Op::kDegrees, [](float w, float, float) { return w * 57.2957795F; }}),
    [](const auto& formula) { return formula.param.name; });

/// The bounds of op(0.375 + 0.375) with f64 promotion, without and with the errors of CUDA's library.
std::pair<double, double> bounds_with_library_errors(Op op, ir::Scalar scalar) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {0.375}, scalar);
  const ir::VarId out = w.zeros("out", ir::scalar_type(scalar), {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(op, {w.op(Op::kAdd, {w.at(x, i), w.at(x, i)})}));
  auto run = w.run();
  run.profile.native_library = MathLibrary::kCuda;
  const double without = w.oracle().evaluate(run).outputs[1]->elements[0].bound[kPromoted];
  run.profile.promotion_has_library_errors = true;
  return {without, w.oracle().evaluate(run).outputs[1]->elements[0].bound[kPromoted]};
}

TEST(LibraryErrors, AreThoseThatCudaDocumentsForFloats) {
  const auto [without, with] = bounds_with_library_errors(Op::kErf, ir::Scalar::kF32);
  EXPECT_LT(without, 1e-14);
  // erf(0.75) = 0.71; the result is within 2 ulp of the correctly rounded one, so within 2.5 ulp of the exact one.
  EXPECT_NEAR(with, 2.5 * 0x1p-24, 1e-13);
  const auto [exact, negated] = bounds_with_library_errors(Op::kNeg, ir::Scalar::kF32);
  EXPECT_EQ(negated, exact) << "not a function of the library";
  const auto [root, root_with] = bounds_with_library_errors(Op::kSqrt, ir::Scalar::kF32);
  EXPECT_EQ(root_with, root) << "correctly rounded";
  const auto [in_double, in_double_with] = bounds_with_library_errors(Op::kErf, ir::Scalar::kF64);
  EXPECT_EQ(in_double_with, in_double) << "the types of the kernel are already double";
}

TEST(ApproximateOperations, HaveErrorsThatCudaDocuments) {
  const auto bounds = [](Op op, MathLibrary library) {
    OracleFixture w;
    const ir::VarId x = w.floats("x", {3}, ir::kF32.scalar);
    const ir::VarId out = w.zeros("out", ir::scalar_type(ir::kF32.scalar), {1});
    const ir::VarId i = w.thread_index(1);
    const ir::ExprId operand = w.at(x, i);
    w.b().store(out, {w.var(i)},
                op == Op::kDiv ? w.op(op, {w.b().literal(ir::kF32, 1.0), operand}) : w.op(op, {operand}));
    auto run = w.run();
    run.profile.native_library = library;
    const double precise = w.oracle().evaluate(run).outputs[1]->elements[0].bound[kNative];
    run.profile.has_approximate_operations = true;
    return std::pair(precise, w.oracle().evaluate(run).outputs[1]->elements[0].bound[kNative]);
  };
  // 1/3 has an ulp of 2^-25, sqrt(3) and log(3) of 2^-23.
  const auto [quotient, approximate_quotient] = bounds(Op::kDiv, MathLibrary::kCuda);
  EXPECT_NEAR(quotient, 0.5 * 0x1p-25, 1e-13);
  EXPECT_NEAR(approximate_quotient, 2.5 * 0x1p-25, 1e-13);
  EXPECT_NEAR(bounds(Op::kSqrt, MathLibrary::kCuda).second, 2.5 * 0x1p-23, 1e-13);
  EXPECT_NEAR(bounds(Op::kLog, MathLibrary::kCuda).second, 3.5 * 0x1p-23, 1e-13);
  for (const Op op : {Op::kTanh, Op::kSin, Op::kExp}) {
    const auto [precise, approximate] = bounds(op, MathLibrary::kCuda);
    EXPECT_EQ(precise, approximate) << ir::row(op).mnemonic;
  }
  const auto [on_cpu, approximate_on_cpu] = bounds(Op::kDiv, MathLibrary::kLibm);
  EXPECT_EQ(on_cpu, approximate_on_cpu);
}

/// The bounds of op(1.5, constant) for this profile.
PrecisionBounds bounds_for(const ArithmeticProfile& profile, Op op, double constant,
                           ir::Scalar scalar = ir::Scalar::kF32) {
  OracleFixture w;
  const ir::VarId x = w.floats("x", {1.5}, scalar);
  const ir::VarId out = w.zeros("out", ir::scalar_type(scalar), {1});
  const ir::VarId i = w.thread_index(1);
  w.b().store(out, {w.var(i)}, w.op(op, {w.at(x, i), w.b().literal(ir::scalar_type(scalar), constant)}));
  auto run = w.run();
  run.profile = profile;
  return w.oracle().evaluate(run).outputs[1]->elements[0].bound;
}

/// The bound with f64 promotion, if constants may be rounded.
double bound_with_constant_errors(Op op, double constant, ir::Scalar scalar = ir::Scalar::kF32) {
  return bounds_for({.promotion_has_constant_errors = true}, op, constant, scalar)[kPromoted];
}

/// How much the native bound of 1.5 * constant grows if the code may use another algorithm.
double growth_for_other_algorithm(double constant) {
  const double usual = bounds_for({}, Op::kMul, constant)[kNative];
  return bounds_for({.input_error = {.unit_roundoffs = 1}}, Op::kMul, constant)[kNative] - usual;
}

TEST(ConstantErrors, AreAllowedForOtherAlgorithms) {
  const double of_input = 1.5 * 0x1p-24;
  EXPECT_NEAR(growth_for_other_algorithm(0.9F), 0.9 * of_input + 1.5 * 0x1p-25, 1e-13);
  constexpr double kFewDigits = 0x1.CCCp-1;
  // The product of the inputs without errors is exact, so its rounding is a part of the growth.
  EXPECT_NEAR(growth_for_other_algorithm(kFewDigits), kFewDigits * of_input + 0x1p-24, 1e-13);
}

TEST(ConstantErrors, AreHalfAnUlpOfFloatConstantsWithManyDigits) {
  EXPECT_NEAR(bound_with_constant_errors(Op::kMul, 0.9F), 1.5 * 0x1p-25, 1e-15);
  EXPECT_NEAR(bound_with_constant_errors(Op::kAdd, 0.1F), 0x1p-28, 1e-15);
  EXPECT_NEAR(bound_with_constant_errors(Op::kAdd, 1e-5F), 0x1p-41, 1e-15);
  for (const double exact : {0.5, 2.0, 3.0, 1000.0, -0.125, 0.0, 16777215.0, -1e30})
    EXPECT_LT(bound_with_constant_errors(Op::kAdd, exact), 1e-8 * 0x1p-24 * (std::abs(exact) + 2)) << exact;
  EXPECT_LT(bound_with_constant_errors(Op::kMul, 0.9, ir::Scalar::kF64), 1e-15);
}

}  // namespace
}  // namespace assay::reference
