#include "backends/warp/interpreter.hpp"

#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "backends/cpu/process.hpp"

namespace assay::warp {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionLimit{60};
constexpr int kOldestMinor = 15, kNewestMinor = 19;  ///< supported versions 1.x
constexpr const char* kPrintVersion =
    "import importlib.metadata as m, importlib.util as u\n"
    "print(m.version('warp-lang') if u.find_spec('warp') and u.find_spec('numpy') else 'no package warp or numpy')";

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// Whether the version is one of those whose rules Assay knows: "1.19.0", "1.18.0rc1".
bool is_supported(const std::string& version) {
  int major = 0, minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 && major == 1 && minor >= kOldestMinor &&
         minor <= kNewestMinor;
}

Result<WarpInterpreter> try_interpreter(const fs::path& program) {
  const cpu::ProcessResult result = cpu::run_process(program, {"-c", kPrintVersion}, kVersionLimit);
  const std::string version = last_line(result.output);
  const bool is_version = !version.empty() && std::isdigit(static_cast<unsigned char>(version.front())) != 0;
  if (result.succeeded() && is_version) {
    if (is_supported(version)) return WarpInterpreter{program, version};
    return Error{fmt::format("Warp {} is not supported; install a version from 1.{} to 1.{} with ci/setup-warp, or set "
                             "ASSAY_WARP_PYTHON to a Python interpreter that has such a version",
                             version, kOldestMinor, kNewestMinor),
                 program.string()};
  }
  return Error{fmt::format("Python has no Warp: {}; run ci/setup-warp to install it, or set ASSAY_WARP_PYTHON to a "
                           "Python interpreter that has Warp",
                           version.empty() ? "the interpreter printed no version" : version),
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
