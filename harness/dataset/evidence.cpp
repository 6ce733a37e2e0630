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

struct CheckRow {
  std::string_view name;
  std::optional<harness::CheckResult> harness::CheckResults::*member;
};
constexpr CheckRow kChecks[] = {
    {"oracle_self_check", &harness::CheckResults::oracle_self_check},
    {"f64_promotion", &harness::CheckResults::f64_promotion},
    {"finite_differences", &harness::CheckResults::finite_differences},
    {"native_precision", &harness::CheckResults::native_precision},
    {"determinism", &harness::CheckResults::determinism},
};

/// The checks that compared values.
std::vector<CheckEvidence> checks_of(const harness::CheckResults& results) {
  std::vector<CheckEvidence> checks;
  for (const CheckRow& row : kChecks) {
    const std::optional<harness::CheckResult>& result = results.*row.member;
    if (!result || result->compared_values == 0) continue;
    checks.push_back({.name = std::string(row.name),
                      .compared_values = result->compared_values,
                      .rho_max = finite(result->rho_max)});
  }
  return checks;
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
      .checks = checks_of(record.check_results),
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
