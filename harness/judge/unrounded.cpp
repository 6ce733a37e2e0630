#include "harness/judge/unrounded.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/device/backend.hpp"

namespace assay::harness {
namespace {

/// The bound of a rounded value without the rounding of the value itself.
double bound_before_rounding(const ExpectedScalar& rounded, ir::Scalar scalar) {
  const double rounding = std::ldexp(std::abs(static_cast<double>(rounded.value)), -ir::row(scalar).significant_bits);
  return std::max(0.0, rounded.bound - rounding);
}

}  // namespace

std::optional<UnroundedComparison> compare_unrounded_values(std::span<const std::byte> bytes, const ir::Module& module,
                                                            const ir::Argument& layout,
                                                            const UnroundedExpectation& expectation) {
  backends::UnroundedArrayHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  // The memory is NaN if the device wrote nothing.
  if (!(header.ambiguous_decision_count == 0)) return std::nullopt;
  const bool has_host_values = header.host_value_count > 0;
  const bool approximates = header.evaluates_polynomials > 0 || header.lost_value_count > 0 || has_host_values;
  const double factor_of_rounded_bound = has_host_values ? kHostErrorFactor : kPolynomialErrorFactor;
  const auto components = ir::scalar_components(module, layout.type.element());
  const ir::Scalar scalar = components.front().scalar;
  const auto size = static_cast<std::size_t>(ir::row(scalar).bytes);
  const ExpectedArray& exact = expectation.exact;
  const ExpectedArray with_library_errors = approximates ? expectation.with_library_errors() : ExpectedArray();
  std::optional<ExpectedArray> with_constant_errors;
  UnroundedComparison comparison;
  for (std::size_t i = 0; i < exact.scalars.size(); ++i) {
    const std::size_t offset = ir::element_offset(layout, static_cast<std::int64_t>(i / components.size())) +
                               components[i % components.size()].offset;
    backends::UnroundedElement element;
    std::memcpy(&element, bytes.data() + sizeof(header) + offset / size * sizeof(element), sizeof(element));
    ExpectedScalar expected = exact.scalars[i];
    expected.bound = kUnroundedErrorFactor * expected.bound + kTrackedErrorFactor * element.error;
    if (approximates) {
      expected.bound += factor_of_rounded_bound * bound_before_rounding(expectation.rounded.scalars[i], scalar) +
                        with_library_errors.scalars[i].bound;
    }
    const ComputedScalar computed{.value = element.value};
    // The rounded values are judged separately; only they show an overflow.
    const bool is_comparable = std::isfinite(element.value) && std::isfinite(expected.value);
    if (exact.is_written[i] && is_comparable) {
      const bool differs = static_cast<double>(std::abs(element.value - expected.value)) > expected.bound;
      if (differs && !with_constant_errors) with_constant_errors = expectation.with_constant_errors();
      // On another path, the value would be another one, too.
      if (differs && with_constant_errors->scalars[i].value == expected.value)
        expected.bound += with_constant_errors->scalars[i].bound;
      comparison.result.add(i, computed, expected);
    }
    const bool is_unexplained = !std::isfinite(element.value) && header.overflows == 0;
    if (exact.is_written[i] && std::isfinite(expected.value) && is_unexplained)
      comparison.has_non_finite_scalars = true;
    comparison.computed.push_back(computed);
    comparison.expected.push_back(expected);
  }
  return comparison;
}

const reference::ReferenceResult& ResultsWithErrors::of(std::size_t input_set_index) {
  const auto found = results_.find(input_set_index);
  if (found != results_.end()) return found->second;
  const InputSet& set = pass_context_.input_sets[input_set_index];
  reference::ArithmeticProfile profile = pass_context_.configuration.profile;
  profile.input_error = {};
  profile.promotion_has_library_errors = errors_ == AddedErrors::kLibrary;
  profile.promotion_has_constant_errors = errors_ == AddedErrors::kConstants;
  const reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative],
                                 .profile = profile,
                                 .computes_gradient = computes_gradient_,
                                 .cotangents = set.cotangents,
                                 .uninitialized = pass_context_.is_poisoned,
                                 .instruction_budget = set.request.instruction_budget};
  return results_.emplace(input_set_index, pass_context_.subject.oracle.evaluate(run)).first->second;
}

}  // namespace assay::harness
