#include "harness/dataset/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay::dataset {
namespace {

/// The memory checks that the harness makes around every launch on any device.
constexpr std::string_view kHarnessChecks[] = {"guard_bands", "poison", "unmodified_inputs"};

std::string determinism_of(const harness::CaseRecord& record, bool order_dependent) {
  if (!record.check_results.determinism || record.check_results.determinism->compared_values == 0) return "not_tested";
  return order_dependent ? "order_dependent" : "bitwise";
}

/// JSON has no infinity; a case that passed has none.
std::optional<double> finite(const std::optional<double>& rho) {
  return rho && std::isfinite(*rho) ? rho : std::nullopt;
}

}  // namespace

PassEvidence make_evidence(const harness::CaseRecord& record, const RenderedKernel& kernel,
                           std::span<const std::string> checks) {
  const bool backward = record.pass == "backward";
  PassEvidence evidence{
      .device = record.device,
      .pass = record.pass,
      .mode = record.mode.empty() ? "strict" : record.mode,
      .verdict = std::string(to_text(record.outcome)),
      .rho_max = finite(record.rho_max),
      .values_compared = record.values_compared,
      .input_sets = record.input_sets,
      .thread_counts = record.thread_counts,
      .finite_difference_rho = record.check_results.finite_differences
                                   ? finite(record.check_results.finite_differences->rho_max)
                                   : std::nullopt,
      .determinism_result = determinism_of(
          record, backward ? kernel.has_order_dependent_backward_pass : kernel.has_order_dependent_forward_pass),
      .rejected_negative_controls = record.rejected_negative_controls,
      .inconclusive = record.inconclusive};
  evidence.memory_checks.assign(std::begin(kHarnessChecks), std::end(kHarnessChecks));
  std::ranges::copy(checks, std::back_inserter(evidence.memory_checks));
  return evidence;
}

PassEvidence not_run(std::string_view device, std::string_view pass, std::string reason) {
  return {.device = std::string(device),
          .pass = std::string(pass),
          .verdict = std::string(to_text(harness::Outcome::not_run)),
          .reason = std::move(reason),
          .determinism_result = "not_tested"};
}

void sort(std::vector<PassEvidence>& evidence) {
  // "forward" before "backward"; devices and modes by name.
  const auto key = [](const PassEvidence& one) {
    return std::tuple(std::string_view(one.device), one.pass != "forward", std::string_view(one.mode));
  };
  std::ranges::stable_sort(evidence, [&](const PassEvidence& a, const PassEvidence& b) { return key(a) < key(b); });
}

}  // namespace assay::dataset
