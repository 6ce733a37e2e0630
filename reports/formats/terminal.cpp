#include "reports/formats/terminal.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/model/grid.hpp"
#include "reports/model/text_table.hpp"
#include "reports/model/verdict.hpp"
#include "support/terminal.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

fmt::text_style style_of(Tone tone) {
  switch (tone) {
    case Tone::passed: return fmt::fg(fmt::terminal_color::green);
    case Tone::unexpected: return fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold;
    case Tone::inconclusive:
    case Tone::expected_failures:
    case Tone::not_run: return fmt::fg(fmt::terminal_color::yellow);
    case Tone::unsupported: break;
  }
  return fmt::emphasis::faint;
}

// Text from a kernel must not move the cursor or change colors.
std::string visible(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') safe += ' ';
    else if (byte < 0x20 || byte == 0x7f) safe += fmt::format("\\x{:02x}", byte);
    else safe += c;
  }
  return safe;
}

// "12/14"; "12/14 1?" with an inconclusive case, "13/14 1x" with an expected failure (xfail), "unsupported" if nothing
// could run.
std::string cell_text(const CaseCounts& tally) {
  if (tally.total() == 0) return "";
  if (tally.tone() == Tone::unsupported) return "unsupported";
  std::string text = fmt::format("{}/{}", tally.passed, tally.total());
  if (tally.inconclusive > 0) text += fmt::format(" {}?", tally.inconclusive);
  if (tally.expected_failures > 0) text += fmt::format(" {}x", tally.expected_failures);
  return text;
}

std::string grid_table(const RunSummary& summary, bool color) {
  const CaseCountGrid grid = grid_of(summary);
  TextTable table;
  std::vector<std::string> texts{"family"};
  for (const GridColumn& column : grid.columns)
    texts.push_back(column.device + " " + column.pass);
  table.add_header(texts);
  std::vector<GridRow> rows = grid.rows;
  rows.push_back(grid.totals_row);
  for (const GridRow& row : rows) {
    texts = {visible(row.family)};
    std::vector<fmt::text_style> styles{fmt::text_style{}};
    for (const CaseCounts& tally : row.cells) {
      texts.push_back(cell_text(tally));
      styles.push_back(style_of(tally.tone()));
    }
    table.add(texts, styles);
  }
  return table.text(color);
}

// "504 cases planned, 486 run, 252 supported, 249 compared; 1274880 values compared; 13.2 cases/s".
std::string denominators_text(const Run& run, const CaseTotals& of) {
  std::string text =
      fmt::format("{} {} planned, {} run, {} supported, {} compared; {} values compared", of.planned,
                  of.planned == 1 ? "case" : "cases", of.run, of.supported, of.compared, of.values_compared);
  if (of.cached_verdict_count > 0)
    text += fmt::format("; {} judged by an earlier run (use --fresh to judge again)", of.cached_verdict_count);
  if (run.end && run.end->at("wall_time_s") > 0.0) {
    const double seconds = run.end->at("wall_time_s");
    text += fmt::format("; {:.1f} s, {:.1f} cases/s", seconds, static_cast<double>(of.supported) / seconds);
  }
  return text;
}

// "4 kernels contain code not covered by the inputs: user/smooth, line 12: the condition is never true".
std::string uncovered_text(const Run& run, const RunSummary& summary) {
  if (summary.uncovered_branches.empty()) return "";
  std::set<std::string> kernels;
  const auto name = [&](const UncoveredBranchLocation& way) {
    const json& record = run.cases[way.first_case_position];
    return fmt::format("{}/{}", record.at("family").get<std::string>(), record.at("kernel").get<std::string>());
  };
  for (const UncoveredBranchLocation& way : summary.uncovered_branches)
    kernels.insert(name(way));
  const UncoveredBranchLocation& first = summary.uncovered_branches.front();
  const std::string line = line_text(run.cases[first.first_case_position], first.file, first.line);
  return fmt::format("{} {} code not covered by the inputs: {}, {}: {}{}\n", kernels.size(),
                     kernels.size() == 1 ? "kernel contains" : "kernels contain", visible(name(first)), visible(line),
                     visible(first.description), summary.uncovered_branches.size() > 1 ? ", ... (see the report)" : "");
}

// "2 kernels are judged only for inputs that satisfy an assumption: user/scatter: the elements of 'idx' are a
// permutation of its indices, ... (see the report)".
std::string assumptions_text(const Run& run, const RunSummary& summary) {
  if (summary.assumptions.empty()) return "";
  const auto name = [&](const AssumptionLocation& assumption) {
    const json& record = run.cases[assumption.first_case_position];
    return fmt::format("{}/{}", record.at("family").get<std::string>(), record.at("kernel").get<std::string>());
  };
  std::set<std::string> kernels;
  for (const AssumptionLocation& assumption : summary.assumptions)
    kernels.insert(name(assumption));
  const AssumptionLocation& first = summary.assumptions.front();
  return fmt::format("{} {} judged only for inputs that satisfy an assumption: {}: {}{}\n", kernels.size(),
                     kernels.size() == 1 ? "kernel is" : "kernels are", visible(name(first)),
                     visible(first.description), summary.assumptions.size() > 1 ? ", ... (see the report)" : "");
}

// "2 kernels are judged by text that Assay printed instead of that of the file: user/scale: Python rejects the file,
// ... (see the report)". Only for kernels of users.
std::string printed_kernels_text(const Run& run) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const json& record : run.cases) {
    if (record.at("family") != "user" || !record.contains("text") || record.at("text").at("own") == true) continue;
    const std::string reason = record.at("text").value("reason", "");
    std::string name = fmt::format("user/{}", record.at("kernel").get<std::string>());
    if (!reason.empty() &&
        std::ranges::find(reasons, name, &std::pair<std::string, std::string>::first) == reasons.end())
      reasons.emplace_back(std::move(name), reason);
  }
  if (reasons.empty()) return "";
  return fmt::format("{} {} judged by text that Assay printed instead of that of the file: {}: {}{}\n", reasons.size(),
                     reasons.size() == 1 ? "kernel is" : "kernels are", visible(reasons.front().first),
                     visible(reasons.front().second), reasons.size() > 1 ? ", ... (see the report)" : "");
}

// The message of all cases of an available device, if all are unsupported for the same reason; otherwise empty.
std::string common_reason(const Run& run, const std::string& device) {
  std::string reason;
  for (const json& record : run.cases) {
    if (record.at("device") != device) continue;
    const auto& message = record.at("message").get_ref<const std::string&>();
    if (record.at("outcome") != "unsupported" || (!reason.empty() && message != reason)) return "";
    reason = message;
  }
  return reason;
}

std::string missing_devices(const Run& run) {
  std::string lines;
  for (const json& device : run.start.at("environment").at("devices")) {
    const std::string name = device.at("name");
    if (device.at("available").get<bool>()) {
      const std::string reason = common_reason(run, name);
      if (!reason.empty()) lines += fmt::format("{}: unsupported, {}\n", name, visible(reason));
      continue;
    }
    const bool planned = std::any_of(run.cases.begin(), run.cases.end(),
                                     [&](const json& record) { return record.at("device") == name; });
    if (planned) lines += fmt::format("{}: unsupported, {}\n", name, visible(device.at("reason").get<std::string>()));
  }
  return lines;
}

// "backward pass not supported: user/scatter, a.py:8:9: A06-atomic-result: ...", for each pass of a kernel that is not
// supported although another case of the kernel ran.
std::string unsupported_passes(const Run& run) {
  constexpr std::size_t kShown = 5;
  const auto kernel_of = [](const json& record) {
    return fmt::format("{}/{}", record.at("family").get<std::string>(), record.at("kernel").get<std::string>());
  };
  std::set<std::string> run_kernels;
  for (const json& record : run.cases)
    if (record.at("outcome") != "unsupported") run_kernels.insert(kernel_of(record));
  std::set<std::string> shown;
  std::string lines;
  for (const json& record : run.cases) {
    const std::string kernel = kernel_of(record);
    const std::string pass = record.at("pass");
    // A candidate is a kernel of the user, whatever its reason; a missing device is reported elsewhere.
    const bool is_candidate = record.at("outcome") == "unsupported" && record.at("device") == "candidate";
    if (!(is_unsupported_kernel(record) || is_candidate) || !run_kernels.contains(kernel)) continue;
    if (!shown.insert(pass + " " + kernel).second || shown.size() > kShown) continue;
    lines += fmt::format("{} pass not supported: {}, {}\n", pass, visible(kernel),
                         visible(record.at("message").get<std::string>()));
  }
  if (shown.size() > kShown)
    lines += fmt::format("{} further passes are not supported; see the report\n", shown.size() - kShown);
  return lines;
}

// "warp-cpu does not support user/tile_of_row: AttributeError: ...", for each kernel of the user that a device refuses
// although it judges others.
std::string refused_kernels(const Run& run) {
  constexpr std::size_t kShown = 5;
  std::set<std::string> used_devices;
  for (const json& record : run.cases)
    if (record.at("outcome") != "unsupported") used_devices.insert(record.at("device").get<std::string>());
  std::set<std::string> refused;
  std::string lines;
  for (const json& record : run.cases) {
    const std::string device = record.at("device");
    const bool is_refused = record.at("outcome") == "unsupported" && record.at("family") == "user" &&
                            !is_unsupported_kernel(record) && device != "candidate" && used_devices.contains(device);
    const std::string name = fmt::format("user/{}", record.at("kernel").get<std::string>());
    if (!is_refused || !refused.insert(device + " " + name).second || refused.size() > kShown) continue;
    lines += fmt::format("{} does not support {}: {}\n", device, visible(name),
                         visible(record.at("message").get<std::string>()));
  }
  if (refused.size() > kShown)
    lines += fmt::format("{} further kernels are not supported by a device; see the report\n", refused.size() - kShown);
  return lines;
}

// Findings of the device other than the one in the message.
std::string further_faults(const json& record) {
  if (!record.contains("faults")) return "";
  std::string lines;
  for (const json& fault : record.at("faults")) {
    const auto& text = fault.at("text").get_ref<const std::string&>();
    if (record.at("message").get_ref<const std::string&>().find(text) == std::string::npos)
      lines += "\n    " + visible(text);
  }
  return lines;
}

// The first damaged lines of the records, one per line.
std::string damage_lines(const Run& run) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, run.damaged_lines.size()); ++i)
    text += fmt::format("{}:{}: {}\n", kRecordsFileName, run.damaged_lines[i].line_number,
                        visible(damage_text(run.damaged_lines[i])));
  if (run.damaged_lines.size() > kShown) text += fmt::format("and {} more lines\n", run.damaged_lines.size() - kShown);
  return text;
}

// Expectations that no longer hold, with their locations.
std::string expectation_lines(const Run& run) {
  std::string lines;
  for (const ExpectationTally& line : run.expectations) {
    const std::string_view state = line.state();
    if (state == "in force" || state == "not judged") continue;
    lines +=
        fmt::format("{}: {}: {} {}\n", visible(line.expectation.at("place").get<std::string>()), state,
                    visible(line.expectation.at("case").get<std::string>()), visible(outcome_text(line.expectation)));
  }
  return lines;
}

// "pass -> fail(mismatch): grad_x[3] is ..."; "was pass" if the case is gone.
std::string change_text(const CaseChange& change) {
  if (change.later_value.empty()) return "was " + change.earlier_value;
  return fmt::format("{}{}{}{}{}", change.earlier_value, change.earlier_value.empty() ? "" : " -> ", change.later_value,
                     change.message.empty() ? "" : ": ", change.message);
}

Tone tone_of_verdict(const Verdict& verdict) {
  if (verdict.status == "as_expected") return Tone::passed;
  if (verdict.status == "all_unsupported") return Tone::inconclusive;
  return Tone::unexpected;
}

// "2 defect; 2 pass": the reasons that fail the run, then the other outcomes.
std::string reasons_text(const std::vector<std::string>& reasons) {
  const auto fails = [](const std::string& reason) {
    return severity_rank(reason.substr(reason.find(' ') + 1)) < severity_rank("xfail");
  };
  const auto others = std::ranges::find_if_not(reasons, fails);
  const std::string failing = fmt::format("{}", fmt::join(reasons.begin(), others, ", "));
  const std::string separator = failing.empty() || others == reasons.end() ? "" : "; ";
  return fmt::format("{}{}{}", failing, separator, fmt::join(others, reasons.end(), ", "));
}

}  // namespace

std::string unexpected_lines(const json& record, bool color) {
  const Tone tone = tone_of(record);
  if (!fails_run(tone)) return "";
  std::string outcome = outcome_text(record);
  if (const auto flaky = flaky_of(record))
    outcome += fmt::format(" ({} of {} pass)", flaky->passed, flaky->attempt_count);
  std::string lines =
      fmt::format("{}  {}", styled(outcome, style_of(tone), color), visible(record.at("case").get<std::string>()));
  const std::string message = message_text(record);
  if (!message.empty()) lines += ": " + visible(message);
  lines += further_faults(record);
  const std::string reproduce = record.at("reproduce");
  if (!reproduce.empty()) lines += "\n    " + styled(visible(reproduce), fmt::emphasis::faint, color);
  return lines + "\n";
}

std::string changes_lines(const RunChanges& changes, bool color) {
  std::string lines;
  for (const auto& [name, list] : lists_of(changes)) {
    const std::string_view word = name;
    const Tone tone = word == "broken" ? Tone::unexpected : word == "fixed" ? Tone::passed : Tone::inconclusive;
    for (const CaseChange& change : *list) {
      lines += fmt::format("{}  {}: {}\n", styled(fmt::format("{:7}", word), style_of(tone), color),
                           visible(change.name), visible(change_text(change)));
    }
  }
  for (const EnvironmentDifference& row : changes.environment)
    lines += fmt::format("{}: {} -> {}\n", row.label, visible(row.earlier_value), visible(row.later_value));
  return fmt::format("{}since {}: {}\n", lines, visible(changes.baseline_label), changes_text(changes));
}

std::string closing_table(const Run& run, const RunSummary& summary, bool color) {
  const Verdict& verdict = summary.verdict;
  std::string headline = verdict.headline;
  if (verdict.status != "as_expected") headline += fmt::format(": {}", reasons_text(verdict.reasons));
  return fmt::format("{}\n{}\n{}{}{}\n{}{}{}{}{}{}", grid_table(summary, color),
                     styled(headline, style_of(tone_of_verdict(verdict)), color), damage_lines(run),
                     expectation_lines(run), denominators_text(run, summary.case_totals), uncovered_text(run, summary),
                     assumptions_text(run, summary), printed_kernels_text(run), unsupported_passes(run),
                     refused_kernels(run), missing_devices(run));
}

}  // namespace assay::reports
