#include "harness/warp_differences/interpreter.hpp"

#include <cctype>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/process.hpp"

namespace assay::warp {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kStartLimit{60};

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Result<WarpInterpreter> try_interpreter(const fs::path& program, const fs::path& root) {
  const cpu::ProcessResult result = cpu::run_process(program, {script(root).string(), "--version"}, kStartLimit);
  const std::string version = last_line(result.output);
  const bool is_version = !version.empty() && std::isdigit(static_cast<unsigned char>(version.front())) != 0;
  if (result.succeeded() && is_version) return WarpInterpreter{program, version};
  return Error{fmt::format("Python has no Warp: {}; run ci/setup-warp to install it, or set "
                           "ASSAY_WARP_PYTHON to a Python with Warp",
                           version),
               program.string()};
}

}  // namespace

fs::path script(const fs::path& root) { return root / "harness" / "warp_differences" / "run_warp.py"; }

Result<WarpInterpreter> find_interpreter(const fs::path& root) {
  if (const char* named = std::getenv("ASSAY_WARP_PYTHON"); named != nullptr && *named != '\0') {
    return try_interpreter(named, root);
  }
  const fs::path own = root / "third_party" / "warp-venv" / "bin" / "python";
  if (fs::exists(own)) return try_interpreter(own, root);
  const auto system = cpu::find_program("python3");
  if (!system) return Error{"no python3 found; run ci/setup"};
  return try_interpreter(*system, root);
}

Result<WarpSignatures> warp_signatures(const WarpInterpreter& interpreter, const fs::path& root) {
  const cpu::ProcessResult result =
      cpu::run_process(interpreter.program, {script(root).string(), "--signatures"}, kStartLimit);
  const auto signatures = nlohmann::json::parse(last_line(result.output), nullptr, false);
  if (!result.succeeded() || signatures.is_discarded()) return Error{"no signatures: " + result.output};
  return signatures.get<WarpSignatures>();
}

}  // namespace assay::warp
