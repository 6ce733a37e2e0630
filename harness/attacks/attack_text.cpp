#include "harness/attacks/attack_text.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/color.h>
#include <fmt/format.h>

#include "support/terminal.hpp"
#include "support/version/version.hpp"

namespace assay::attacks {
namespace {

/// Number of results of each kind.
struct Tally {
  std::size_t caught = 0;
  std::size_t not_caught = 0;
  std::size_t skipped = 0;
};

Tally tally_of(const AttackReport& report) {
  Tally tally;
  for (const AttackResult& result : report.results)
    ++(result.is_skipped ? tally.skipped : result.is_caught() ? tally.caught : tally.not_caught);
  return tally;
}

std::string ending_of(const AttackResult& result) {
  if (result.is_skipped) return "not run: the attack tests a confinement mechanism that this system does not support";
  const std::string_view outcome = to_text(result.record.outcome);
  return result.record.outcome_detail.empty() ? std::string(outcome)
                                              : fmt::format("{}({})", outcome, result.record.outcome_detail);
}

std::string counts_of(const AttackReport& report) {
  const Tally tally = tally_of(report);
  const auto passed =
      std::ranges::count_if(report.correct_kernel_records, [](const auto& record) { return is_pass(record.outcome); });
  return fmt::format("{} attacks: {} caught, {} not caught, {} not run; {} of {} correct kernels passed",
                     report.results.size(), tally.caught, tally.not_caught, tally.skipped, passed,
                     report.correct_kernel_records.size());
}

/// Problems to report: attacks that were not caught, damage that was done, correct kernels that failed.
std::vector<std::string> troubles_of(const AttackReport& report) {
  std::vector<std::string> troubles;
  for (const AttackResult& result : report.results) {
    if (!result.is_skipped && !result.is_caught())
      troubles.push_back(fmt::format("attack {} was not caught; outcome {}: {}", result.attack.name, ending_of(result),
                                     result.record.message));
    if (result.forward_record && !is_pass(result.forward_record->outcome))
      troubles.push_back(fmt::format("attack {}: the correct forward pass has the outcome {}, expected pass: {}",
                                     result.attack.name, to_text(result.forward_record->outcome),
                                     result.forward_record->message));
    for (const std::string& damage : result.damage_reports)
      troubles.push_back(fmt::format("attack {}: {}", result.attack.name, damage));
  }
  for (const harness::CaseRecord& record : report.correct_kernel_records) {
    if (!is_pass(record.outcome))
      troubles.push_back(fmt::format("correct kernel {} has the outcome {}, expected pass: {}", record.name,
                                     to_text(record.outcome), record.message));
  }
  troubles.insert(troubles.end(), report.leftover_resources.begin(), report.leftover_resources.end());
  return troubles;
}

}  // namespace

std::string attack_table(const AttackReport& report, const std::string& confinement, bool color) {
  std::string text = fmt::format("generated code: {}\n\n", confinement);
  std::size_t width = 0;
  for (const AttackResult& result : report.results)
    width = std::max(width, result.attack.name.size());
  for (const AttackResult& result : report.results) {
    const auto style = result.is_skipped    ? fmt::fg(fmt::terminal_color::yellow)
                       : result.is_caught() ? fmt::fg(fmt::terminal_color::green)
                                            : fmt::fg(fmt::terminal_color::red);
    const std::string_view word = result.is_skipped ? "not run" : result.is_caught() ? "caught " : "PASSED ";
    text += fmt::format("{}  {:<{}}  {}\n", styled(std::string(word), style, color), result.attack.name, width,
                        ending_of(result));
  }
  text += "\n" + counts_of(report) + "\n";
  for (const std::string& trouble : troubles_of(report))
    text += styled(trouble, fmt::fg(fmt::terminal_color::red), color) + "\n";
  return text;
}

std::string attack_document(const AttackReport& report, const std::string& confinement) {
  std::string text = fmt::format(
      "# The attack set\n\n"
      "Written by `assay mutate --attacks --write-doc`, commit {}. Each attack is a correct kernel with hostile code "
      "in\n"
      "one of its passes. The kernel is built, run in a worker and judged like any other kernel. If the hostile code "
      "is in the\n"
      "backward pass, the forward pass is correct and must pass. [Confinement](../design/confinement.md) describes "
      "the\n"
      "protection against the attacks.\n\n"
      "{}. Generated code: {}.\n\n"
      "| attack | pass | the code ... | must be stopped by | outcome |\n|---|---|---|---|---|\n",
      kCommitHash.substr(0, 7), counts_of(report), confinement);
  for (const AttackResult& result : report.results)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", result.attack.name, backends::to_text(result.attack.pass),
                        result.attack.behavior, to_text(result.attack.required_protection), ending_of(result));
  for (const std::string& trouble : troubles_of(report))
    text += "\n**" + trouble + "**\n";
  return text;
}

}  // namespace assay::attacks
