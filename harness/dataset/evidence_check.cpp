#include "harness/dataset/evidence_check.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/dataset/emitter.hpp"
#include "harness/records/outcome.hpp"
#include "harness/suite/run/run.hpp"

namespace assay::dataset {
namespace {

constexpr std::string_view kF64Promotion = "f64_promotion";
constexpr std::string_view kFiniteDifferences = "finite_differences";
constexpr std::string_view kNativePrecision = "native_precision";

bool has_passed(const PassEvidence& one) { return harness::outcome_from_text(one.verdict) == harness::Outcome::pass; }

std::string text_of(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : "null"; }

const CheckEvidence* find_check(const PassEvidence& one, std::string_view name) {
  const auto check = std::ranges::find(one.checks, name, &CheckEvidence::name);
  return check == one.checks.end() ? nullptr : &*check;
}

/// Checks the evidence of one row.
class EvidenceChecker {
 public:
  EvidenceChecker(const DatasetRow& row, EvidenceForm form, std::vector<RowError>& diagnostics)
      : row_(row), has_checks_(form == EvidenceForm::kWithChecks), diagnostics_(diagnostics) {}

  void run() {
    for (std::size_t i = 0; i < row_.evidence.size(); ++i) {
      const PassEvidence& one = row_.evidence[i];
      const std::string at = fmt::format("/evidence/{}", i);
      check_verdict(one, at);
      if (!has_passed(one)) continue;
      check_amounts(one, at);
      if (has_checks_) {
        check_checks(one, at);
        check_request(one, at);
      }
    }
    check_coverage();
    if (has_checks_) check_passes();
  }

 private:
  void error(std::string pointer, std::string found, std::string expected) {
    diagnostics_.push_back({.row_id = row_.id,
                            .json_pointer = std::move(pointer),
                            .found_text = std::move(found),
                            .expected = std::move(expected)});
  }

  void check_verdict(const PassEvidence& one, const std::string& at) {
    if (!has_passed(one) && one.verdict != "not_run")
      error(at + "/verdict", quoted_excerpt(one.verdict), "the verdict pass or not_run");
    if (one.verdict == "not_run" && one.reason.empty())
      error(at + "/reason", "no reason", "the reason why the case was not run");
    if (!entries_.emplace(one.device, one.pass, one.mode).second) {
      error(at, fmt::format("a second entry for {}/{}/{}", one.device, one.pass, one.mode),
            "one entry for each device, pass and numeric mode");
    }
  }

  /// Checks the numbers of a case that passed.
  void check_amounts(const PassEvidence& one, const std::string& at) {
    const std::pair<const char*, std::int64_t> counts[] = {{"/values_compared", one.values_compared},
                                                           {"/input_sets", one.input_sets}};
    for (const auto& [name, count] : counts)
      if (count == 0) error(at + name, "0", "a positive number, because the verdict is pass");
    if (one.thread_counts.empty())
      error(at + "/sizes", "[]", "the number of threads of at least one launch, because the verdict is pass");
    if (!one.rho_max) error(at + "/rho_max", "null", "a number from 0 to 1, because the verdict is pass");
    check_rho(one.rho_max, at + "/rho_max");
    check_rho(one.finite_difference_rho, at + "/finite_difference_rho");
  }

  /// Errors and differences are divided by what the judge allows, so a case with a greater value does not pass.
  void check_rho(const std::optional<double>& rho, std::string pointer) {
    if (rho && !(*rho <= 1)) error(std::move(pointer), text_of(rho), "at most 1, because the verdict is pass");
  }

  /// Checks the named checks of a case that passed.
  void check_checks(const PassEvidence& one, const std::string& at) {
    if (one.checks.empty()) return error(at + "/checks", "[]", "at least one check, because the verdict is pass");
    std::set<std::string_view> names;
    std::uint64_t values = 0;  // unsigned, because the numbers of an invalid row may overflow
    double rho = 0;
    for (std::size_t i = 0; i < one.checks.size(); ++i) {
      const CheckEvidence& check = one.checks[i];
      const std::string pointer = fmt::format("{}/checks/{}", at, i);
      if (!names.insert(check.name).second)
        error(pointer + "/name", quoted_excerpt(check.name), "one element for each check");
      if (!check.rho_max) error(pointer + "/rho_max", "null", "a number from 0 to 1, because the verdict is pass");
      check_rho(check.rho_max, pointer + "/rho_max");
      values += static_cast<std::uint64_t>(check.compared_values);
      rho = std::max(rho, check.rho_max.value_or(0));
    }
    if (!names.contains(kNativePrecision)) {
      error(at + "/checks", fmt::format("only {}", fmt::join(names, ", ")),
            fmt::format("the check {}, which every verdict pass needs", kNativePrecision));
    }
    if (static_cast<std::uint64_t>(one.values_compared) > values) {
      error(at + "/values_compared", fmt::format("{}", one.values_compared),
            fmt::format("at most {}, the sum of the values that the checks compared", values));
    }
    if (one.rho_max.value_or(0) > rho)
      error(at + "/rho_max", text_of(one.rho_max), fmt::format("at most {}, the greatest rho of the checks", rho));
    const CheckEvidence* const differences = find_check(one, kFiniteDifferences);
    const std::optional<double> difference_rho = differences == nullptr ? std::nullopt : differences->rho_max;
    if (one.finite_difference_rho != difference_rho) {
      error(at + "/finite_difference_rho", text_of(one.finite_difference_rho),
            differences == nullptr
                ? fmt::format("null, because the check {} did not run", kFiniteDifferences)
                : fmt::format("{}, the rho of the check {}", text_of(difference_rho), kFiniteDifferences));
    }
    check_controls(one, at);
  }

  /// The judge presents negative controls together with the results of f64 promotion. Warp's code cannot always be
  /// promoted; the check then judges what the code computes without rounding, and no controls are presented.
  void check_controls(const PassEvidence& one, const std::string& at) {
    if (row_.metadata.emitter != kAssayEmitter || find_check(one, kF64Promotion) == nullptr) return;
    if (one.rejected_negative_controls >= harness::kRequiredRejectedControls) return;
    error(at + "/controls_rejected", fmt::format("{}", one.rejected_negative_controls),
          fmt::format("at least {}, because the check {} ran", harness::kRequiredRejectedControls, kF64Promotion));
  }

  /// Checks that the metadata lists the device and the mode of a case that passed.
  void check_request(const PassEvidence& one, const std::string& at) {
    if (std::ranges::find(row_.metadata.device, one.device) == row_.metadata.device.end()) {
      error(at + "/device", quoted_excerpt(one.device),
            fmt::format("one of the devices in /metadata/device: {}", fmt::join(row_.metadata.device, ", ")));
      return;
    }
    const std::string mode = fmt::format("{}/{}", one.device, one.mode);
    if (std::ranges::find(row_.metadata.numeric_modes, mode) != row_.metadata.numeric_modes.end()) return;
    error(at + "/mode", quoted_excerpt(one.mode),
          "a numeric mode in /metadata/flags: " +
              quoted_excerpt(fmt::format("{}", fmt::join(row_.metadata.numeric_modes, ", "))));
  }

  /// Checks that the evidence has an entry for each device and pass.
  void check_coverage() {
    for (const std::string& device : devices_of_emitter(row_.metadata.emitter)) {
      for (const char* pass : {"forward", "backward"}) {
        const auto is_it = [&](const PassEvidence& one) { return one.device == device && one.pass == pass; };
        if (std::ranges::none_of(row_.evidence, is_it))
          error("/evidence", fmt::format("no entry for {}/{}", device, pass), "an entry for each device and pass");
      }
    }
  }

  /// The devices and modes in which a pass of the kernel passed: "cpu/strict".
  std::set<std::string> modes_of(std::string_view pass) const {
    std::set<std::string> modes;
    for (const PassEvidence& one : row_.evidence)
      if (one.pass == pass && has_passed(one)) modes.insert(fmt::format("{}/{}", one.device, one.mode));
    return modes;
  }

  /// Checks the verdicts of both passes together.
  void check_passes() {
    const std::set<std::string> forward = modes_of("forward");
    const std::set<std::string> backward = modes_of("backward");
    if (row_.metadata.judging_effort != "none" && forward.empty()) {
      error("/evidence", "no forward pass with the verdict pass",
            fmt::format("a verdict pass on at least one device, because the effort of judging is {}",
                        row_.metadata.judging_effort));
    }
    const std::set<std::string> expected = row_.cuda_backward.empty() ? std::set<std::string>{} : forward;
    if (backward != expected) {
      error("/evidence", fmt::format("verdicts pass of the backward pass in these modes: {}", listed(backward)),
            row_.cuda_backward.empty() ? "no verdict pass of the backward pass, because cuda_backward is null"
                                       : fmt::format("the same modes as for the forward pass: {}", listed(forward)));
    }
    if (row_.metadata.emitter != kAssayEmitter) return;
    for (const std::string_view pass : {"forward", "backward"}) {
      const auto is_promoted = [&](const PassEvidence& one) {
        return one.pass == pass && has_passed(one) && find_check(one, kF64Promotion) != nullptr;
      };
      if (modes_of(pass).empty() || std::ranges::any_of(row_.evidence, is_promoted)) continue;
      error("/evidence", fmt::format("no {} pass with the check {}", pass, kF64Promotion),
            fmt::format("the check {} on at least one device", kF64Promotion));
    }
  }

  static std::string listed(const std::set<std::string>& modes) {
    return modes.empty() ? "none" : fmt::format("{}", fmt::join(modes, ", "));
  }

  const DatasetRow& row_;
  bool has_checks_;  ///< whether the evidence lists its checks
  std::vector<RowError>& diagnostics_;
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> entries_;  ///< device, pass and mode
};

}  // namespace

void check_evidence(const DatasetRow& row, EvidenceForm form, std::vector<RowError>& diagnostics) {
  EvidenceChecker(row, form, diagnostics).run();
}

}  // namespace assay::dataset
