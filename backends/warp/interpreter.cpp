#include "backends/warp/interpreter.hpp"

#include <cctype>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "backends/cpu/process.hpp"

namespace assay::warp {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionLimit{60};
constexpr const char* kPrintVersion =
    "import importlib.metadata as m, importlib.util as u\n"
    "print(m.version('warp-lang') if u.find_spec('warp') and u.find_spec('numpy') else 'no package warp or numpy')";

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Result<WarpInterpreter> try_interpreter(const fs::path& program) {
  const cpu::ProcessResult result = cpu::run_process(program, {"-c", kPrintVersion}, kVersionLimit);
  const std::string version = last_line(result.output);
  const bool is_version = !version.empty() && std::isdigit(static_cast<unsigned char>(version.front())) != 0;
  if (result.succeeded() && is_version) return WarpInterpreter{program, version};
  return Error{fmt::format("Python has no Warp: {}; run ci/setup-warp to install it, or set ASSAY_WARP_PYTHON to a "
                           "Python with Warp",
                           version),
               program.string()};
}

}  // namespace

Result<WarpInterpreter> find_interpreter() {
  if (const char* named = std::getenv("ASSAY_WARP_PYTHON"); named != nullptr && *named != '\0')
    return try_interpreter(named);
  const fs::path own = ASSAY_WARP_ENVIRONMENT "/bin/python";
  if (std::error_code error; fs::exists(own, error)) return try_interpreter(own);
  const auto system = cpu::find_program("python3");
  if (!system) return Error{"no python3 found; run ci/setup"};
  return try_interpreter(*system);
}

const Result<WarpInterpreter>& known_interpreter() {
  static const Result<WarpInterpreter> known = find_interpreter();
  return known;
}

}  // namespace assay::warp
