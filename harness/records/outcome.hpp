// Outcomes of cases, and the exit status of a run that follows from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::harness {

/// The outcome of an attempt or a case. The record's `kind` names the failed check, the defect, the missing capability
/// or the reason for an inconclusive result.
enum class Outcome : std::uint8_t {
  pass,            ///< all checks passed, and at least one value was compared
  fail,            ///< a check failed; `kind` names it
  defect,          ///< the user's kernel is undefined; `kind` is race, out_of_bounds or uninitialized
  inconclusive,    ///< no verdict; `kind` is path, kink, conditioning, overflow, race, domain or weak_oracle
  unsupported,     ///< the device or a capability is missing; `kind` names it
  not_run,         ///< planned but never attempted; `kind` is the reason
  build_failed,    ///< the emitted source did not compile
  launch_failed,   ///< the built module could not be loaded or launched
  crashed,         ///< the worker was killed by a signal
  timed_out,       ///< the worker exceeded its time limit
  memory_fault,    ///< a guard band or an input was overwritten, or the device reported an access fault
  resource_error,  ///< the machine ran out of a resource, through no fault of the kernel
  internal_error,  ///< Assay contradicted itself; the results of the run are unreliable
};

/// An outcome with its name in records.
struct OutcomeName {
  Outcome outcome;        ///< the outcome
  std::string_view text;  ///< text of the outcome in records
};

/// Text of each outcome in records, in the order of the enumeration.
inline constexpr std::array<OutcomeName, 13> kOutcomeNames{{
    {Outcome::pass, "pass"},
    {Outcome::fail, "fail"},
    {Outcome::defect, "defect"},
    {Outcome::inconclusive, "inconclusive"},
    {Outcome::unsupported, "unsupported"},
    {Outcome::not_run, "not_run"},
    {Outcome::build_failed, "build_failed"},
    {Outcome::launch_failed, "launch_failed"},
    {Outcome::crashed, "crashed"},
    {Outcome::timed_out, "timed_out"},
    {Outcome::memory_fault, "memory_fault"},
    {Outcome::resource_error, "resource_error"},
    {Outcome::internal_error, "internal_error"},
}};

inline constexpr std::size_t kOutcomeCount = kOutcomeNames.size();

constexpr std::string_view to_text(Outcome outcome) { return kOutcomeNames.at(static_cast<std::size_t>(outcome)).text; }

/// Text of a pass that used more than 90 % of a bound, in records before version 2.0.0.
inline constexpr std::string_view kLegacyPassText = "pass_marginal";

/// The outcome with this text in records of any version; empty if there is none.
constexpr std::optional<Outcome> outcome_from_text(std::string_view text) {
  if (text == kLegacyPassText) {
    return Outcome::pass;
  }
  for (const OutcomeName& row : kOutcomeNames) {
    if (row.text == text) {
      return row.outcome;
    }
  }
  return std::nullopt;
}

/// Whether the outcome is as expected without an expectations file. An inconclusive case is unexpected, because it is
/// not verified.
constexpr bool is_as_expected(Outcome outcome) { return outcome == Outcome::pass || outcome == Outcome::unsupported; }

constexpr bool is_pass(Outcome outcome) { return outcome == Outcome::pass; }

/// Number of cases with each outcome.
class OutcomeCounts {
 public:
  constexpr void add(Outcome outcome, std::int64_t cases = 1) {
    counts_.at(static_cast<std::size_t>(outcome)) += cases;
  }
  [[nodiscard]] constexpr std::int64_t count_of(Outcome outcome) const {
    return counts_.at(static_cast<std::size_t>(outcome));
  }
  [[nodiscard]] constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t cell : counts_) {
      sum += cell;
    }
    return sum;
  }
  friend constexpr bool operator==(const OutcomeCounts&, const OutcomeCounts&) = default;

 private:
  std::array<std::int64_t, kOutcomeCount> counts_{};  ///< number of cases with each outcome, in the order of Outcome
};

/// Exit status of the process; the numbers are part of the command-line interface.
enum class ExitStatus : int {
  as_expected = 0,       ///< every case ended as expected
  unexpected = 1,        ///< at least one case did not end as expected
  usage = 2,             ///< invalid command line, file or selector; never computed from outcomes
  internal = 3,          ///< Assay contradicted itself; see Outcome::internal_error
  nothing_ran = 4,       ///< no case was planned, or none was attempted
  all_unsupported = 77,  ///< CTest's and Automake's status for a skipped test
};

/// The exit status of a run with these outcomes of its planned cases; a missing case counts as not_run. The first rule
/// that applies decides: an internal error, nothing planned, all unsupported, nothing attempted, an unexpected outcome.
constexpr ExitStatus exit_status(const OutcomeCounts& counts) {
  const std::int64_t total = counts.total();
  if (counts.count_of(Outcome::internal_error) > 0) {
    return ExitStatus::internal;
  }
  if (total == 0) {
    return ExitStatus::nothing_ran;
  }
  if (counts.count_of(Outcome::unsupported) == total) {
    return ExitStatus::all_unsupported;
  }
  if (counts.count_of(Outcome::unsupported) + counts.count_of(Outcome::not_run) == total) {
    return ExitStatus::nothing_ran;
  }
  for (const OutcomeName& row : kOutcomeNames) {
    if (!is_as_expected(row.outcome) && counts.count_of(row.outcome) > 0) {
      return ExitStatus::unexpected;
    }
  }
  return ExitStatus::as_expected;
}

}  // namespace assay::harness
