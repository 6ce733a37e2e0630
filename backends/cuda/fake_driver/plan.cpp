#include "backends/cuda/fake_driver/plan.hpp"

#include <charconv>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "support/trim.hpp"

namespace assay::cuda::fake {

namespace {

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "64M".
std::optional<std::size_t> size_of(std::string_view text) {
  const bool mebi = text.ends_with('M');
  if (mebi) text.remove_suffix(1);
  const auto value = number<std::size_t>(text);
  return value ? std::optional(*value << (mebi ? 20U : 0U)) : std::nullopt;
}

std::optional<ScriptedAction> step_of(std::string_view text) {
  if (text == "lose") return ScriptedAction{FakeCallAction::kLoseDevice};
  if (text == "hang") return ScriptedAction{FakeCallAction::kHang};
  if (text == "die") return ScriptedAction{FakeCallAction::kKillProcess};
  const auto result = number<CUresult>(text);
  return result ? std::optional(ScriptedAction{FakeCallAction::kFail, *result}) : std::nullopt;
}

}  // namespace

Result<DriverScript> DriverScript::parse(std::string_view text) {
  DriverScript plan;
  while (!text.empty()) {
    const std::size_t semicolon = std::min(text.find(';'), text.size());
    const std::string_view rule = trimmed(text.substr(0, semicolon));
    text.remove_prefix(std::min(semicolon + 1, text.size()));
    if (rule.empty()) continue;
    const std::size_t equals = std::min(rule.find('='), rule.size());
    const std::string_view value = rule.substr(std::min(equals + 1, rule.size()));
    if (const Result<void> parsed = plan.parse_rule(rule.substr(0, equals), value); !parsed) {
      return Error{fmt::format("invalid rule '{}': expected {}", rule, parsed.error().message), "ASSAY_FAKE_GPU"};
    }
  }
  return plan;
}

Result<void> DriverScript::parse_rule(std::string_view key, std::string_view value) {
  if (key == "memory") {
    const auto size = size_of(value);
    memory_bytes_ = size.value_or(0);
    return size ? Result<void>{} : Error{"memory=BYTES, such as memory=64M"};
  }
  if (key == "records") {
    const auto count = number<std::size_t>(value);
    max_activity_records_ = count.value_or(0);
    return count ? Result<void>{} : Error{"a number"};
  }
  if (key == "order") {
    shuffles_threads_ = value == "shuffled";
    return shuffles_threads_ ? Result<void>{} : Error{"order=shuffled"};
  }
  if (key == "wrong") {
    const std::size_t arrow = value.find('>');
    if (arrow == 0 || arrow == std::string_view::npos || arrow + 1 == value.size())
      return Error{"wrong=INSTRUCTION>ANOTHER"};
    instruction_replacements_.emplace_back(value.substr(0, arrow), value.substr(arrow + 1));
    return {};
  }
  for (const auto& [name, member] :
       {std::pair{"gpus", &gpu_count_}, {"lost", &lost_gpu_ordinal_}, {"compute", &compute_capability_}}) {
    if (key != name) continue;
    const auto count = number<int>(value);
    *member = count.value_or(0);
    return count ? Result<void>{} : Error{"a number"};
  }
  const std::size_t at = key.find('@');
  const auto turn = number<std::uint64_t>(key.substr(std::min(at + 1, key.size())));
  const auto step = step_of(value);
  if (at == std::string_view::npos || !turn || !step)
    return Error{"CALL@N=RESULT, where RESULT is an error number, lose, hang or die"};
  actions_by_function_and_call_number_[std::string(key.substr(0, at))][*turn] = *step;
  return {};
}

std::string DriverScript::with_replaced_instructions(std::string ptx) const {
  for (const auto& [instruction, other] : instruction_replacements_) {
    for (std::size_t at = ptx.find(instruction); at != std::string::npos; at = ptx.find(instruction, at)) {
      const std::size_t end = at + instruction.size();
      const bool whole = end < ptx.size() && (ptx[end] == ' ' || ptx[end] == '\t');
      if (whole) ptx.replace(at, instruction.size(), other);
      at += whole ? other.size() : instruction.size();
    }
  }
  return ptx;
}

ScriptedAction DriverScript::next(const char* call) {
  const std::uint64_t turn = ++call_counts_by_function_[call];
  const auto rules = actions_by_function_and_call_number_.find(std::string_view(call));
  if (rules == actions_by_function_and_call_number_.end()) return {};
  const auto step = rules->second.find(turn);
  return step == rules->second.end() ? ScriptedAction{} : step->second;
}

}  // namespace assay::cuda::fake
