#include "backends/candidate/triton/compiler.hpp"

#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/candidate/triton/compile_text.hpp"
#include "backends/cpu/process.hpp"
#include "backends/python/confined_process.hpp"
#include "backends/python/python_process.hpp"
#include "support/files.hpp"

namespace assay::candidate {

using backends::BuildFailed;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::chrono::seconds kTritonVersionLimit{60};
constexpr std::chrono::seconds kTritonCompileLimit{120};
constexpr std::uint64_t kTritonMemoryBytes = std::uint64_t{8} << 30;
constexpr const char* kPrintTritonVersion = "import importlib.metadata as m; print(m.version('triton'))";

Result<fs::path> find_python_for_triton(const std::string& named) {
  const char* const variable = std::getenv("ASSAY_PYTHON");
  const bool is_chosen = !named.empty() || (variable != nullptr && *variable != '\0');
  const fs::path own = ASSAY_TRITON_ENVIRONMENT "/bin/python";
  if (std::error_code error; !is_chosen && fs::exists(own, error)) return own;
  return python::find_python(named);
}

/// What the script needs to know.
json request_document(const TritonRequest& request) {
  json options = json::object();
  if (request.warp_count) options["num_warps"] = *request.warp_count;
  if (request.stage_count) options["num_stages"] = *request.stage_count;
  const std::size_t digits = request.architecture.find_first_of("0123456789");
  int architecture = 0;
  if (digits != std::string::npos)
    std::from_chars(request.architecture.data() + digits, request.architecture.data() + request.architecture.size(),
                    architecture);
  std::error_code error;
  return {{"file", fs::absolute(request.file, error).string()},
          {"kernel", request.kernel_name},
          {"types", request.argument_types},
          {"constants", json::parse(request.constexpr_json)},
          {"options", std::move(options)},
          {"architecture", architecture}};
}

/// Why the process gave no answer.
BuildFailed failure_without_answer(const python::ConfinedResult& result, const TritonRequest& request) {
  return std::visit(
      [&](const auto& end) -> BuildFailed {
        using End = std::decay_t<decltype(end)>;
        const std::string name = request.file.filename().string();
        if constexpr (std::is_same_v<End, python::ImportTimedOut>) {
          return {BuildFailed::Kind::kTimedOut,
                  fmt::format("{}: importing the file and compiling the kernel took longer than {} s", name,
                              kTritonCompileLimit.count())};
        } else if constexpr (std::is_same_v<End, python::AnswerTooLarge>) {
          return {BuildFailed::Kind::kRejected, fmt::format("{}: the PTX is too large", name)};
        } else if constexpr (std::is_same_v<End, python::TooManyProcesses>) {
          return {BuildFailed::Kind::kRejected,
                  fmt::format("{}: the import started more than {} processes", name, python::kMaxProcesses)};
        } else {
          std::string reason = end.signal != 0 ? fmt::format("signal {} ({})", end.signal, ::strsignal(end.signal))
                                               : fmt::format("status {}", end.exit_status);
          if (const std::string line = python::last_printed_line(result.output_tail); !line.empty())
            reason += "; its last output: " + line;
          return {BuildFailed::Kind::kCrashed,
                  fmt::format("{}: importing the file and compiling the kernel ended Python with {}", name, reason)};
        }
      },
      result.termination);
}

}  // namespace

Result<TritonInterpreter> find_triton(const std::string& named) {
  const Result<fs::path> found = find_python_for_triton(named);
  if (!found.ok()) return found.error();
  const Result<fs::path> program = python::python_executable(*found);
  if (!program.ok()) return program.error();
  const cpu::ProcessResult result = cpu::run_process(*program, {"-c", kPrintTritonVersion}, kTritonVersionLimit);
  const std::string version = python::last_printed_line(result.output);
  if (result.succeeded() && !version.empty() && std::isdigit(static_cast<unsigned char>(version.front())) != 0)
    return TritonInterpreter{*program, version};
  return Error{
      "Python has no Triton; run ci/setup-triton to install it, or name a Python interpreter that has Triton with "
      "--python or ASSAY_PYTHON",
      program->string()};
}

std::variant<TritonCode, BuildFailed> compile_triton(const TritonInterpreter& interpreter,
                                                     const TritonRequest& request) {
  const python::ScratchFolder scratch;
  const fs::path cache = scratch.path() / "cache";
  std::error_code error;
  fs::create_directory(cache, error);
  if (error) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure,
                       fmt::format("cannot create the temporary folder {}: {}", cache.string(), error.message())};
  }
  const fs::path script = scratch.path() / "compile_triton.py", document = scratch.path() / "request.json";
  for (const auto& [path, text] : {std::pair<const fs::path&, std::string>(script, kCompileTritonScript),
                                   std::pair<const fs::path&, std::string>(document, request_document(request).dump())})
    if (const Result<void> written = put_file(path, text); !written.ok())
      return BuildFailed{BuildFailed::Kind::kResourceFailure, written.error().text()};
  const Result<python::ConfinedResult> result =
      python::run_confined({.executable = interpreter.program,
                            .arguments = {script.string(), document.string()},
                            .environment = python::python_environment(scratch.path(), cache),
                            .writable_folder = cache,
                            .time_limit = kTritonCompileLimit,
                            .memory_limit_bytes = kTritonMemoryBytes});
  if (!result.ok()) return BuildFailed{BuildFailed::Kind::kResourceFailure, result.error().text()};
  try {
    const json answer = json::parse(result->answer);
    if (answer.contains("error")) return BuildFailed{BuildFailed::Kind::kRejected, answer.at("error")};
    if (answer.at("profile_scratch_bytes") != 0) {
      return BuildFailed{BuildFailed::Kind::kUnsupported,
                         fmt::format("'{}' needs scratch memory for profiles, which is not supported",
                                     answer.at("kernel").get<std::string>())};
    }
    return TritonCode{.ptx = answer.at("ptx"),
                      .entry_point_name = answer.at("kernel"),
                      .block_threads = answer.at("block_threads"),
                      .scratch_bytes = answer.at("scratch_bytes"),
                      .shared_bytes = answer.at("shared_bytes")};
  } catch (const json::exception&) {  // the imported file can write to the answer as well
    return failure_without_answer(*result, request);
  }
}

}  // namespace assay::candidate
