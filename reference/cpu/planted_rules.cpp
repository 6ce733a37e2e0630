#include "reference/cpu/planted_rules.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "ir/support/plant.hpp"

namespace assay::reference {
namespace {

using ir::Op;

/// Makes right partial derivatives wrong. A derivative that is not asked for is left alone.
using Spoil = void (*)(Operands x, const Bounded& result, std::uint32_t wanted, Bounded* partials);

struct PlantedRule {
  std::string_view fault;
  Op op;
  Spoil spoil;
};

constexpr std::array kPlantedRules = {
    PlantedRule{"product_of_the_same", Op::kMul,
                [](Operands x, const Bounded&, std::uint32_t, Bounded* p) { p[0] = *x[0]; }},
    PlantedRule{"quotient_without_its_sign", Op::kDiv,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[1].v = -p[1].v; }},
    PlantedRule{"magnitude_without_its_sign", Op::kAbs,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v = 1; }},
    PlantedRule{"maximum_of_the_other", Op::kMax,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { std::swap(p[0], p[1]); }},
    PlantedRule{"root_without_its_half", Op::kSqrt,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v *= 2; }},
    PlantedRule{"exponential_off_by_one_percent", Op::kExp,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v *= 1.01L; }},
    PlantedRule{"logarithm_off_by_one_millionth", Op::kLog,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v *= 1.000001L; }},
    PlantedRule{"sine_negated", Op::kSin,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v = -p[0].v; }},
    PlantedRule{"tanh_without_its_square", Op::kTanh,
                [](Operands, const Bounded& r, std::uint32_t, Bounded* p) { p[0].v = 1 - r.v; }},
    PlantedRule{"power_of_the_same_exponent", Op::kPow,
                [](Operands x, const Bounded&, std::uint32_t wanted, Bounded* p) {
                  if ((wanted & 1U) != 0) p[0].v *= x[0]->v;
                }},
    PlantedRule{"arctangent_of_the_other", Op::kAtan2,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { std::swap(p[0], p[1]); }},
    PlantedRule{"product_sum_without_its_first", Op::kDot,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v = 0; }},
    PlantedRule{"inverse_negated", Op::kInverse,
                [](Operands, const Bounded&, std::uint32_t, Bounded* p) { p[0].v = -p[0].v; }},
};

template <std::size_t Rule>
void differentiate_wrongly(const Arithmetic& a, Operands x, const Bounded& result, std::uint32_t wanted,
                           Bounded* partials) {
  constexpr const PlantedRule& kRule = kPlantedRules[Rule];
  right_evaluator(kRule.op).differentiate(a, x, result, wanted, partials);
  kRule.spoil(x, result, wanted, partials);
}

template <std::size_t... Rules>
const Evaluator* planted_row(const Evaluator& row, std::index_sequence<Rules...>) {
  static const std::array rows = {[] {
    Evaluator wrong = right_evaluator(kPlantedRules[Rules].op);
    wrong.differentiate = differentiate_wrongly<Rules>;
    return wrong;
  }()...};
  const Evaluator* found = nullptr;
  ((found = row.op == kPlantedRules[Rules].op && planted(kPlantedRules[Rules].fault) ? &rows[Rules] : found), ...);
  return found;
}

}  // namespace

const Evaluator& with_planted_rule(const Evaluator& row) {
  const Evaluator* const wrong = planted_row(row, std::make_index_sequence<kPlantedRules.size()>());
  return wrong != nullptr ? *wrong : row;
}

}  // namespace assay::reference
