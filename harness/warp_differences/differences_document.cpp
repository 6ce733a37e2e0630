#include "harness/warp_differences/differences_document.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "conformance/cases.hpp"
#include "harness/warp_differences/causes.hpp"
#include "harness/warp_differences/gradients.hpp"

namespace assay::warp {
namespace {

struct Row {
  std::string kernel;
  bool on_grid = false;
  Departure departure;
};

/// A kernel whose gradients Warp did not give.
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
  std::map<Cause, std::vector<Row>> departures;
  std::vector<Unanswered> unanswered;

  std::size_t count(Arbitration arbitration) const {
    std::size_t count = 0;
    for (const auto& [cause, rows] : departures) {
      for (const Row& row : rows)
        count += row.departure.arbitration == arbitration;
    }
    return count;
  }
};

bool is_curated(std::string_view name) {
  const std::size_t slash = name.find('/');
  return conformance::find_case(name.substr(0, slash), name.substr(slash + 1)) != nullptr;
}

/// Adds what one launch shows; whether all of its gradients agree.
bool add_launch(Findings& findings, Tally& tally, const Subject& subject, std::size_t launch, const Answer& answer) {
  const std::string name = subject.name() + (subject.is_on_grid(launch) ? " (grid)" : "");
  if (answer.status != Status::kDone) {
    findings.unanswered.push_back({name, answer.status, answer.message});
    return false;
  }
  const GradientComparison comparison = compare_gradients(subject, launch, answer);
  findings.agreeing += comparison.agreeing;
  tally.agree += comparison.agreeing;
  for (const Departure& departure : comparison.departures)
    ++tally.depart[departure.arbitration];
  findings.unknown += comparison.unknown;
  for (const Departure& departure : comparison.departures)
    findings.departures[cause_of(subject.module(), subject.kernel())].push_back(
        {subject.name(), subject.is_on_grid(launch), departure});
  return comparison.departures.empty();
}

Findings find(const std::vector<Subject>& subjects, const Session& session) {
  Findings findings;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    const Subject& subject = subjects[s];
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

std::string heading(const Session& session, std::string_view date) {
  return fmt::format(
      R"(# Where our gradients differ from Warp's

<!-- Written by warp-differences; do not edit. docs/design/warp.md says how to run it. -->

Forward, Assay computes what Warp computes. Backward, it gives the true derivative, with the conventions of the numeric
policy where there is none; Warp's backward pass departs from that in places. This page lists every departure that a run
of all curated cases, all kernels of `examples/` and 100 random kernels in Warp itself shows. Make it again with

    cmake --build build/release --target warp-differences
    build/release/bin/warp-differences --write-doc

Warp {} on its CPU device, {}; NumPy {}, Python {}; {}.

A gradient here is that of a sum of all outputs with dense weights, by one array. *Agree* means that every scalar of it is
within four times the oracle's float bound and 1e-5 of the sum of the magnitudes of what it is made of. Where one is
not, the arbiter is the oracle's finite difference: Ridders' extrapolation of the forward pass in extended precision.
Inputs are drawn evenly from each kernel's domain; those marked *grid* are rounded to halves, so that ties and kinks are
hit exactly, and listed only where the gradient does not depart without that. Arrays that a kernel only overwrites are
left out, and so are gradients by scalars, vectors and structs passed by value, which Warp does not give on a tape and
Assay does.

)",
      session.warp, session.machine, session.numpy, session.python, date);
}

std::string summary(const Findings& findings) {
  return fmt::format(
      R"(## Summary

Of {} kernels, {} agree in every gradient. {} launches got no gradient from Warp at all, which crashed, hung
or refused. By launch and array:

| verdict | gradients |
|---|---:|
| agree | {} |
| Warp is wrong by finite differences | {} |
| differ where there is no derivative (a kink or a pole): conventions differ | {} |
| the oracle's bound is infinite | {} |
| **we are wrong by finite differences** | **{}** |

)",
      findings.kernels, findings.agreeing_kernels, findings.unanswered.size(), findings.agreeing,
      findings.count(Arbitration::kWarpWrong), findings.count(Arbitration::kUndecided), findings.unknown,
      findings.count(Arbitration::kWeWrong));
}

std::string number(long double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.7g}", static_cast<double>(value));
}

/// Whether the same gradient departs where inputs are drawn evenly, so that ties have no part in it.
bool departs_off_grid(const std::vector<Row>& rows, const Row& on_grid) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    return !row.on_grid && row.kernel == on_grid.kernel && row.departure.parameter == on_grid.departure.parameter;
  });
}

std::string table(const std::vector<Row>& rows) {
  std::string text = "| kernel | gradient | ours | Warp's | finite difference | scalars that differ | verdict |\n";
  text += "|---|---|---:|---:|---:|---:|---|\n";
  for (const Row& row : rows) {
    if (row.on_grid && departs_off_grid(rows, row)) continue;
    const Departure& departure = row.departure;
    const std::string_view verdict = departure.arbitration == Arbitration::kWarpWrong ? "Warp is wrong"
                                     : departure.arbitration == Arbitration::kWeWrong ? "**we are wrong**"
                                                                                      : "no derivative";
    text += fmt::format("| {} | {} | {} | {} | {} | {} of {} | {} |\n", row.kernel + (row.on_grid ? " (grid)" : ""),
                        departure.place, number(departure.ours), number(departure.warp),
                        departure.difference ? number(*departure.difference) : "none", departure.departing,
                        departure.compared, verdict);
  }
  return text;
}

std::string curated_section(const std::vector<Tally>& kernels) {
  std::string text =
      "## Every curated case\n\nGradients by launch and array; a case that is not here has none.\n\n"
      "| case | agree | Warp is wrong | no derivative | we are wrong |\n|---|---:|---:|---:|---:|\n";
  for (const Tally& tally : kernels) {
    const auto count = [&](Arbitration arbitration) {
      const auto found = tally.depart.find(arbitration);
      return found == tally.depart.end() ? std::size_t{0} : found->second;
    };
    text += fmt::format("| {} | {} | {} | {} | {} |\n", tally.kernel, tally.agree, count(Arbitration::kWarpWrong),
                        count(Arbitration::kUndecided), count(Arbitration::kWeWrong));
  }
  return text;
}

std::string unanswered_section(const std::vector<Unanswered>& unanswered) {
  if (unanswered.empty()) return "";
  std::string text =
      "## No gradient from Warp\n\nWarp's backward pass ended without an answer.\n\n| kernel | end | message "
      "|\n|---|---|---|\n";
  for (const auto& [kernel, status, message] : unanswered)
    text += fmt::format("| {} | {} | {} |\n", kernel, to_text(status), message.substr(0, message.find('\n')));
  return text;
}

}  // namespace

std::string differences_document(const std::vector<Subject>& subjects, const Session& session, std::string_view date) {
  const Findings findings = find(subjects, session);
  std::string text = heading(session, date) + summary(findings);
  text +=
      "## Departures, by cause\n\nA kernel is put down to the first of these that it has; the cause is read off its "
      "text, not proved.\n";
  for (const CauseRow& row : causes()) {
    const auto found = findings.departures.find(row.cause);
    if (found == findings.departures.end()) continue;
    text += fmt::format("\n### {}\n\n{}\n\n{}", row.title, row.explanation, table(found->second));
  }
  text += "\n" + curated_section(findings.curated);
  const std::string unanswered = unanswered_section(findings.unanswered);
  return unanswered.empty() ? text : text + "\n" + unanswered;
}

}  // namespace assay::warp
