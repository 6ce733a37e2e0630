#include "backends/candidate/host/executed_source.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/candidate/host/record_text.hpp"
#include "backends/python/confined_process.hpp"
#include "backends/python/python_process.hpp"
#include "support/files.hpp"

namespace assay::candidate {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::chrono::seconds kImportLimit{30};
constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30;

/// A text of the Python file with its line there, or a text that Python put together, with a name of its own.
SourceFragment place_of(const std::string& text, const std::string& python, const std::string& name,
                        std::size_t number) {
  const std::size_t at = text.empty() ? std::string::npos : python.find(text);
  if (at == std::string::npos) return {.text = text, .file_name = fmt::format("{}, source {}", name, number)};
  const auto newlines = std::count(python.begin(), python.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return {.text = text, .file_name = name, .line = static_cast<std::int32_t>(newlines) + 1};
}

HostSource source_of(const json& answer, const std::string& python, const std::string& name) {
  std::vector<SourceFragment> cpp, cuda;
  for (const json& entry : answer.at("texts")) {
    const std::string text = entry.at("text"), file = entry.at("file");
    auto& texts = entry.at("kind") == "cpp" ? cpp : cuda;
    texts.push_back(file.empty() ? place_of(text, python, name, cpp.size() + cuda.size() + 1)
                                 : SourceFragment{.text = text, .file_name = file});
  }
  HostSource source;
  source.text = joined_source(cpp, cuda);
  for (const std::string function : answer.at("functions"))
    source.functions.push_back({.python_name = function, .cpp_name = function});
  if (source.functions.empty()) source.functions = pybind_functions(source.text);
  source.flags = relevant_flags(answer.at("flags").get<std::vector<std::string>>());
  return source;
}

}  // namespace

Result<HostSource> import_load_inline(const fs::path& file, const std::string& python) {
  const std::string name = file.filename().string();
  const Result<std::string> text = read_file_text(file);
  if (!text.ok()) return text.error();
  const Result<fs::path> found = python::find_python(python);
  if (!found.ok()) return found.error();
  const Result<fs::path> interpreter = python::python_executable(*found);
  if (!interpreter.ok()) return interpreter.error();
  const python::ScratchFolder scratch;
  const fs::path cache = scratch.path() / "cache", script = scratch.path() / "record_load_inline.py";
  std::error_code error;
  fs::create_directory(cache, error);
  if (error) return Error{fmt::format("cannot create a temporary folder: {}", error.message()), cache.string()};
  if (const Result<void> written = put_file(script, kRecordLoadInlineScript); !written.ok()) return written.error();
  const Result<python::ConfinedResult> result =
      python::run_confined({.executable = *interpreter,
                            .arguments = {script.string(), fs::absolute(file, error).string()},
                            .environment = python::python_environment(scratch.path(), cache),
                            .writable_folder = cache,
                            .time_limit = kImportLimit,
                            .memory_limit_bytes = kMemoryBytes});
  if (!result.ok()) return result.error();
  try {
    const json answer = json::parse(result->answer);
    if (answer.contains("error")) return Error{answer.at("error").get<std::string>()};
    return source_of(answer, *text, name);
  } catch (const json::exception&) {  // the imported file can write to the answer as well
    const std::string line = python::last_printed_line(result->output_tail);
    return Error{fmt::format("{}: the import gave no answer within {} s{}{}", name, kImportLimit.count(),
                             line.empty() ? "" : "; its last output: ", line)};
  }
}

}  // namespace assay::candidate
