#include "harness/warp_differences/sweep_rules.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay::warp {
namespace {

using ir::Scalar;

bool on_transform(const SweptCall& call) { return call.operand_types[0].is_transform(); }
bool on_float64(const SweptCall& call) { return call.operand_types[0].scalar == Scalar::kF64; }
bool short_float_to_bool(const SweptCall& call) {
  const Scalar scalar = call.operand_types[0].scalar;
  return call.result_types[0].is_bool() && (scalar == Scalar::kF16 || scalar == Scalar::kBF16);
}

bool is_zero_of_other_sign(const SweptDifference& difference) {
  return !difference.expected.is_integer && difference.expected.value == 0 && difference.got.value == 0;
}
bool is_zero_of_matrix_product(const SweptDifference& difference) {
  const std::vector<ir::Type>& operands = difference.call->operand_types;
  return operands[0].is_matrix() && operands[1].is_matrix() && is_zero_of_other_sign(difference);
}
bool is_not_finite(const SweptDifference& difference) {
  return !std::isfinite(difference.expected.value) || !std::isfinite(difference.got.value);
}
bool is_not_finite_or_zero(const SweptDifference& difference) {
  return is_not_finite(difference) || is_zero_of_other_sign(difference);
}

/// A small absolute error, or a result that is not finite next to the ends of the domain.
bool has_lost_digits(const SweptDifference& difference) {
  return !std::isfinite(difference.got.value) || std::abs(difference.got.value - difference.expected.value) <= 1e-13;
}

constexpr AllowedDifferenceRule kRules[] = {
    {"sign of zero in sums", "determinant inverse qr3 quat_slerp quat_twist svd2 transform_inverse transform_wrench",
     is_zero_of_other_sign},
    {"sign of zero in matrix products", "mul", is_zero_of_matrix_product},
    {"infinities and NaN in sums", "determinant", is_not_finite},
    {"digits lost in inverse error functions", "erfinv erfcinv", has_lost_digits},
    {"infinities and NaN in rotations", "quat_to_matrix transform_compose transform_to_matrix", is_not_finite_or_zero},
};

constexpr ExtensionRule kExtensions[] = {
    {"arithmetic on transforms", "div neg dot", on_transform},
    {"norms of float64 vectors", "norm_l1 norm_huber norm_pseudo_huber smooth_normalize", on_float64},
    {"spatial functions with float64",
     "transform_twist transform_wrench velocity_at_point quat_twist quat_twist_angle quat_twist_angle_signed "
     "quat_to_rpy "
     "quat_from_euler quat_to_euler",
     on_float64},
    {"conversion of 16-bit floats to bool", "cast", short_float_to_bool},
};

bool lists(std::string_view operations, std::string_view operation) {
  return fmt::format(" {} ", operations).find(fmt::format(" {} ", operation)) != std::string::npos;
}

}  // namespace

std::span<const AllowedDifferenceRule> sweep_rules() { return kRules; }

const AllowedDifferenceRule* sweep_rule(const SweptDifference& difference) {
  const std::string_view operation = difference.call->operation_name;
  const auto* const rule = std::ranges::find_if(kRules, [&](const AllowedDifferenceRule& each) {
    return lists(each.operation_names, operation) && each.applies(difference);
  });
  return rule == std::end(kRules) ? nullptr : rule;
}

std::span<const ExtensionRule> extension_rules() { return kExtensions; }

const ExtensionRule* extension_rule(const SweptCall& call) {
  const auto* const rule = std::ranges::find_if(kExtensions, [&](const ExtensionRule& each) {
    return lists(each.operation_names, call.operation_name) && each.applies(call);
  });
  return rule == std::end(kExtensions) ? nullptr : rule;
}

}  // namespace assay::warp
