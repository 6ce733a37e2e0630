#include <fmt/format.h>

#include "reports/formats/html/page_view.hpp"
#include "reports/formats/text.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

std::int64_t days_between(const std::string& from, const std::string& to) {
  return (epoch_ms(to + "T00:00:00Z") - epoch_ms(from + "T00:00:00Z")) / (24 * 3600 * 1000);
}

std::string days_text(std::int64_t days) { return fmt::format("{} {}", days, days == 1 ? "day" : "days"); }

std::string expiry_text(const std::string& expires, const std::string& today) {
  if (expires.empty()) return "never";
  const std::int64_t left = days_between(today, expires);
  return left < 0 ? fmt::format("{}, {} ago", expires, days_text(-left))
                  : fmt::format("{}, {} left", expires, days_text(left));
}

// "3 as expected, 1 not judged".
std::string cases_text(const ExpectationTally& line) {
  std::string text;
  for (const auto& [count, word] :
       {std::pair(line.expected_failures, "as expected"), std::pair(line.changed_failures, "fail differently"),
        std::pair(line.passed, "pass"), std::pair(line.unjudged, "not judged")}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(count), word);
  }
  return text.empty() ? "no case" : text;
}

const char* tone_of_state(std::string_view state) {
  if (state == "in force") return "waived";
  return state == "not judged" ? "unsupported" : "unexpected";
}

}  // namespace

json expectations_view(const Run& run) {
  const std::string today = run.start.at("started").get<std::string>().substr(0, 10);
  json rows = json::array();
  for (const ExpectationTally& line : run.expectations) {
    const std::string since = line.expectation.at("since");
    const std::string reason = line.expectation.at("reason");
    rows.push_back({{"place", line.expectation.at("place")},
                    {"pattern", line.expectation.at("case")},
                    {"outcome", outcome_text(line.expectation)},
                    {"message", line.expectation.at("message")},
                    {"reason", reason.empty() ? "no reason given" : reason},
                    {"issue", line.expectation.at("issue")},
                    {"age", since.empty() ? "" : days_text(days_between(since, today))},
                    {"expiry", expiry_text(line.expectation.at("expires"), today)},
                    {"state", line.state()},
                    {"tone", tone_of_state(line.state())},
                    {"cases", cases_text(line)}});
  }
  return rows;
}

}  // namespace assay::reports
