#include "harness/reduce/failure_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/reduce/failure_values.hpp"
#include "harness/suite/run/batch.hpp"
#include "ir/launch.hpp"
#include "support/shell.hpp"

namespace assay::reduce {
namespace {

namespace fs = std::filesystem;
using backends::SourceTarget;

constexpr std::array kEndings{".py", ".cpp", ".cu", ".ptx", ".json"};

/// The PTX for the first architecture, in native precision; empty if the device has none.
std::string ptx_of(const backends::EmittedKernel& emitted, backends::Device& device,
                   const harness::RunOptions& options) {
  if (device.target() != SourceTarget::kCuda || !device.can_build().is_available) return "";
  const auto built = device.build({&emitted, 1}, options.mode.flags);
  const auto* kernel = std::get_if<backends::BuiltKernel>(&built.front());
  if (kernel == nullptr) return "";
  const auto* ptx = kernel->artifact(backends::Artifact::Kind::kPtx, backends::Precision::kNative);
  return ptx == nullptr ? "" : ptx->content;
}

void add_sources(Evidence& evidence, const harness::KernelSource& source, backends::Device& device,
                 const harness::Printer& printer, const harness::RunOptions& options) {
  const harness::PreparedKernel prepared = harness::prepare_kernel(source, printer, device.target(), options);
  if (!prepared.emitted_kernel) return;
  if (device.target() == SourceTarget::kWarpPython) return;  // kernel.py is its source
  evidence[device.target() == SourceTarget::kCuda ? ".cu" : ".cpp"] = prepared.emitted_kernel->source();
  evidence[".ptx"] = ptx_of(*prepared.emitted_kernel, device, options);
}

std::string script_of(const Failure& failure) {
  return fmt::format(
      "#!/bin/sh\n"
      "# {}\n"
      "# ended as {}.\n"
      "# Judges it again. Exit status: 0 if the failure is reproduced, 1 if not, 77 if the device is unavailable.\n"
      "# Set ASSAY_PROGRAM to the program to use; the default is assay on PATH.\n"
      "exec \"${{ASSAY_PROGRAM:-assay}}\" reproduce \"$(dirname -- \"$0\")\" \"$@\"\n",
      text_for_shell_comment(failure.name), text_for_shell_comment(reduce::to_text(failure.failure_class)));
}

Result<void> write(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream.good()) return Error{"cannot be written: " + std::generic_category().message(errno), file};
  return {};
}

Result<void> write_evidence(const fs::path& folder, const std::string& stem, const Evidence& evidence) {
  for (const auto& [ending, text] : evidence) {
    if (text.empty() || text.size() > kMaxEvidenceFileBytes) continue;
    if (auto written = write(folder / (stem + ending), text); !written.ok()) return written;
  }
  return {};
}

Result<void> fill(const fs::path& folder, const Failure& failure, const Evidence& kernel,
                  const std::optional<Evidence>& reduced) {
  const fs::path script = folder / "reproduce.sh";
  Result<void> written = write_evidence(folder, "kernel", kernel);
  if (written.ok() && reduced) written = write_evidence(folder, "reduced", *reduced);
  if (written.ok()) written = write(script, script_of(failure));
  if (written.ok()) written = write(folder / kFailureFileName, to_json(failure));
  std::error_code error;
  if (written.ok())
    fs::permissions(script, fs::perms::owner_exec | fs::perms::group_exec, fs::perm_options::add, error);
  if (error) return Error{"cannot make the file executable: " + error.message(), script};
  return written;
}

/// The arrays of the launch, by name and shape.
std::string arrays_of(const harness::Counterexample& counterexample) {
  std::vector<std::string> arrays;
  for (const auto& [name, content] : counterexample.launch_arguments)
    if (content.type.is_array()) arrays.push_back(fmt::format("{} {}", name, fmt::join(content.shape, " x ")));
  return fmt::format("{}", fmt::join(arrays, ", "));
}

}  // namespace

JudgedFailure judge_with_evidence(const harness::KernelSource& source, backends::Pass pass, backends::Device& device,
                                  const harness::Printer& printer, const harness::RunOptions& options) {
  JudgedFailure examined{.record = {}, .evidence = {{".py", source.python}}, .failing_arrays = {}};
  if (source.module == nullptr) return examined;
  harness::RunOptions watched = options;
  watched.on_counterexample = [&](const harness::CaseRecord&, const harness::Counterexample& counterexample) {
    const bool promoted = counterexample.precision == backends::Precision::kPromoted;
    examined.evidence[".json"] = values_json(promoted ? ir::promoted(*source.module) : *source.module, counterexample);
    if (device.input_error() != 0) examined.failing_arrays = arrays_of(counterexample);
  };
  examined.record = reduce::judge_case(source, pass, device, printer, watched);
  add_sources(examined.evidence, source, device, printer, options);
  return examined;
}

std::string folder_name(const std::string& case_name) {
  std::string name = case_name;
  std::ranges::replace(name, '/', '.');
  return name;
}

Result<void> write_failure_folder(const fs::path& folder, const Failure& failure, const Evidence& kernel,
                                  const std::optional<Evidence>& reduced) {
  const fs::path partial = folder.parent_path() / ("." + folder.filename().string() + kPartialFolderSuffix);
  std::error_code error;
  fs::remove_all(partial, error);
  fs::create_directories(partial, error);
  if (error) return Error{"cannot create the folder: " + error.message(), partial};
  Result<void> filled = fill(partial, failure, kernel, reduced);
  if (filled.ok()) {
    fs::remove_all(folder, error);
    fs::rename(partial, folder, error);
    if (!error) return {};
    filled = Error{"cannot create the folder: " + error.message(), folder};
  }
  fs::remove_all(partial, error);
  return filled;
}

Evidence read_evidence(const fs::path& folder, const std::string& stem) {
  Evidence evidence;
  for (const char* const ending : kEndings) {
    std::ifstream stream(folder / (stem + ending), std::ios::binary);
    std::stringstream text;
    if (stream.is_open()) text << stream.rdbuf();
    if (!text.str().empty()) evidence[ending] = text.str();
  }
  return evidence;
}

}  // namespace assay::reduce
