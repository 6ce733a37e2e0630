#include "backends/candidate/host/compiler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/include_texts.hpp"
#include "backends/cpu/process.hpp"

namespace assay::candidate {

using backends::BuildFailed;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kCompileLimit{120'000};
constexpr std::chrono::milliseconds kVersionLimit{20'000};

constexpr const char* kRunProgramFile = "run_program.cpp";

struct IncludeFile {
  std::string_view name;
  std::string_view text;
};
std::array<IncludeFile, 7> include_files() {
  return {{{"call.hpp", kCallHeader},
           {"device_memory.h", kDeviceMemoryHeader},
           {"tensor.h", kTensorHeader},
           {"call_function.h", kCallFunctionHeader},
           {"cuda_runtime_functions.cpp", kCudaRuntimeFunctions},
           {"program.h", kProgramHeader},
           {kRunProgramFile, kRunProgram}}};
}

/// PyTorch's headers that candidates include; each includes tensor.h.
constexpr std::array<std::string_view, 29> kTorchHeaders{"torch/extension.h",
                                                         "torch/torch.h",
                                                         "torch/all.h",
                                                         "torch/types.h",
                                                         "torch/script.h",
                                                         "torch/library.h",
                                                         "torch/python.h",
                                                         "ATen/ATen.h",
                                                         "ATen/Dispatch.h",
                                                         "ATen/AccumulateType.h",
                                                         "ATen/cuda/CUDAContext.h",
                                                         "ATen/cuda/Exceptions.h",
                                                         "ATen/cuda/CUDAUtils.h",
                                                         "c10/cuda/CUDAGuard.h",
                                                         "c10/cuda/CUDAException.h",
                                                         "ATen/cuda/CUDAEvent.h",
                                                         "c10/cuda/CUDAStream.h",
                                                         "c10/util/Half.h",
                                                         "c10/util/BFloat16.h",
                                                         "ATen/OpMathType.h",
                                                         "ATen/core/Tensor.h",
                                                         "ATen/cuda/Atomic.cuh",
                                                         "c10/core/ScalarType.h",
                                                         "c10/cuda/CUDAFunctions.h",
                                                         "c10/macros/Macros.h",
                                                         "c10/util/Exception.h",
                                                         "c10/util/Optional.h",
                                                         "pybind11/pybind11.h",
                                                         "pybind11/stl.h"};

constexpr std::string_view kSourceFile = "candidate.cu";

std::string caller_text(const char* symbol, const std::string& function) {
  return fmt::format(
      "extern \"C\" std::int32_t {}(const assay::candidate::CallArguments* call) {{\n"
      "  return assay::candidate::call_function(&{}, *call);\n}}\n",
      symbol, function);
}

std::string source_text(const LibraryBuildRequest& request) {
  if (request.source->is_program) return fmt::format("#include \"program.h\"\n{}", request.source->text);
  std::string text = fmt::format("{}\n#line 1 \"assay_call\"\n#include \"call_function.h\"\n{}", request.source->text,
                                 caller_text(kCallSymbol, request.host_function_name));
  if (!request.backward_function_name.empty()) text += caller_text(kCallBackwardSymbol, request.backward_function_name);
  return text;
}

bool write(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

std::vector<std::string> arguments_for(const LibraryBuildRequest& request) {
  std::vector<std::string> arguments{"-shared", "-Xcompiler",    "-fPIC",
                                     "-cudart", "none",          "-lineinfo",
                                     "-w",      "--no-compress", "--expt-relaxed-constexpr"};  // as PyTorch does
  arguments.push_back("-gencode");
  arguments.push_back(fmt::format("arch={0},code={0}", request.architecture));
  // A program ends with exit(), which must not end the worker, and the worker unloads its library.
  if (request.source->is_program)
    arguments.insert(arguments.end(), {"-Xlinker", "--wrap=exit,-Bsymbolic", "-Xcompiler", "-fno-gnu-unique"});
  bool states_standard = false;
  for (const std::string& flag : request.source->flags) {
    states_standard |= flag.starts_with("--std");
    arguments.push_back(flag);
  }
  if (!states_standard) arguments.emplace_back("-std=c++17");
  return arguments;
}

/// The lines of the compiler's output that report errors, or all of it if there are none.
std::string errors_in(const std::string& output) {
  std::string errors;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string_view line = std::string_view(output).substr(at, end - at);
    if (line.find("error") != std::string_view::npos) errors += fmt::format("{}\n", line);
    at = end + 1;
  }
  return errors.empty() ? output : errors;
}

/// The text between quotation marks that starts at or after `at`; empty if there is none.
std::string_view quoted_text(std::string_view line, std::size_t at) {
  const std::size_t begin = line.find('"', at);
  const std::size_t end = begin == std::string_view::npos ? begin : line.find('"', begin + 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin + 1, end - begin - 1);
}

/// The function of PyTorch or the header of a library that an error of the compiler calls missing; empty if the error
/// is of another kind.
std::string missing_library_part(std::string_view error) {
  constexpr std::string_view kNoMember = " has no member ";
  if (const std::size_t at = error.find(kNoMember); at != std::string_view::npos) {
    const std::string_view scope = quoted_text(error, error.find(" error"));
    const bool is_torch = scope.starts_with("torch") || scope.starts_with("at") || scope.starts_with("c10") ||
                          scope.ends_with("Tensor") || scope.ends_with("TensorOptions");
    return is_torch ? fmt::format("{}::{}", scope, quoted_text(error, at + kNoMember.size())) : std::string();
  }
  constexpr std::string_view kNoFile = ": No such file or directory";
  const std::size_t end = error.find(kNoFile);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = error.rfind(' ', end) + 1;
  const std::string_view header = error.substr(begin, end - begin);
  static constexpr std::array<std::string_view, 10> kLibraries{"torch/",   "ATen/",    "c10/",   "cublas", "cudnn",
                                                               "cusparse", "cusolver", "curand", "cufft",  "cutlass/"};
  const bool is_library = std::ranges::any_of(kLibraries, [&](auto prefix) { return header.starts_with(prefix); });
  return is_library ? std::string(header) : std::string();
}

/// Why the compiler's errors, one in each line, are a limit of Assay; empty if at least one is the candidate's mistake.
std::string limit_in(const std::string& errors) {
  std::string missing;
  for (std::size_t at = 0; at < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string_view line = std::string_view(errors).substr(at, end - at);
    at = end + 1;
    if (line.find("error:") == std::string_view::npos && line.find(" error ") == std::string_view::npos) continue;
    if (line.find("errors detected") != std::string_view::npos || line.find("error detected") != std::string_view::npos)
      continue;
    const std::string part = missing_library_part(line);
    if (part.empty()) return {};
    if (missing.find(part) == std::string::npos) missing += (missing.empty() ? "" : ", ") + part;
  }
  return missing.empty() ? missing
                         : fmt::format("the host code uses {}, which Assay does not provide: {}", missing, errors);
}

}  // namespace

Result<fs::path> find_nvcc() {
  if (const char* const stated = std::getenv("ASSAY_NVCC"); stated != nullptr && *stated != '\0') {
    std::error_code error;
    if (fs::is_regular_file(stated, error)) return fs::path(stated);
    return Error{"ASSAY_NVCC must be the path of the nvcc compiler", stated};
  }
  for (const fs::path& path : {fs::path(ASSAY_NVCC_ENVIRONMENT) / "nvcc", fs::path("/usr/local/cuda/bin/nvcc")}) {
    std::error_code error;
    if (fs::exists(path, error)) return path;
  }
  if (const std::optional<fs::path> found = cpu::find_program("nvcc")) return *found;
  return Error{
      "host code needs nvcc, which was not found; install the CUDA Toolkit or set ASSAY_NVCC to the path of nvcc"};
}

std::vector<fs::path> toolkit_headers() {
  const Result<fs::path> nvcc = find_nvcc();
  if (!nvcc.ok()) return {};
  const fs::path include = nvcc->parent_path().parent_path() / "include";
  std::error_code error;
  // From CUDA 13 on, the headers of the C++ library are in a folder of their own.
  std::vector<fs::path> folders{include, include / "cccl"};
  std::erase_if(folders, [&](const fs::path& folder) { return !fs::is_directory(folder, error); });
  return folders;
}

std::string nvcc_version(const fs::path& nvcc) {
  const cpu::ProcessResult result = cpu::run_process(nvcc, {"--version"}, kVersionLimit);
  const std::size_t at = result.output.rfind(", V");
  if (at == std::string::npos) return {};
  const std::size_t end = result.output.find_first_not_of("0123456789.", at + 3);
  return result.output.substr(at + 3, end - at - 3);
}

std::string library_identity(const LibraryBuildRequest& request, const fs::path& nvcc) {
  std::string identity = fmt::format("candidate library\n{}\n{}\n{}\n{}", nvcc.string(), nvcc_version(nvcc),
                                     fmt::join(arguments_for(request), " "), source_text(request));
  for (const IncludeFile& file : include_files())
    identity += file.text;
  return identity;
}

std::variant<std::string, BuildFailed> build_library(const LibraryBuildRequest& request, const fs::path& nvcc,
                                                     const fs::path& folder, const fs::path& library) {
  bool written = write(folder / kSourceFile, source_text(request));
  for (const IncludeFile& file : include_files())
    written = written && write(folder / file.name, file.text);
  for (const std::string_view header : kTorchHeaders)
    written = written && write(folder / header, "#include \"tensor.h\"\n");
  if (!written) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure,
                       fmt::format("cannot write the sources to {}; is the disk full?", folder.string())};
  }
  std::vector<std::string> arguments = arguments_for(request);
  arguments.insert(arguments.end(), {"-I", folder.string(), "-o", library.string(), (folder / kSourceFile).string(),
                                     (folder / "cuda_runtime_functions.cpp").string()});
  if (request.source->is_program) arguments.push_back((folder / kRunProgramFile).string());
  cpu::ProcessResult result = cpu::run_process(nvcc, arguments, kCompileLimit);
  if (result.succeeded()) return std::move(result.output);
  if (result.end_reason == cpu::ProcessResult::EndReason::kTimedOut) {
    return BuildFailed{BuildFailed::Kind::kTimedOut,
                       fmt::format("nvcc took longer than {} s", kCompileLimit.count() / 1000)};
  }
  if (result.end_reason == cpu::ProcessResult::EndReason::kNotStarted)
    return BuildFailed{BuildFailed::Kind::kResourceFailure, std::move(result.output)};
  std::string errors = errors_in(result.output);
  std::string limit = limit_in(errors);
  return limit.empty() ? BuildFailed{BuildFailed::Kind::kRejected, std::move(errors)}
                       : BuildFailed{BuildFailed::Kind::kUnsupported, std::move(limit)};
}

}  // namespace assay::candidate
