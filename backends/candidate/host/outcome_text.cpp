#include "backends/candidate/host/outcome_text.hpp"

#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/device/finding_json.hpp"

namespace assay::candidate {

using namespace backends;
using nlohmann::json;

namespace {

struct Writer {
  json operator()(const LaunchFailed& failed) const { return {{"outcome", "failed"}, {"message", failed.message}}; }
  json operator()(const Crashed& crashed) const { return {{"outcome", "crashed"}, {"message", crashed.message}}; }
  json operator()(const TimedOut&) const { return {{"outcome", "timed_out"}}; }
  json operator()(const Unsupported& unsupported) const {
    return {{"outcome", "unsupported"}, {"message", unsupported.reason}};
  }
  json operator()(const MemoryFault& fault) const {
    json findings = json::array();
    for (const MemoryFinding& finding : fault.findings)
      findings.emplace_back(to_json(finding));
    return {{"outcome", "fault"}, {"message", fault.message}, {"kind", fault.kind}, {"findings", std::move(findings)}};
  }
  json operator()(const Completed&) const { return {{"outcome", "completed"}}; }
  json operator()(const ResourceError& error) const { return {{"outcome", "failed"}, {"message", error.message}}; }
};

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

RunOutcome parsed(const json& value) {
  const std::string outcome = value.at("outcome");
  const auto message = [&] { return value.at("message").get<std::string>(); };
  if (outcome == "failed") return LaunchFailed{message()};
  if (outcome == "crashed") return Crashed{.message = message()};
  if (outcome == "timed_out") return TimedOut{};
  if (outcome == "unsupported") return Unsupported{message()};
  MemoryFault fault{.message = message(), .kind = value.at("kind")};
  for (const json& finding : value.at("findings"))
    fault.findings.push_back(memory_finding_from(finding));
  return fault;
}

}  // namespace

std::string outcome_text(const RunOutcome& outcome, std::size_t max_bytes) {
  json value = std::visit(Writer{}, outcome);
  std::string text = text_of(value);
  while (text.size() > max_bytes && value.contains("findings") && value["findings"].size() > 1) {
    value["findings"].erase(value["findings"].size() - 1);
    text = text_of(value);
  }
  return text;
}

std::optional<RunOutcome> outcome_from(std::string_view text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  try {
    return parsed(value);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string output_clause(std::string output) {
  constexpr std::size_t kMostBytes = 200;
  output.erase(output.find_last_not_of(" \t\r\n") + 1);
  if (const std::size_t line = output.rfind('\n'); line != std::string::npos) output.erase(0, line + 1);
  if (output.size() > kMostBytes) output.erase(0, output.size() - kMostBytes);
  return output.empty() ? output : fmt::format("; its output ends with '{}'", output);
}

}  // namespace assay::candidate
