// Tests the oracle on kernels whose outputs and gradients are known in closed form.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/cpu/testing/workbench.hpp"

namespace assay::reference {
namespace {

using ir::ExprId;
using ir::Op;
using ir::VarId;
using testing::OracleFixture;

const std::vector<double> kX = {0.3, 0.7, 1.1, 1.6, 0.2};
const std::vector<double> kY = {1.2, -0.4, 0.9, 2.5, -1.3};
const std::vector<double> kSeeds = {0.75, -1.25, 0.625, 1.5, -0.875};

/// out[i] = f(x[i], y[i]) with its value and both derivatives.
struct ClosedForm {
  std::string name;
  std::function<ExprId(OracleFixture&, ExprId, ExprId)> expression;
  std::function<double(double, double)> value, dx, dy;
};

void PrintTo(const ClosedForm& form, std::ostream* os) { *os << form.name; }

ExprId square(OracleFixture& w, ExprId x) { return w.op(Op::kMul, {x, x}); }

/// The inverse of erf or erfc at y, by bisection.
double inverse_of(Op op, double y) {
  long double low = -10, high = 10;
  for (int step = 0; step < 80; ++step) {
    const long double middle = (low + high) / 2;
    const bool is_below = op == Op::kErf ? std::erf(middle) < y : std::erfc(middle) > y;
    (is_below ? low : high) = middle;
  }
  return static_cast<double>(low);
}

const std::vector<ClosedForm>& closed_forms() {
  using W = OracleFixture;
  using E = ExprId;
  const auto zero = [](double, double) { return 0.0; };
  static const std::vector<ClosedForm> forms = {
      {"linear",
       [](W& w, E x, E y) {
         return w.op(Op::kAdd, {w.op(Op::kMul, {w.f64(3), x}), w.op(Op::kMul, {w.f64(-2), y})});
       },
       [](double x, double y) { return 3 * x - 2 * y; }, [](double, double) { return 3.0; },
       [](double, double) { return -2.0; }},
      {"product",
       [](W& w, E x, E y) {
         return w.op(Op::kMul, {x, y});
       },
       [](double x, double y) { return x * y; }, [](double, double y) { return y; },
       [](double x, double) { return x; }},
      {"quotient",
       [](W& w, E x, E y) {
         return w.op(Op::kDiv, {x, y});
       },
       [](double x, double y) { return x / y; }, [](double, double y) { return 1 / y; },
       [](double x, double y) { return -x / (y * y); }},
      {"cube",
       [](W& w, E x, E) {
         return w.op(Op::kMul, {x, square(w, x)});
       },
       [](double x, double) { return x * x * x; }, [](double x, double) { return 3 * x * x; }, zero},
      {"rational",
       [](W& w, E x, E y) {
         return w.op(Op::kDiv, {y, w.op(Op::kAdd, {w.f64(1), square(w, x)})});
       },
       [](double x, double y) { return y / (1 + x * x); },
       [](double x, double y) { return -2 * x * y / std::pow(1 + x * x, 2); },
       [](double x, double) { return 1 / (1 + x * x); }},
      {"gaussian", [](W& w, E x, E) { return w.op(Op::kExp, {w.op(Op::kNeg, {square(w, x)})}); },
       [](double x, double) { return std::exp(-x * x); }, [](double x, double) { return -2 * x * std::exp(-x * x); },
       zero},
      {"logistic",
       [](W& w, E x, E) {
         return w.op(Op::kDiv, {w.f64(1), w.op(Op::kAdd, {w.f64(1), w.op(Op::kExp, {w.op(Op::kNeg, {x})})})});
       },
       [](double x, double) { return 1 / (1 + std::exp(-x)); },
       [](double x, double) { return std::exp(-x) / std::pow(1 + std::exp(-x), 2); }, zero},
      {"softplus", [](W& w, E x, E) { return w.op(Op::kLog1p, {w.op(Op::kExp, {x})}); },
       [](double x, double) { return std::log1p(std::exp(x)); },
       [](double x, double) { return 1 / (1 + std::exp(-x)); }, zero},
      {"sine of product",
       [](W& w, E x, E y) {
         return w.op(Op::kSin, {w.op(Op::kMul, {x, y})});
       },
       [](double x, double y) { return std::sin(x * y); }, [](double x, double y) { return y * std::cos(x * y); },
       [](double x, double y) { return x * std::cos(x * y); }},
      {"cosine", [](W& w, E x, E) { return w.op(Op::kCos, {square(w, x)}); },
       [](double x, double) { return std::cos(x * x); }, [](double x, double) { return -2 * x * std::sin(x * x); },
       zero},
      {"tangent",
       [](W& w, E, E y) {
         return w.op(Op::kTan, {w.op(Op::kMul, {w.f64(0.25), y})});
       },
       [](double, double y) { return std::tan(y / 4); }, zero,
       [](double, double y) { return 0.25 / std::pow(std::cos(y / 4), 2); }},
      {"root of sum",
       [](W& w, E x, E y) {
         return w.op(Op::kSqrt, {w.op(Op::kAdd, {square(w, x), square(w, y)})});
       },
       [](double x, double y) { return std::sqrt(x * x + y * y); },
       [](double x, double y) { return x / std::sqrt(x * x + y * y); },
       [](double x, double y) { return y / std::sqrt(x * x + y * y); }},
      {"reciprocal root", [](W& w, E x, E) { return w.op(Op::kRsqrt, {x}); },
       [](double x, double) { return 1 / std::sqrt(x); }, [](double x, double) { return -0.5 * std::pow(x, -1.5); },
       zero},
      {"cube root", [](W& w, E, E y) { return w.op(Op::kCbrt, {y}); }, [](double, double y) { return std::cbrt(y); },
       zero, [](double, double y) { return 1 / (3 * std::pow(std::cbrt(y), 2)); }},
      {"logarithm",
       [](W& w, E x, E) {
         return w.op(Op::kLog, {w.op(Op::kAdd, {w.f64(1), square(w, x)})});
       },
       [](double x, double) { return std::log(1 + x * x); }, [](double x, double) { return 2 * x / (1 + x * x); },
       zero},
      {"binary logarithm", [](W& w, E x, E) { return w.op(Op::kLog2, {x}); },
       [](double x, double) { return std::log2(x); }, [](double x, double) { return 1 / (x * std::log(2.0)); }, zero},
      {"decimal logarithm", [](W& w, E x, E) { return w.op(Op::kLog10, {x}); },
       [](double x, double) { return std::log10(x); }, [](double x, double) { return 1 / (x * std::log(10.0)); }, zero},
      {"power of two", [](W& w, E, E y) { return w.op(Op::kExp2, {y}); }, [](double, double y) { return std::exp2(y); },
       zero, [](double, double y) { return std::log(2.0) * std::exp2(y); }},
      {"power",
       [](W& w, E x, E y) {
         return w.op(Op::kPow, {x, y});
       },
       [](double x, double y) { return std::pow(x, y); }, [](double x, double y) { return y * std::pow(x, y - 1); },
       [](double x, double y) { return std::log(x) * std::pow(x, y); }},
      {"inverse sine",
       [](W& w, E x, E) {
         return w.op(Op::kAsin, {w.op(Op::kMul, {w.f64(0.5), x})});
       },
       [](double x, double) { return std::asin(x / 2); },
       [](double x, double) { return 0.5 / std::sqrt(1 - x * x / 4); }, zero},
      {"inverse cosine",
       [](W& w, E x, E) {
         return w.op(Op::kAcos, {w.op(Op::kMul, {w.f64(0.5), x})});
       },
       [](double x, double) { return std::acos(x / 2); },
       [](double x, double) { return -0.5 / std::sqrt(1 - x * x / 4); }, zero},
      {"two argument arctangent",
       [](W& w, E x, E y) {
         return w.op(Op::kAtan2, {y, x});
       },
       [](double x, double y) { return std::atan2(y, x); }, [](double x, double y) { return -y / (x * x + y * y); },
       [](double x, double y) { return x / (x * x + y * y); }},
      {"inverse tangent", [](W& w, E, E y) { return w.op(Op::kAtan, {y}); },
       [](double, double y) { return std::atan(y); }, zero, [](double, double y) { return 1 / (1 + y * y); }},
      {"hyperbolic sine", [](W& w, E, E y) { return w.op(Op::kSinh, {y}); },
       [](double, double y) { return std::sinh(y); }, zero, [](double, double y) { return std::cosh(y); }},
      {"hyperbolic cosine", [](W& w, E, E y) { return w.op(Op::kCosh, {y}); },
       [](double, double y) { return std::cosh(y); }, zero, [](double, double y) { return std::sinh(y); }},
      {"hyperbolic tangent",
       [](W& w, E x, E y) {
         return w.op(Op::kTanh, {w.op(Op::kMul, {x, y})});
       },
       [](double x, double y) { return std::tanh(x * y); },
       [](double x, double y) { return y / std::pow(std::cosh(x * y), 2); },
       [](double x, double y) { return x / std::pow(std::cosh(x * y), 2); }},
      {"inverse hyperbolic sine", [](W& w, E, E y) { return w.op(Op::kAsinh, {y}); },
       [](double, double y) { return std::asinh(y); }, zero, [](double, double y) { return 1 / std::sqrt(1 + y * y); }},
      {"inverse hyperbolic cosine",
       [](W& w, E x, E) {
         return w.op(Op::kAcosh, {w.op(Op::kAdd, {w.f64(1), x})});
       },
       [](double x, double) { return std::acosh(1 + x); }, [](double x, double) { return 1 / std::sqrt(x * (x + 2)); },
       zero},
      {"inverse hyperbolic tangent",
       [](W& w, E x, E) {
         return w.op(Op::kAtanh, {w.op(Op::kMul, {w.f64(0.5), x})});
       },
       [](double x, double) { return std::atanh(x / 2); }, [](double x, double) { return 0.5 / (1 - x * x / 4); },
       zero},
      {"error function", [](W& w, E, E y) { return w.op(Op::kErf, {y}); }, [](double, double y) { return std::erf(y); },
       zero, [](double, double y) { return 2 / std::sqrt(M_PI) * std::exp(-y * y); }},
      {"complementary error function", [](W& w, E x, E) { return w.op(Op::kErfc, {x}); },
       [](double x, double) { return std::erfc(x); },
       [](double x, double) { return -2 / std::sqrt(M_PI) * std::exp(-x * x); }, zero},
      {"inverse error function",
       [](W& w, E, E y) {
         return w.op(Op::kErfinv, {w.op(Op::kMul, {y, w.f64(0.375)})});
       },
       [](double, double y) { return inverse_of(Op::kErf, 0.375 * y); }, zero,
       [](double, double y) {
         const double inverse = inverse_of(Op::kErf, 0.375 * y);
         return 0.375 * std::sqrt(M_PI) / 2 * std::exp(inverse * inverse);
       }},
      {"inverse complementary error function", [](W& w, E x, E) { return w.op(Op::kErfcinv, {x}); },
       [](double x, double) { return inverse_of(Op::kErfc, x); },
       [](double x, double) {
         const double inverse = inverse_of(Op::kErfc, x);
         return -std::sqrt(M_PI) / 2 * std::exp(inverse * inverse);
       },
       zero},
      {"interpolation",
       [](W& w, E x, E y) {
         return w.op(Op::kLerp, {x, y, w.op(Op::kMul, {x, w.f64(0.5)})});
       },
       [](double x, double y) { return x * (1 - x / 2) + y * x / 2; }, [](double x, double y) { return 1 - x + y / 2; },
       [](double x, double) { return x / 2; }},
      {"fused multiply add",
       [](W& w, E x, E y) {
         return w.op(Op::kFma, {x, y, x});
       },
       [](double x, double y) { return x * y + x; }, [](double, double y) { return y + 1; },
       [](double x, double) { return x; }},
      {"remainder",
       [](W& w, E x, E y) {
         return w.op(Op::kMod, {w.op(Op::kMul, {w.f64(7), x}), y});
       },
       [](double x, double y) { return std::fmod(7 * x, y); }, [](double, double) { return 7.0; },
       [](double x, double y) { return -std::trunc(7 * x / y); }},
      {"absolute value", [](W& w, E, E y) { return w.op(Op::kAbs, {y}); }, [](double, double y) { return std::abs(y); },
       zero, [](double, double y) { return y > 0 ? 1.0 : -1.0; }},
      {"maximum",
       [](W& w, E x, E y) {
         return w.op(Op::kMax, {square(w, x), y});
       },
       [](double x, double y) { return std::max(x * x, y); },
       [](double x, double y) { return x * x > y ? 2 * x : 0.0; },
       [](double x, double y) { return x * x > y ? 0.0 : 1.0; }},
      {"conditional",
       [](W& w, E x, E y) {
         return w.op(Op::kConditional, {w.op(Op::kGt, {x, y}), square(w, x), w.op(Op::kMul, {x, y})});
       },
       [](double x, double y) { return x > y ? x * x : x * y; }, [](double x, double y) { return x > y ? 2 * x : y; },
       [](double x, double y) { return x > y ? 0.0 : x; }},
  };
  return forms;
}

class ClosedFormTest : public ::testing::TestWithParam<ClosedForm> {};

TEST_P(ClosedFormTest, ValuesAndGradientsMatchFormula) {
  const ClosedForm& form = GetParam();
  OracleFixture w;
  const VarId x = w.floats("x", kX);
  const VarId y = w.floats("y", kY);
  const VarId out = w.zeros("out", ir::kF64, {5});
  const VarId i = w.thread_index(5);
  w.b().store(out, {w.var(i)}, form.expression(w, w.at(x, i), w.at(y, i)));
  const ReferenceResult r = w.gradient(out, kSeeds);
  ASSERT_TRUE(r.findings.empty());
  for (std::size_t k = 0; k < kX.size(); ++k) {
    const auto near = [](double expected) { return 1e-13 * std::max(1.0, std::abs(expected)); };
    const double value = form.value(kX[k], kY[k]);
    const double dx = kSeeds[k] * form.dx(kX[k], kY[k]);
    const double dy = kSeeds[k] * form.dy(kX[k], kY[k]);
    EXPECT_NEAR(static_cast<double>(r.outputs[2]->elements[k].value), value, near(value));
    EXPECT_NEAR(static_cast<double>(r.gradients[0]->elements[k].value), dx, near(dx))
        << "d/dx at " << kX[k] << ", " << kY[k];
    EXPECT_NEAR(static_cast<double>(r.gradients[1]->elements[k].value), dy, near(dy))
        << "d/dy at " << kX[k] << ", " << kY[k];
    EXPECT_LT(r.gradients[0]->elements[k].bound[kPromoted], 1e-13);
    EXPECT_EQ(static_cast<double>(r.gradients[2]->elements[k].value), 0)
        << "the output's initial content does not matter";
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, ClosedFormTest, ::testing::ValuesIn(closed_forms()), [](const auto& form) {
  std::string name = form.param.name;
  for (char& c : name)
    c = c == ' ' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace assay::reference
