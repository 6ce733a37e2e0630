#include "harness/compilers/compiler_failures.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/ptx/parse/module.hpp"
#include "harness/records/mode_name.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/suite/emission.hpp"
#include "support/files.hpp"

namespace assay::compilers {
namespace {

namespace fs = std::filesystem;
using harness::CaseRecord;

/// The NVRTC with this full version: an installed one, or the default.
std::string nvrtc_with(const std::string& version) {
  const std::vector<std::string> installed = cuda::installed_nvrtc_versions();
  return std::ranges::find(installed, version) == installed.end() ? "" : version;
}

/// The build in "compiler(NVRTC 13.0.88 compute_100)"; empty for other culprits.
std::optional<CudaBuild> build_in(const std::string& culprit) {
  constexpr std::string_view kStart = "compiler(NVRTC ";
  if (!culprit.starts_with(kStart) || culprit.back() != ')') return std::nullopt;
  const std::string text = culprit.substr(kStart.size(), culprit.size() - kStart.size() - 1);
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return CudaBuild{.nvrtc_version_or_path = nvrtc_with(text.substr(0, space)), .architecture = text.substr(space + 1)};
}

/// Builds that may be correct: newer versions first, then another target.
std::vector<CudaBuild> reference_builds_for(const CudaBuild& wrong) {
  std::vector<CudaBuild> reference_builds;
  std::vector<std::string> versions = cuda::installed_nvrtc_versions();
  std::ranges::reverse(versions);
  for (const std::string& version : versions)
    if (version != wrong.nvrtc_version_or_path)
      reference_builds.push_back({.nvrtc_version_or_path = version, .architecture = wrong.architecture});
  for (const char* const architecture : {"compute_75", "compute_90"})
    if (architecture != wrong.architecture)
      reference_builds.push_back({.nvrtc_version_or_path = wrong.nvrtc_version_or_path, .architecture = architecture});
  return reference_builds;
}

Result<CudaReduction> reduced(const CaseRecord& record, const CudaBuild& wrong, std::chrono::milliseconds time,
                              unsigned jobs) {
  const Result<harness::LoadedKernel> kernel = harness::load_kernel(record.selector, record.pass == "backward");
  if (!kernel.ok()) return kernel.error();
  const Result<backends::EmittedKernel> emitted = harness::emit_source(*kernel, backends::SourceTarget::kCuda);
  if (!emitted.ok()) return emitted.error();
  const auto entry = std::ranges::find(emitted->entry_points,
                                       record.pass == "backward" ? backends::Pass::kBackward : backends::Pass::kForward,
                                       &backends::EntryPoint::pass);
  if (entry == emitted->entry_points.end()) return Error{fmt::format("the kernel has no {} pass", record.pass)};
  CudaBuild build = wrong;
  build.contracts_multiply_add = record.mode.starts_with("default");
  return reduce_cuda({.source = emitted->source(),
                      .function_name = entry->symbol,
                      .incorrect_build = build,
                      .reference_builds = reference_builds_for(build)},
                     time, jobs);
}

std::string name_of(const CudaBuild& build) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(build.nvrtc_version_or_path);
  return fmt::format("NVRTC {} {}", nvrtc.ok() ? nvrtc->full_version() : build.nvrtc_version_or_path,
                     build.architecture);
}

std::string finding_json(const CompilerFailure& failure) {
  const CudaReduction& reduction = failure.reduction;
  const nlohmann::ordered_json finding{
      {"case", failure.record.name},
      {"compiler", name_of(reduction.incorrect_build)},
      {"witness", name_of(reduction.reference_build)},
      {"inputs", reduction.inputs},
      {"results", reduction.result_difference},
      {"incorrect", failure.failing_builds},
      {"correct", failure.passing_builds},
      {"missing", missing_instructions(reduction.incorrect_ptx, reduction.correct_ptx)},
      {"lines_before", reduction.original_line_count},
      {"lines", reduction.line_count},
      {"trials", reduction.compilation_count},
      {"minimal", reduction.is_minimal}};
  return finding.dump(2) + "\n";
}

Result<void> write_folder(const CompilerFailure& failure) {
  std::error_code error;
  fs::create_directories(failure.folder, error);
  const CudaReduction& reduction = failure.reduction;
  const std::string head =
      fmt::format("// {} compiles this function incorrectly.\n// With {}, {}.\n", name_of(reduction.incorrect_build),
                  reduction.inputs, reduction.result_difference);
  const std::vector<std::pair<const char*, std::string>> files{{"reduced.cu", head + reduction.source},
                                                               {"wrong.ptx", reduction.incorrect_ptx},
                                                               {"right.ptx", reduction.correct_ptx},
                                                               {"host.cu", reduction.host_program},
                                                               {"reproduce.sh", reproduction_script(reduction)},
                                                               {"finding.json", finding_json(failure)}};
  for (const auto& [name, text] : files)
    if (Result<void> written = put_file(failure.folder / name, text); !written.ok()) return written;
  fs::permissions(failure.folder / "reproduce.sh", fs::perms::owner_exec | fs::perms::group_exec, fs::perm_options::add,
                  error);
  return {};
}

/// Adds the results of the other builds of the case.
void add_builds(CompilerFailure& failure, const std::vector<CaseRecord>& records) {
  for (const CaseRecord& record : records) {
    if (record.family != failure.record.family || record.kernel != failure.record.kernel ||
        record.pass != failure.record.pass || harness::build_name_of_mode(record.mode).empty())
      continue;
    std::string title = harness::describe_build(harness::build_name_of_mode(record.mode));
    if (harness::is_pass(record.outcome)) failure.passing_builds.push_back(std::move(title));
    else if (record.outcome == harness::Outcome::fail) failure.failing_builds.push_back(std::move(title));
  }
}

/// The number of times that each instruction occurs.
std::map<std::string, int> instruction_counts(const std::string& ptx) {
  std::map<std::string, int> counts;
  const Result<ptx::Module> module = ptx::parse(ptx, "kernel.ptx");
  if (!module.ok()) return counts;
  for (const ptx::Function& function : module->functions)
    for (const ptx::Instruction& instruction : function.instructions)
      ++counts[std::string(instruction.text.substr(0, instruction.text.find_first_of(". \t;")))];
  return counts;
}

}  // namespace

std::vector<std::string> missing_instructions(const std::string& incorrect_ptx, const std::string& correct_ptx) {
  std::map<std::string, int> wrong = instruction_counts(incorrect_ptx);
  std::vector<std::string> missing;
  for (const auto& [name, count] : instruction_counts(correct_ptx))
    if (wrong[name] < count) missing.push_back(name);
  return missing;
}

std::string reproduction_script(const CudaReduction& reduction) {
  constexpr std::string_view kScript = R"script(#!/bin/sh
# Compiles reduced.cu with NVRTC and compares the PTX with wrong.ptx: reproduce.sh [PATH/libnvrtc.so.13]
# Exit status: 0 the PTX is the incorrect one, 1 it is another one, which is then printed.
exec python3 - "$(dirname "$0")" "${1:-libnvrtc.so.13}" <<'END'
import ctypes
import pathlib
import sys

folder, library = pathlib.Path(sys.argv[1]), sys.argv[2]
options = [OPTIONS]
nvrtc = ctypes.CDLL(library)
program = ctypes.c_void_p()


def call(name, *arguments):
    status = getattr(nvrtc, name)(*arguments)
    if status != 0:
        sys.exit(f"{name} failed with status {status}")


call("nvrtcCreateProgram", ctypes.byref(program), (folder / "reduced.cu").read_bytes(), b"reduced.cu", 0, None, None)
call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
call("nvrtcGetPTXSize", program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
call("nvrtcGetPTX", program, text)


def instructions(ptx):
    lines = (line.split("//")[0].strip() for line in ptx.splitlines())
    return [line for line in lines if line and not line.startswith(".version")]


ptx = text.value.decode()
if instructions(ptx) == instructions((folder / "wrong.ptx").read_text()):
    print("The compiler generates the incorrect PTX.")
else:
    print(ptx)
    sys.exit("The compiler generates another PTX.")
END
)script";
  std::string options;
  backends::BuildFlags flags = backends::BuildFlags::strict();
  flags.contracts_multiply_add = reduction.incorrect_build.contracts_multiply_add;
  for (const std::string& option :
       cuda::nvrtc_arguments({.architecture = reduction.incorrect_build.architecture, .flags = flags}))
    options += fmt::format("{}b\"{}\"", options.empty() ? "" : ", ", option);
  std::string script(kScript);
  constexpr std::string_view kOptions = "OPTIONS";
  script.replace(script.find(kOptions), kOptions.size(), options);
  return script;
}

Result<std::vector<CompilerFailure>> archive_compiler_failures(const fs::path& output, std::chrono::milliseconds time,
                                                               unsigned jobs,
                                                               const std::function<void(const std::string&)>& tell) {
  const auto run = harness::read_records(output);
  if (!run.ok()) return run.error();
  std::vector<CompilerFailure> failures;
  std::set<std::string> done;
  for (const CaseRecord& record : run->cases) {
    const std::optional<CudaBuild> wrong =
        record.failure_origin ? build_in(record.failure_origin->responsible_component) : std::nullopt;
    if (!wrong) continue;
    const std::string name = fmt::format("{}.{}.{}", record.family, record.kernel, record.pass);
    if (!done.insert(name).second) continue;
    Result<CudaReduction> reduction = reduced(record, *wrong, time, jobs);
    if (!reduction.ok()) {
      tell(fmt::format("{}: cannot reduce the CUDA source: {}", record.name, reduction.error().text()));
      continue;
    }
    CompilerFailure failure{.record = record,
                            .reduction = reduction.take(),
                            .failing_builds = {},
                            .passing_builds = {},
                            .folder = output / "compilers" / name};
    add_builds(failure, run->cases);
    if (Result<void> written = write_folder(failure); !written.ok()) return written.error();
    tell(fmt::format("{}: reduced from {} to {} lines of CUDA C++{} in {} compilations; see {}", record.name,
                     failure.reduction.original_line_count, failure.reduction.line_count,
                     failure.reduction.is_minimal ? "" : " (cut short by the time limit)",
                     failure.reduction.compilation_count, (failure.folder / "reproduce.sh").string()));
    failures.push_back(std::move(failure));
  }
  return failures;
}

}  // namespace assay::compilers
