#include "harness/live/live.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
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
#include <unistd.h>

#include "backends/cpu/process.hpp"
#include "harness/live/confined_process.hpp"
#include "harness/live/package.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

extern char** environ;

namespace assay::live {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A folder that exists as long as this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "assay-import-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  /// Empty if it could not be created.
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr const char* kPackage = "assay_live";

Result<void> write_package(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder / kPackage, error);
  if (error) return Error{"cannot be created: " + error.message(), folder.string()};
  for (const auto& [name, text] : package_files()) {
    if (Result<void> written = put_file(folder / kPackage / name, text); !written.ok()) return written;
  }
  return {};
}

/// This process's environment, with caches in the writable folder, no GPU, and the package.
std::vector<std::string> environment_for(const fs::path& package, const fs::path& cache) {
  const char* const python_path = std::getenv("PYTHONPATH");
  std::vector<std::pair<std::string, std::string>> own{
      {"PYTHONPATH",
       package.string() + (python_path != nullptr && *python_path != '\0' ? fmt::format(":{}", python_path) : "")},
      {"PYTHONDONTWRITEBYTECODE", "1"},
      {"CUDA_VISIBLE_DEVICES", "-1"},
      {"OMP_NUM_THREADS", "1"},
      {"OPENBLAS_NUM_THREADS", "1"}};
  for (const char* const name : {"WARP_CACHE_PATH", "XDG_CACHE_HOME", "MPLCONFIGDIR", "TMPDIR"})
    own.emplace_back(name, cache.string());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::none_of(own, [&](const auto& other) { return other.first == name; })) variables.emplace_back(text);
  }
  for (const auto& [name, value] : own)
    variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

/// The last line that is not blank.
std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

/// What the user asked to import, for messages.
std::string target_of(const ImportRequest& request) {
  return request.files.empty() ? request.modules.front() : request.files.front();
}

/// Why the answer is missing.
Error describe_end(const ConfinedResult& result, const ImportRequest& request, const fs::path& python) {
  std::string why = std::visit(
      [&](const auto& end) -> std::string {
        using End = std::decay_t<decltype(end)>;
        if constexpr (std::is_same_v<End, ImportTimedOut>) {
          return fmt::format("did not finish within {} s (--import-seconds)", request.time_limit.count());
        } else if constexpr (std::is_same_v<End, AnswerTooLarge>) {
          return fmt::format("exported more than {} MiB", kMaxAnswer >> 20);
        } else if constexpr (std::is_same_v<End, TooManyProcesses>) {
          return fmt::format("started more than {} processes", kMaxProcesses);
        } else if (end.signal != 0) {
          return fmt::format("ended the process with signal {} ({})", end.signal, ::strsignal(end.signal));
        } else {
          return fmt::format("ended the process with status {}", end.exit_status);
        }
      },
      result.end);
  if (const auto* ended = std::get_if<ProcessExited>(&result.end);
      ended != nullptr && ended->signal == 0 && ended->exit_status == kNotStarted) {
    return {"the program could not be started", python.string()};
  }
  if (const std::string line = last_line(result.printed); !line.empty())
    why += fmt::format("; its last output: {}", line);
  return {"import failed: the imported code " + why, target_of(request)};
}

Result<ImportedKernels> parse_answer(const ConfinedResult& result, const ImportRequest& request,
                                     const fs::path& python) {
  const json answer = json::parse(result.answer, nullptr, false);
  if (!answer.is_object()) return describe_end(result, request, python);
  if (answer.contains("error")) {
    return Error{answer.value("error", ""), answer.value("place", target_of(request))};
  }
  ImportedKernels imported{.kernels = {},
                           .sources = {},
                           .notes = answer.value("notes", std::vector<std::string>()),
                           .printed = result.printed,
                           .printed_bytes = result.printed_bytes,
                           .confinement = result.confinement};
  for (const json& kernel : answer.at("kernels")) {
    imported.kernels.push_back({.name = kernel.at("name"),
                                .selector = kernel.at("selector"),
                                .file = kernel.at("file"),
                                .line = kernel.at("line"),
                                .text = kernel.value("text", ""),
                                .reason = kernel.value("reason", "")});
  }
  for (const auto& [path, sha256] : answer.at("sources").items())
    imported.sources.push_back({path, sha256});
  return imported;
}

/// The interpreter itself if `program` is a script that starts it, such as those of pyenv: a confined process cannot
/// start another one. Only the interpreter runs here, without any module of the user.
Result<fs::path> executable_of(const fs::path& program) {
  constexpr std::chrono::seconds kStartLimit{60};
  const cpu::ProcessResult result =
      cpu::run_process(program, {"-I", "-S", "-c", "import sys; print(sys.executable)"}, kStartLimit);
  const std::string path = last_line(result.output);
  if (!result.succeeded() || !cpu::find_program(path))
    return Error{"is not a Python interpreter" + (path.empty() ? "" : ": " + path), program.string()};
  return fs::path(path);
}

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

Result<ImportedKernels> import_kernels(const ImportRequest& request) {
  const Result<fs::path> found = find_python(request.python);
  if (!found.ok()) return found.error();
  const Result<fs::path> python = executable_of(*found);
  if (!python.ok()) return python.error();
  const ScratchFolder scratch;
  const fs::path cache = scratch.path() / "cache";
  std::error_code error;
  fs::create_directory(cache, error);
  if (error) return Error{"cannot create a temporary folder: " + error.message(), cache.string()};
  if (const Result<void> written = write_package(scratch.path()); !written.ok()) return written.error();
  const json words{{"files", request.files}, {"modules", request.modules}, {"answer", kAnswerFd}};
  const Result<ConfinedResult> result =
      run_confined({.program = *python,
                    .arguments = {"-m", fmt::format("{}._live", kPackage), words.dump()},
                    .environment = environment_for(scratch.path(), cache),
                    .cache = cache,
                    .time_limit = request.time_limit,
                    .memory_bytes = request.memory_bytes});
  if (!result.ok()) return result.error();
  try {
    return parse_answer(*result, request, *python);
  } catch (const json::exception&) {  // the import can write to the answer as well
    return Error{"import failed: the process gave an invalid answer", target_of(request)};
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
  if (error) return Error{"cannot be created: " + error.message(), folder.string()};
  if (!imported.printed.empty()) {
    if (Result<void> written = put_file(folder / kPrintedFile, imported.printed); !written.ok()) return written;
  }
  for (const LiveKernel& kernel : imported.kernels) {
    if (kernel.text.empty()) continue;
    if (Result<void> written = put_file(folder / (kernel.name + ".py"), kernel.text); !written.ok()) return written;
  }
  return {};
}

Result<fs::path> find_python(const std::string& named) {
  const char* const variable = std::getenv("ASSAY_PYTHON");
  const std::string wanted = !named.empty() ? named : variable != nullptr ? variable : "";
  if (!wanted.empty()) {
    const auto found = cpu::find_program(wanted);
    if (!found) return Error{"no such program; expected a Python interpreter", wanted};
    return *found;
  }
  if (const auto found = cpu::find_program((own_folder() / "python3").string())) return *found;
  if (const auto found = cpu::find_program("python3")) return *found;
  return Error{"no python3 in PATH; name a Python interpreter with --python"};
}

}  // namespace assay::live
