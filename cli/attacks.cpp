#include "cli/attacks.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/color.h>
#include <fmt/format.h>

#include "backends/cpu/device.hpp"
#include "backends/worker/confinement.hpp"
#include "cli/command.hpp"
#include "cli/emission.hpp"
#include "cli/progress.hpp"
#include "harness/attacks/run_attacks.hpp"
#include "reports/model/text_table.hpp"
#include "support/files.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

using attacks::AttackReport;
using attacks::AttackResult;

/// How many results there are of which kind.
struct Tally {
  std::size_t caught = 0;
  std::size_t not_caught = 0;
  std::size_t left_out = 0;
};

Tally tally_of(const AttackReport& report) {
  Tally tally;
  for (const AttackResult& result : report.attacks)
    ++(result.left_out ? tally.left_out : result.caught() ? tally.caught : tally.not_caught);
  return tally;
}

std::string ending_of(const AttackResult& result) {
  if (result.left_out) return "not run: nothing holds it here";
  const std::string_view outcome = to_text(result.record.outcome);
  return result.record.kind.empty() ? std::string(outcome) : fmt::format("{}({})", outcome, result.record.kind);
}

std::string counts_of(const AttackReport& report) {
  const Tally tally = tally_of(report);
  const auto passed =
      std::ranges::count_if(report.neighbours, [](const auto& record) { return is_pass(record.outcome); });
  return fmt::format("{} attacks: {} caught, {} not caught, {} not run; {} of {} right neighbours pass",
                     report.attacks.size(), tally.caught, tally.not_caught, tally.left_out, passed,
                     report.neighbours.size());
}

/// What a person has to know of: attacks that came through, harm, neighbours that failed.
std::vector<std::string> troubles_of(const AttackReport& report) {
  std::vector<std::string> troubles;
  for (const AttackResult& result : report.attacks) {
    if (!result.left_out && !result.caught())
      troubles.push_back(
          fmt::format("{} was not caught: {} {}", result.attack.name, ending_of(result), result.record.message));
    if (result.forward && !is_pass(result.forward->outcome))
      troubles.push_back(fmt::format("{} is right in its forward pass, which ended as {}: {}", result.attack.name,
                                     to_text(result.forward->outcome), result.forward->message));
    for (const std::string& harm : result.harm)
      troubles.push_back(fmt::format("{}: {}", result.attack.name, harm));
  }
  for (const harness::CaseRecord& record : report.neighbours) {
    if (!is_pass(record.outcome))
      troubles.push_back(
          fmt::format("{} is right and ended as {}: {}", record.name, to_text(record.outcome), record.message));
  }
  troubles.insert(troubles.end(), report.leftovers.begin(), report.leftovers.end());
  return troubles;
}

std::string table_of(const AttackReport& report, const std::string& confinement, bool color) {
  std::string text = fmt::format("generated code: {}\n\n", confinement);
  std::size_t width = 0;
  for (const AttackResult& result : report.attacks)
    width = std::max(width, result.attack.name.size());
  for (const AttackResult& result : report.attacks) {
    const auto style = result.left_out   ? fmt::fg(fmt::terminal_color::yellow)
                       : result.caught() ? fmt::fg(fmt::terminal_color::green)
                                         : fmt::fg(fmt::terminal_color::red);
    const std::string_view word = result.left_out ? "not run" : result.caught() ? "caught " : "PASSED ";
    text += fmt::format("{}  {:<{}}  {}\n", reports::styled(std::string(word), style, color), result.attack.name, width,
                        ending_of(result));
  }
  text += "\n" + counts_of(report) + "\n";
  for (const std::string& trouble : troubles_of(report))
    text += reports::styled(trouble, fmt::fg(fmt::terminal_color::red), color) + "\n";
  return text;
}

std::string document_of(const AttackReport& report, const std::string& confinement) {
  std::string text = fmt::format(
      "# The attack set\n\n"
      "Written by `assay certify --attacks`, commit {}; not by hand. Each attack is a right kernel with the attack "
      "planted\n"
      "into one of its passes, built, run in a worker and judged like any other. Where the backward pass attacks, the "
      "forward\n"
      "pass beside it is right and has to pass. [confinement.md](confinement.md) says what holds them.\n\n"
      "{}. Generated code: {}.\n\n"
      "| attack | in the pass | the code ... | fails on | ended as |\n|---|---|---|---|---|\n",
      kCommit.substr(0, 7), counts_of(report), confinement);
  for (const AttackResult& result : report.attacks)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", result.attack.name, backends::to_text(result.attack.pass),
                        result.attack.does, to_text(result.attack.guard), ending_of(result));
  for (const std::string& trouble : troubles_of(report))
    text += "\n**" + trouble + "**\n";
  return text;
}

}  // namespace

int run_attack_set(const AttackRun& options) {
  cpu::CpuDevice device({.compiler = options.compiler});
  if (const backends::Capability can = device.can_run(); !can.available) {
    return fail({"the device cpu cannot run here: " + can.detail}, ExitStatus::all_unsupported);
  }
  const Result<worker::Confinement> confinement = device.confinement();
  if (!confinement.ok()) return fail(confinement.error(), ExitStatus::internal);
  const std::vector<attacks::Attack> set = attacks::attack_set();
  const bool color = reports::use_color_on_stdout(options.color);
  std::size_t done = 0;
  std::size_t missed = 0;
  Progress progress(set.size(), color, {"attacks", "not caught"});
  const auto make_device = [&](const std::filesystem::path& folder) -> std::unique_ptr<backends::Device> {
    return std::make_unique<cpu::CpuDevice>(
        cpu::CpuOptions{.compiler = options.compiler, .cache_directory = folder, .use_cache = false});
  };
  Result<AttackReport> report =
      attacks::run_attacks(set, make_device, printer(),
                           {.policy = options.quick ? harness::Policy::quick() : harness::Policy::standard(),
                            .seed = options.seed,
                            .system_calls_filtered = confinement->system_calls_error == 0,
                            .files_limited = confinement->files_error == 0,
                            .on_result = [&](const AttackResult& result) {
                              missed += !result.left_out && !result.caught();
                              progress.set(++done, missed);
                            }});
  progress.stop();
  if (!report.ok()) return fail(report.error(), ExitStatus::internal);
  const std::string held = worker::describe(*confinement);
  if (!options.document.empty()) {
    const auto put = put_file(options.document, document_of(*report, held));
    if (!put.ok()) return fail(put.error(), ExitStatus::internal);
  }
  if (const auto printed = print(table_of(*report, held, color)); !printed.ok())
    return fail(printed.error(), ExitStatus::internal);
  return to_int(report->unharmed() ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace assay::cli
