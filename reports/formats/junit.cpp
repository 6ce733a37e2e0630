#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "reports/formats/formats.hpp"
#include "reports/formats/text.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

enum class TestResult : std::uint8_t { passed, failure, error, skipped };

TestResult result_of(const json& record) {
  const std::string outcome = record.at("outcome");
  switch (tone_of(record)) {
    case Tone::passed: return TestResult::passed;
    case Tone::expected_failures:
    case Tone::unsupported: return TestResult::skipped;
    case Tone::inconclusive: return TestResult::failure;
    case Tone::not_run:
    case Tone::unexpected: break;
  }
  const bool judged = outcome == "fail" || outcome == "memory_fault" || standing_of(record) == "better";
  return judged ? TestResult::failure : TestResult::error;
}

std::string text(const json& value) { return without_illegal_xml(value.get<std::string>()); }

// The Jenkins schema allows three decimals in times of suites, and any text in times of cases.
std::string suite_seconds(double milliseconds) { return fmt::format("{:.3f}", milliseconds / 1e3); }
std::string case_seconds(double milliseconds) { return fmt::format("{:.6f}", milliseconds / 1e3); }

struct Suite {
  std::vector<const json*> cases;
  std::array<int, 4> count = {};  // by TestResult
  double time_ms = 0;
};

void set_counts(pugi::xml_node node, const Suite& suite) {
  node.append_attribute("tests") = static_cast<unsigned>(suite.cases.size());
  node.append_attribute("failures") = suite.count[static_cast<std::size_t>(TestResult::failure)];
  node.append_attribute("errors") = suite.count[static_cast<std::size_t>(TestResult::error)];
}

void add_case(pugi::xml_node suite, const json& record) {
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("name") = text(record.at("case")).c_str();
  node.append_attribute("classname") =
      fmt::format("{}.{}", text(record.at("family")), text(record.at("kernel"))).c_str();
  node.append_attribute("time") = case_seconds(total_ms(record)).c_str();
  const TestResult result = result_of(record);
  if (result == TestResult::passed) return;
  static constexpr std::array<const char*, 4> kElements = {"", "failure", "error", "skipped"};
  pugi::xml_node why = node.append_child(kElements[static_cast<std::size_t>(result)]);
  const std::string message = without_illegal_xml(message_text(record));
  why.append_attribute("message") = message.c_str();
  if (result == TestResult::skipped) return;
  why.append_attribute("type") = without_illegal_xml(outcome_text(record)).c_str();
  std::string body = message + "\n" + text(record.at("reproduce")) + "\n";
  if (record.contains("log")) body += text(record.at("log"));
  why.append_child(pugi::node_pcdata).set_value(body.c_str());
}

}  // namespace

std::string junit_xml(const Run& run) {
  std::vector<std::string> order;
  std::map<std::string, Suite> suites;
  Suite all;
  for (const json& record : run.cases) {
    const std::string name =
        fmt::format("{}.{}.{}", text(record.at("family")), text(record.at("device")), text(record.at("pass")));
    if (!suites.contains(name)) order.push_back(name);
    for (Suite* suite : {&suites[name], &all}) {
      suite->cases.push_back(&record);
      ++suite->count[static_cast<std::size_t>(result_of(record))];
      suite->time_ms += total_ms(record);
    }
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  root.append_attribute("name") = "assay";
  root.append_attribute("time") = suite_seconds(all.time_ms).c_str();
  set_counts(root, all);
  for (const std::string& name : order) {
    const Suite& suite = suites.at(name);
    pugi::xml_node node = root.append_child("testsuite");
    node.append_attribute("name") = name.c_str();
    set_counts(node, suite);
    node.append_attribute("skipped") = suite.count[static_cast<std::size_t>(TestResult::skipped)];
    node.append_attribute("time") = suite_seconds(suite.time_ms).c_str();
    node.append_attribute("timestamp") = text(run.start.at("started")).substr(0, 19).c_str();
    for (const json* record : suite.cases)
      add_case(node, *record);
  }
  std::ostringstream stream;
  document.save(stream, " ");
  return stream.str();
}

}  // namespace assay::reports
