#include "harness/live/live.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/python/confined_process.hpp"
#include "backends/python/python_process.hpp"
#include "harness/live/package.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

namespace assay::live {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPackage = "assay_live";

Result<void> write_package(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder / kPackage, error);
  if (error) return Error{"cannot create the folder: " + error.message(), folder.string()};
  for (const auto& [name, text] : list_package_files()) {
    if (Result<void> written = put_file(folder / kPackage / name, text); !written.ok()) return written;
  }
  return {};
}

/// What the user asked to import, for messages.
std::string target_of(const ImportRequest& request) {
  return request.files.empty() ? request.module_names.front() : request.files.front();
}

/// Why the answer is missing.
Error describe_end(const python::ConfinedResult& result, const ImportRequest& request, const fs::path& python) {
  std::string why = std::visit(
      [&](const auto& end) -> std::string {
        using End = std::decay_t<decltype(end)>;
        if constexpr (std::is_same_v<End, python::ImportTimedOut>) {
          return fmt::format("did not finish within {} s (--import-seconds)", request.time_limit.count());
        } else if constexpr (std::is_same_v<End, python::AnswerTooLarge>) {
          return fmt::format("exported more than {} MiB", python::kMaxAnswerBytes >> 20);
        } else if constexpr (std::is_same_v<End, python::TooManyProcesses>) {
          return fmt::format("started more than {} processes", python::kMaxProcesses);
        } else if (end.signal != 0) {
          return fmt::format("ended the process with signal {} ({})", end.signal, ::strsignal(end.signal));
        } else {
          return fmt::format("ended the process with status {}", end.exit_status);
        }
      },
      result.termination);
  if (const auto* ended = std::get_if<python::ProcessExited>(&result.termination);
      ended != nullptr && ended->signal == 0 && ended->exit_status == python::kExecFailedExitStatus) {
    return {"the Python interpreter could not be started", python.string()};
  }
  if (const std::string line = python::last_printed_line(result.output_tail); !line.empty())
    why += fmt::format("; its last output: {}", line);
  return {"import failed: the imported code " + why, target_of(request)};
}

Result<ImportedKernels> parse_answer(const python::ConfinedResult& result, const ImportRequest& request,
                                     const fs::path& python) {
  const json answer = json::parse(result.answer, nullptr, false);
  if (!answer.is_object()) return describe_end(result, request, python);
  if (answer.contains("error")) {
    return Error{answer.value("error", ""), answer.value("place", target_of(request))};
  }
  ImportedKernels imported{.kernels = {},
                           .sources = {},
                           .notes = answer.value("notes", std::vector<std::string>()),
                           .output_tail = result.output_tail,
                           .total_output_bytes = result.total_output_bytes,
                           .confinement = result.confinement};
  for (const json& kernel : answer.at("kernels")) {
    const json origin = kernel.value("origin", json::object());
    imported.kernels.push_back({.name = kernel.at("name"),
                                .selector = kernel.at("selector"),
                                .file = kernel.at("file"),
                                .line = kernel.at("line"),
                                .source_text = kernel.value("text", ""),
                                .export_error = kernel.value("reason", ""),
                                .origin = {.package = origin.value("package", ""),
                                           .version = origin.value("version", ""),
                                           .file = origin.value("file", ""),
                                           .license = origin.value("license", ""),
                                           .attribution = origin.value("attribution", "")}});
  }
  for (const auto& [path, sha256] : answer.at("sources").items())
    imported.sources.push_back({path, sha256});
  return imported;
}

}  // namespace

Result<ImportedKernels> import_kernels(const ImportRequest& request) {
  const Result<fs::path> found = python::find_python(request.python_interpreter);
  if (!found.ok()) return found.error();
  const Result<fs::path> python = python::python_executable(*found);
  if (!python.ok()) return python.error();
  const python::ScratchFolder scratch;
  const fs::path cache = scratch.path() / "cache";
  std::error_code error;
  fs::create_directory(cache, error);
  if (error) return Error{"cannot create a temporary folder: " + error.message(), cache.string()};
  if (const Result<void> written = write_package(scratch.path()); !written.ok()) return written.error();
  const json words{{"files", request.files},
                   {"modules", request.module_names},
                   {"for_dataset", request.is_for_dataset},
                   {"answer", python::kAnswerFileDescriptor}};
  const Result<python::ConfinedResult> result =
      python::run_confined({.executable = *python,
                            .arguments = {"-m", fmt::format("{}._live", kPackage), words.dump()},
                            .environment = python::python_environment(scratch.path(), cache),
                            .writable_folder = cache,
                            .time_limit = request.time_limit,
                            .memory_limit_bytes = request.memory_limit_bytes});
  if (!result.ok()) return result.error();
  try {
    return parse_answer(*result, request, *python);
  } catch (const json::exception&) {  // the import can write to the answer as well
    return Error{"import failed: the Python process returned an invalid result", target_of(request)};
  }
}

std::optional<std::string> changed_source(const std::vector<SourceFile>& sources) {
  for (const SourceFile& source : sources) {
    std::ifstream stream(source.path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream.is_open() || sha256_hex(text) != source.sha256) return source.path;
  }
  return std::nullopt;
}

Result<void> write_exports(const ImportedKernels& imported, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{"cannot create the folder: " + error.message(), folder.string()};
  if (!imported.output_tail.empty()) {
    if (Result<void> written = put_file(folder / kImportLogFileName, imported.output_tail); !written.ok())
      return written;
  }
  for (const ImportedKernel& kernel : imported.kernels) {
    if (kernel.source_text.empty()) continue;
    if (Result<void> written = put_file(folder / (kernel.name + ".py"), kernel.source_text); !written.ok())
      return written;
  }
  return {};
}

}  // namespace assay::live
