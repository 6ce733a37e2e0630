#include <array>
#include <string_view>
#include <utility>

#include "reference/cpu/evaluators.hpp"
#include "support/fault_injection.hpp"

namespace assay::reference {
namespace {

using ir::Op;

/// Makes correct partial derivatives incorrect. Derivatives that are not requested are unchanged.
using Spoil = void (*)(Operands x, const BoundedValue& result, std::uint32_t wanted, BoundedValue* partials);

struct FaultyRule {
  std::string_view fault;
  Op op;
  Spoil spoil;
};

constexpr std::array kFaultyRules = {
    FaultyRule{"product_of_the_same", Op::kMul,
               [](Operands x, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0] = *x[0]; }},
    FaultyRule{"quotient_without_its_sign", Op::kDiv,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[1].v = -p[1].v; }},
    FaultyRule{"magnitude_without_its_sign", Op::kAbs,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v = 1; }},
    FaultyRule{"maximum_of_the_other", Op::kMax,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { std::swap(p[0], p[1]); }},
    FaultyRule{"root_without_its_half", Op::kSqrt,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v *= 2; }},
    FaultyRule{"exponential_off_by_one_percent", Op::kExp,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v *= 1.01L; }},
    FaultyRule{"logarithm_off_by_one_millionth", Op::kLog,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v *= 1.000001L; }},
    FaultyRule{"sine_negated", Op::kSin,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v = -p[0].v; }},
    FaultyRule{"tanh_without_its_square", Op::kTanh,
               [](Operands, const BoundedValue& r, std::uint32_t, BoundedValue* p) { p[0].v = 1 - r.v; }},
    FaultyRule{"power_of_the_same_exponent", Op::kPow,
               [](Operands x, const BoundedValue&, std::uint32_t wanted, BoundedValue* p) {
                 if ((wanted & 1U) != 0) p[0].v *= x[0]->v;
               }},
    FaultyRule{"arctangent_of_the_other", Op::kAtan2,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { std::swap(p[0], p[1]); }},
    FaultyRule{"product_sum_without_its_first", Op::kDot,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v = 0; }},
    FaultyRule{"inverse_negated", Op::kInverse,
               [](Operands, const BoundedValue&, std::uint32_t, BoundedValue* p) { p[0].v = -p[0].v; }},
};

template <std::size_t Rule>
void differentiate_wrongly(const BoundedArithmetic& a, Operands x, const BoundedValue& result, std::uint32_t wanted,
                           BoundedValue* partials) {
  constexpr const FaultyRule& kRule = kFaultyRules[Rule];
  original_evaluator(kRule.op).differentiate(a, x, result, wanted, partials);
  kRule.spoil(x, result, wanted, partials);
}

template <std::size_t... Rules>
const Evaluator* faulty_row(const Evaluator& row, std::index_sequence<Rules...>) {
  static const std::array rows = {[] {
    Evaluator wrong = original_evaluator(kFaultyRules[Rules].op);
    wrong.differentiate = differentiate_wrongly<Rules>;
    return wrong;
  }()...};
  const Evaluator* found = nullptr;
  ((found = row.op == kFaultyRules[Rules].op && fault_is_active(kFaultyRules[Rules].fault) ? &rows[Rules] : found),
   ...);
  return found;
}

}  // namespace

const Evaluator& with_faulty_rule(const Evaluator& row) {
  const Evaluator* const wrong = faulty_row(row, std::make_index_sequence<kFaultyRules.size()>());
  return wrong != nullptr ? *wrong : row;
}

}  // namespace assay::reference
