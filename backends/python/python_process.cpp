#include "backends/python/python_process.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "backends/cpu/process.hpp"

extern char** environ;

namespace assay::python {

namespace fs = std::filesystem;

namespace {

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string last_printed_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "assay-import-XXXXXX").string();
  if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

std::vector<std::string> python_environment(const fs::path& packages, const fs::path& cache) {
  const char* const python_path = std::getenv("PYTHONPATH");
  std::vector<std::pair<std::string, std::string>> own{
      {"PYTHONPATH",
       packages.string() + (python_path != nullptr && *python_path != '\0' ? fmt::format(":{}", python_path) : "")},
      {"PYTHONDONTWRITEBYTECODE", "1"},
      {"CUDA_VISIBLE_DEVICES", "-1"},
      {"OMP_NUM_THREADS", "1"},
      {"OPENBLAS_NUM_THREADS", "1"}};
  for (const char* const name : {"WARP_CACHE_PATH", "TRITON_CACHE_DIR", "XDG_CACHE_HOME", "MPLCONFIGDIR", "TMPDIR"})
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

Result<fs::path> python_executable(const fs::path& program) {
  constexpr std::chrono::seconds kStartLimit{60};
  const cpu::ProcessResult result =
      cpu::run_process(program, {"-I", "-S", "-c", "import sys; print(sys.executable)"}, kStartLimit);
  const std::string path = last_printed_line(result.output);
  if (!result.succeeded() || !cpu::find_program(path))
    return Error{"is not a Python interpreter" + (path.empty() ? "" : ": " + path), program.string()};
  return fs::path(path);
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

}  // namespace assay::python
