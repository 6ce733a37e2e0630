#include "harness/warp_differences/signatures.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

#include "backends/cpu/process.hpp"

namespace assay::warp {
namespace {

constexpr std::chrono::seconds kTimeLimit{60};

/// What the script prints: other lines come from Warp.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::filesystem::path script(const std::filesystem::path& root) {
  return root / "harness" / "warp_differences" / "run_warp.py";
}

Result<WarpSignatures> warp_signatures(const WarpInterpreter& interpreter, const std::filesystem::path& root) {
  const cpu::ProcessResult result =
      cpu::run_process(interpreter.program, {script(root).string(), "--signatures"}, kTimeLimit);
  const auto signatures = nlohmann::json::parse(last_line(result.output), nullptr, false);
  if (!result.succeeded() || signatures.is_discarded()) return Error{"no signatures: " + result.output};
  return signatures.get<WarpSignatures>();
}

}  // namespace assay::warp
