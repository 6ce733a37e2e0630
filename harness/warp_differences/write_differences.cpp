// warp-differences: computes gradients of curated cases, examples and random kernels in Warp and prints the comparison;
// with --write-doc writes docs/generated/warp_differences.md instead.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conformance/cases.hpp"
#include "harness/causes/causes.hpp"
#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/gradients.hpp"
#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {
namespace {

struct Row {
  std::string kernel;
  bool on_grid = false;
  GradientDifference difference_found;
};

/// A kernel for which Warp gave no gradients.
struct Unanswered {
  std::string kernel;
  Status status = Status::kMissing;
  std::string message;
};

/// Gradients of one kernel, by launch and array.
struct Tally {
  std::string kernel;
  std::size_t agree = 0;
  std::map<Arbitration, std::size_t> depart;
};

struct Findings {
  std::vector<Tally> curated;
  std::size_t kernels = 0, agreeing_kernels = 0;
  std::size_t agreeing = 0, unknown = 0;  // arrays
  std::map<Cause, std::vector<Row>> differences;
  std::vector<Unanswered> unanswered;

  std::size_t count(Arbitration arbitration) const {
    std::size_t count = 0;
    for (const auto& [cause, rows] : differences) {
      for (const Row& row : rows)
        count += row.difference_found.arbitration == arbitration;
    }
    return count;
  }
};

bool is_curated(std::string_view name) {
  const std::size_t slash = name.find('/');
  return conformance::find_case(name.substr(0, slash), name.substr(slash + 1)) != nullptr;
}

/// Adds the results of one launch. Returns whether all of its gradients agree.
bool add_launch(Findings& findings, Tally& tally, const ComparedKernel& subject, std::size_t launch,
                const PassAnswer& answer) {
  const std::string name = subject.name() + (subject.is_on_grid(launch) ? " (grid)" : "");
  if (answer.status != Status::kDone) {
    findings.unanswered.push_back({name, answer.status, answer.message});
    return false;
  }
  const GradientComparison comparison = compare_gradients(subject, launch, answer);
  findings.agreeing += comparison.agreeing;
  tally.agree += comparison.agreeing;
  for (const GradientDifference& difference_found : comparison.differences)
    ++tally.depart[difference_found.arbitration];
  findings.unknown += comparison.unknown;
  for (const GradientDifference& difference_found : comparison.differences)
    findings.differences[cause_of(subject.module(), subject.kernel())].push_back(
        {subject.name(), subject.is_on_grid(launch), difference_found});
  return comparison.differences.empty();
}

Findings find(const std::vector<ComparedKernel>& subjects, const WarpAnswers& session) {
  Findings findings;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const ComparedKernel& subject = subjects[s];
    if (!subject.has_gradient(0)) continue;
    ++findings.kernels;
    bool agrees = true;
    Tally tally{.kernel = subject.name()};
    for (std::size_t l = 0; l < subject.sets().size(); ++l) {
      if (subject.has_gradient(l))
        agrees = add_launch(findings, tally, subject, l, session.cases[s][l].backward) && agrees;
    }
    findings.agreeing_kernels += agrees;
    if (is_curated(subject.name())) findings.curated.push_back(std::move(tally));
  }
  return findings;
}

std::string heading(const WarpAnswers& session, std::string_view date) {
  return fmt::format(
      R"(# Where Assay's gradients differ from Warp's

<!-- Written by warp-differences; do not edit. docs/design/warp.md says how to run it. -->

In the forward pass, Assay computes the same results as Warp. In the backward pass, Assay computes the true derivative,
with the conventions of the numeric policy where no derivative exists; Warp's backward pass sometimes differs. This page
lists every difference found by running all curated cases, all kernels of `examples/` and 100 random kernels in Warp. To
regenerate it, run

    cmake --build build/release --target warp-differences
    build/release/bin/warp-differences --write-doc

Warp {} on its CPU device, {}; NumPy {}, Python {}; {}.

Gradients are those of a weighted sum of all outputs with respect to one array. *Agree* means that every scalar is
within four times the oracle's float bound plus 1e-5 of the sum of the magnitudes of its contributions. Otherwise the
oracle's finite difference decides: Ridders' extrapolation of the forward pass in extended precision. Inputs are drawn
uniformly from each kernel's domain. Inputs marked *grid* are rounded to multiples of 0.5, to hit ties and other
non-differentiable points exactly, and are listed only if the gradient agrees for the other inputs. The list omits
arrays that a kernel only overwrites. It also omits gradients with respect to scalars, vectors and structs passed by
value, which Assay computes and Warp does not record on a tape.

)",
      session.warp, session.machine, session.numpy, session.python, date);
}

std::string summary(const Findings& findings) {
  return fmt::format(
      R"(## Summary

Of {} kernels, {} agree in every gradient. For {} launches Warp gave no gradient, because it crashed, timed out
or raised an error. Each array of each launch counts as one gradient:

| verdict | gradients |
|---|---:|
| agree | {} |
| Warp is incorrect by finite differences | {} |
| differ at a point without derivative (non-differentiable point or pole): conventions differ | {} |
| the oracle's bound is infinite | {} |
| **Assay is incorrect by finite differences** | **{}** |

)",
      findings.kernels, findings.agreeing_kernels, findings.unanswered.size(), findings.agreeing,
      findings.count(Arbitration::kWarpWrong), findings.count(Arbitration::kUndecided), findings.unknown,
      findings.count(Arbitration::kAssayWrong));
}

std::string number(long double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.7g}", static_cast<double>(value));
}

/// Whether the same gradient also differs for uniformly drawn inputs, so that ties are not the cause.
bool departs_off_grid(const std::vector<Row>& rows, const Row& on_grid) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    return !row.on_grid && row.kernel == on_grid.kernel &&
           row.difference_found.parameter == on_grid.difference_found.parameter;
  });
}

std::string table(const std::vector<Row>& rows) {
  std::string text = "| kernel | gradient | Assay | Warp | finite difference | scalars that differ | verdict |\n";
  text += "|---|---|---:|---:|---:|---:|---|\n";
  for (const Row& row : rows) {
    if (row.on_grid && departs_off_grid(rows, row)) continue;
    const GradientDifference& difference_found = row.difference_found;
    const std::string_view verdict = difference_found.arbitration == Arbitration::kWarpWrong ? "Warp is incorrect"
                                     : difference_found.arbitration == Arbitration::kAssayWrong
                                         ? "**Assay is incorrect**"
                                         : "no derivative";
    text += fmt::format("| {} | {} | {} | {} | {} | {} of {} | {} |\n", row.kernel + (row.on_grid ? " (grid)" : ""),
                        difference_found.place, number(difference_found.oracle_value), number(difference_found.warp),
                        difference_found.difference_quotient ? number(*difference_found.difference_quotient) : "none",
                        difference_found.differing, difference_found.compared, verdict);
  }
  return text;
}

std::string curated_section(const std::vector<Tally>& kernels) {
  std::string text =
      "## Curated cases\n\nNumber of gradients by verdict; each array of each launch counts as one gradient. Cases "
      "without gradients are not listed.\n\n"
      "| case | agree | Warp is incorrect | no derivative | Assay is incorrect |\n|---|---:|---:|---:|---:|\n";
  for (const Tally& tally : kernels) {
    const auto count = [&](Arbitration arbitration) {
      const auto found = tally.depart.find(arbitration);
      return found == tally.depart.end() ? std::size_t{0} : found->second;
    };
    text += fmt::format("| {} | {} | {} | {} | {} |\n", tally.kernel, tally.agree, count(Arbitration::kWarpWrong),
                        count(Arbitration::kUndecided), count(Arbitration::kAssayWrong));
  }
  return text;
}

std::string unanswered_section(const std::vector<Unanswered>& unanswered) {
  if (unanswered.empty()) return "";
  std::string text =
      "## No gradient from Warp\n\nWarp's backward pass ended without a result.\n\n| kernel | status | message "
      "|\n|---|---|---|\n";
  for (const auto& [kernel, status, message] : unanswered)
    text += fmt::format("| {} | {} | {} |\n", kernel, to_text(status), message.substr(0, message.find('\n')));
  return text;
}

/// The document in Markdown. `date` is the date of the run, such as "2025-03-31".
std::string differences_document(const std::vector<ComparedKernel>& subjects, const WarpAnswers& session,
                                 std::string_view date) {
  const Findings findings = find(subjects, session);
  std::string text = heading(session, date) + summary(findings);
  text +=
      "## Differences by cause\n\nA kernel is attributed to the first of these constructs that it contains. The cause "
      "is "
      "inferred from the text of the kernel, not verified.\n";
  for (const CauseRow& row : causes()) {
    const auto found = findings.differences.find(row.cause);
    if (found == findings.differences.end()) continue;
    text += fmt::format("\n### {}\n\n{}\n\n{}", row.title, row.explanation, table(found->second));
  }
  text += "\n" + curated_section(findings.curated);
  const std::string unanswered = unanswered_section(findings.unanswered);
  return unanswered.empty() ? text : text + "\n" + unanswered;
}

}  // namespace
}  // namespace assay::warp

namespace {

using assay::Error;
using assay::Result;

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

Result<std::string> document() {
  const auto interpreter = assay::warp::find_interpreter();
  if (!interpreter.ok()) return interpreter.error();
  const auto subjects = assay::warp::all_subjects(ASSAY_SOURCE_DIR);
  if (!subjects.ok()) return subjects.error();
  const auto session = assay::warp::run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects->kernels);
  if (!session.ok()) return session.error();
  return assay::warp::differences_document(subjects->kernels, *session, today());
}

Result<void> write(const std::string& text, const std::filesystem::path& path) {
  std::ofstream stream(path);
  stream << text;
  stream.close();
  if (!stream) return Error{"cannot be written", path.string()};
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kExitFailed = 1, kExitUsage = 2;
  const bool writes = argc == 2 && std::string_view(argv[1]) == "--write-doc";
  if (argc > 1 && !writes) {
    fmt::print(stderr, "usage: warp-differences [--write-doc]\n");
    return kExitUsage;
  }
  const Result<std::string> text = document();
  if (!text.ok()) {
    fmt::print(stderr, "warp-differences: {}\n", text.error().text());
    return kExitFailed;
  }
  if (!writes) {
    fmt::print("{}", *text);
    return 0;
  }
  const auto written =
      write(*text, std::filesystem::path(ASSAY_SOURCE_DIR) / "docs" / "generated" / "warp_differences.md");
  if (!written.ok()) fmt::print(stderr, "warp-differences: {}\n", written.error().text());
  return written.ok() ? 0 : kExitFailed;
}
