#include "backends/candidate/host/compiler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/candidate/host/call.hpp"
#include "backends/candidate/host/fat_binary.hpp"
#include "backends/candidate/host/include_texts.hpp"
#include "backends/cpu/process.hpp"
#include "support/referenced_files.hpp"

namespace assay::candidate {

using backends::BuildFailed;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kCompileLimit{120'000};
constexpr std::chrono::milliseconds kVersionLimit{20'000};

constexpr const char* kRuntimeFile = "cuda_runtime_functions.cpp";
constexpr const char* kRunProgramFile = "run_program.cpp";
/// The first clang that compiles with the headers of CUDA 13.
constexpr int kOldestClang = 19;

struct IncludeFile {
  std::string_view name;
  std::string_view text;
};
std::array<IncludeFile, 7> include_files() {
  return {{{"call.hpp", kCallHeader},
           {"device_memory.h", kDeviceMemoryHeader},
           {"tensor.h", kTensorHeader},
           {"call_function.h", kCallFunctionHeader},
           {kRuntimeFile, kCudaRuntimeFunctions},
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
      "extern \"C\" std::int32_t {}(const assay::candidate::CallArguments* assay_call) {{\n"
      "  return assay::candidate::call_function(&{}, *assay_call);\n}}\n",
      symbol, function);
}

std::string source_text(const LibraryBuildRequest& request) {
  if (request.source->is_program) return fmt::format("#include \"program.h\"\n{}", request.source->text);
  // Before the candidate, whose macros may have any names.
  std::string text = fmt::format("#include \"call_function.h\"\n{}\n#line 1 \"assay_call\"\n{}", request.source->text,
                                 caller_text(kCallSymbol, request.host_function_name));
  if (!request.backward_function_name.empty()) text += caller_text(kCallBackwardSymbol, request.backward_function_name);
  return text;
}

std::string content_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

BuildFailed cannot_write(const fs::path& folder) {
  return {BuildFailed::Kind::kResourceFailure,
          fmt::format("cannot write the sources to {}; is the disk full?", folder.string())};
}

/// The version after "version " in what clang prints: "19.1.7"; empty if there is none.
std::string clang_version(const fs::path& clang) {
  constexpr std::string_view kWord = "version ";
  const cpu::ProcessResult result = cpu::run_process(clang, {"--version"}, kVersionLimit);
  const std::size_t at = result.succeeded() ? result.output.find(kWord) : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kWord.size();
  return result.output.substr(begin, result.output.find_first_not_of("0123456789.", begin) - begin);
}

bool write(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

bool write_include_files(const fs::path& folder) {
  const auto files = include_files();
  return std::ranges::all_of(files, [&](const IncludeFile& file) { return write(folder / file.name, file.text); });
}

/// The compiler's arguments that the flags of a candidate amount to.
std::vector<std::string> flags_for(const LibraryBuildRequest& request, bool is_clang) {
  std::vector<std::string> arguments;
  bool states_standard = false;
  for (const std::string& flag : request.source->flags) {
    states_standard |= flag.starts_with("--std");
    if (!is_clang || flag.starts_with("-D") || flag.starts_with("--std")) arguments.push_back(flag);
    else if (flag == "--use_fast_math")
      arguments.insert(arguments.end(), {"-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals"});
    else if (flag == "--ftz=true") arguments.emplace_back("-fgpu-flush-denormals-to-zero");
    else if (flag == "--fmad=false") arguments.emplace_back("-ffp-contract=off");
    // clang always divides and takes roots precisely, and needs no flag for extensions.
  }
  if (!states_standard) arguments.emplace_back("-std=c++17");
  return arguments;
}

/// The arguments that name the folders of headers: Assay's own, then the candidate's.
std::vector<std::string> include_arguments(const LibraryBuildRequest& request, const fs::path& folder) {
  std::vector<std::string> arguments{"-I", folder.string()};
  std::error_code error;
  if (!request.cuda_file.empty())
    arguments.insert(arguments.end(), {"-I", fs::absolute(request.cuda_file, error).parent_path().string()});
  return arguments;
}

/// The definition of the macro with the compute capability of an architecture: 90 for "compute_90a".
std::string capability_definition(const std::string& architecture) {
  std::string digits;
  std::ranges::copy_if(architecture, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  return "-DASSAY_COMPUTE_CAPABILITY=" + digits;
}

/// Flags of the linker for a program: it ends with exit(), which must not end the worker.
constexpr const char* kProgramLinkFlags = "--wrap=exit,-Bsymbolic";

std::vector<std::string> arguments_for(const LibraryBuildRequest& request) {
  std::vector<std::string> arguments{"-shared", "-Xcompiler",    "-fPIC",
                                     "-cudart", "none",          "-lineinfo",
                                     "-w",      "--no-compress", "--expt-relaxed-constexpr"};  // as PyTorch does
  arguments.push_back("-gencode");
  arguments.push_back(fmt::format("arch={0},code={0}", request.architecture));
  arguments.push_back(capability_definition(request.architecture));
  if (request.source->is_program)
    arguments.insert(arguments.end(), {"-Xlinker", kProgramLinkFlags, "-Xcompiler", "-fno-gnu-unique"});
  for (std::string& flag : flags_for(request, false))
    arguments.push_back(std::move(flag));
  return arguments;
}

/// The arguments of clang that both compilations of a source have in common.
std::vector<std::string> clang_arguments_for(const LibraryBuildRequest& request, const HostCompiler& compiler) {
  std::string architecture = request.architecture;  // "compute_80"
  if (const std::size_t at = architecture.find('_'); at != std::string::npos) architecture.replace(0, at, "sm");
  std::vector<std::string> arguments{"-x",   "cuda", "--cuda-gpu-arch=" + architecture,
                                     "-w",   "-O2",  "--cuda-path=" + compiler.toolkit.string(),
                                     "-fPIC"};
  for (std::string& flag : flags_for(request, true))
    arguments.push_back(std::move(flag));
  return arguments;
}

std::vector<std::string> runtime_arguments_for(const LibraryBuildRequest& request, const HostCompiler& compiler) {
  std::vector<std::string> arguments{"-c", "-w", "-std=c++17", capability_definition(request.architecture)};
  if (compiler.is_clang) arguments.insert(arguments.end(), {"-fPIC", "-I", (compiler.toolkit / "include").string()});
  else arguments.insert(arguments.end(), {"-Xcompiler", "-fPIC"});
  if (!compiler.is_clang && request.source->is_program)
    arguments.insert(arguments.end(), {"-Xcompiler", "-fno-gnu-unique"});
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

bool is_part_of_torch(std::string_view scope) {
  return scope.starts_with("torch") || scope.starts_with("at") || scope.starts_with("c10") ||
         scope.ends_with("Tensor") || scope.ends_with("TensorOptions");
}

/// The header that an error of nvcc or clang calls missing; empty for another error.
std::string_view missing_header(std::string_view error) {
  constexpr std::string_view kNoFile = ": No such file or directory";  // nvcc
  if (const std::size_t end = error.find(kNoFile); end != std::string_view::npos) {
    const std::size_t begin = error.rfind(' ', end) + 1;
    return error.substr(begin, end - begin);
  }
  constexpr std::string_view kNotFound = "' file not found";  // clang
  const std::size_t end = error.find(kNotFound);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = error.rfind('\'', end - 1) + 1;
  return error.substr(begin, end - begin);
}

/// The function of PyTorch or the header of a library that an error of the compiler calls missing; empty if the error
/// is of another kind.
std::string missing_library_part(std::string_view error) {
  constexpr std::string_view kNoMember = " has no member ";
  if (const std::size_t at = error.find(kNoMember); at != std::string_view::npos) {
    const std::string_view scope = quoted_text(error, error.find(" error"));
    return is_part_of_torch(scope) ? fmt::format("{}::{}", scope, quoted_text(error, at + kNoMember.size()))
                                   : std::string();
  }
  // clang: no member named 'softmax' in namespace 'torch'
  constexpr std::string_view kNoMemberNamed = "no member named '";
  if (const std::size_t at = error.find(kNoMemberNamed); at != std::string_view::npos) {
    const std::size_t name = at + kNoMemberNamed.size();
    const std::size_t name_end = error.find('\'', name);
    const std::size_t scope = name_end == std::string_view::npos ? name_end : error.find('\'', name_end + 1);
    const std::size_t scope_end = scope == std::string_view::npos ? scope : error.find('\'', scope + 1);
    if (scope_end == std::string_view::npos) return {};
    const std::string_view in = error.substr(scope + 1, scope_end - scope - 1);
    return is_part_of_torch(in) ? fmt::format("{}::{}", in, error.substr(name, name_end - name)) : std::string();
  }
  const std::string_view header = missing_header(error);
  if (header.empty()) return {};
  static constexpr std::array<std::string_view, 10> kLibraries{"torch/",   "ATen/",    "c10/",   "cublas", "cudnn",
                                                               "cusparse", "cusolver", "curand", "cufft",  "cutlass/"};
  const bool is_library = std::ranges::any_of(kLibraries, [&](auto prefix) { return header.starts_with(prefix); });
  return is_library ? std::string(header) : std::string();
}

/// Why the compiler's errors, one in each line, are a limit of Assay; empty if at least one is the candidate's mistake.
std::string limit_in(const std::string& errors) {
  // clang does not know the newest targets.
  if (errors.find("unsupported CUDA gpu architecture") != std::string::npos) return errors;
  std::string missing;
  for (std::size_t at = 0; at < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string_view line = std::string_view(errors).substr(at, end - at);
    at = end + 1;
    if (line.find("error:") == std::string_view::npos && line.find(" error ") == std::string_view::npos) continue;
    const auto ends_list = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    if (ends_list("errors detected") || ends_list("error detected") || ends_list("errors generated") ||
        ends_list("error generated"))
      continue;
    const std::string part = missing_library_part(line);
    if (part.empty()) return {};
    if (missing.find(part) == std::string::npos) missing += (missing.empty() ? "" : ", ") + part;
  }
  return missing.empty() ? missing
                         : fmt::format("the candidate uses {}, which Assay does not provide: {}", missing, errors);
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

Result<fs::path> find_clang() {
  const auto is_recent = [](const fs::path& program) {
    const std::string version = clang_version(program);
    return std::atoi(version.c_str()) >= kOldestClang;
  };
  if (const char* const stated = std::getenv("ASSAY_CLANG"); stated != nullptr && *stated != '\0') {
    if (is_recent(stated)) return fs::path(stated);
    return Error{fmt::format("ASSAY_CLANG must be the path of clang++ {} or later", kOldestClang), stated};
  }
  constexpr int kLatestClang = 29;
  for (int version = kOldestClang; version <= kLatestClang; ++version)
    if (const auto found = cpu::find_program(fmt::format("clang++-{}", version))) return *found;
  if (const auto found = cpu::find_program("clang++"); found && is_recent(*found)) return *found;
  return Error{fmt::format(
      "clang {} or later was not found; run ci/setup-clang or set ASSAY_CLANG to the path of clang++", kOldestClang)};
}

Result<HostCompiler> find_host_compiler(const std::string& name) {
  const Result<fs::path> nvcc = find_nvcc();
  if (!nvcc.ok()) return nvcc.error();
  HostCompiler compiler{.toolkit = nvcc->parent_path().parent_path()};
  compiler.is_clang = name == kHostCompilerNames[1];
  if (!compiler.is_clang) {
    compiler.program = *nvcc;
    compiler.version = nvcc_version(*nvcc);
    return compiler;
  }
  const Result<fs::path> clang = find_clang();
  if (!clang.ok()) return clang.error();
  compiler.program = *clang;
  compiler.version = clang_version(*clang);
  return compiler;
}

std::string runtime_identity(const LibraryBuildRequest& request, const HostCompiler& compiler) {
  std::string identity =
      fmt::format("candidate runtime\n{}\n{}\n{}\n{}\n", compiler.program.string(), compiler.text(),
                  compiler.toolkit.string(), fmt::join(runtime_arguments_for(request, compiler), " "));
  for (const IncludeFile& file : include_files())
    identity += file.text;
  return identity;
}

std::string library_identity(const LibraryBuildRequest& request, const HostCompiler& compiler) {
  std::string identity = fmt::format(
      "candidate library\n{}\n{}\n{}\n{}\n{}", compiler.program.string(), compiler.text(), compiler.toolkit.string(),
      fmt::join(compiler.is_clang ? clang_arguments_for(request, compiler) : arguments_for(request), " "),
      source_text(request));
  for (const IncludeFile& file : include_files())
    identity += file.text;
  if (!request.cuda_file.empty()) {
    for (const fs::path& header : included_files(request.cuda_file))
      identity += fmt::format("\n{}\n{}", header.string(), content_of_file(header));
  }
  return identity;
}

namespace {

/// The outcome of one step of a compilation: its output, or why it failed.
std::variant<std::string, BuildFailed> outcome_of(cpu::ProcessResult result, const HostCompiler& compiler) {
  if (result.succeeded()) return std::move(result.output);
  if (result.end_reason == cpu::ProcessResult::EndReason::kTimedOut) {
    return BuildFailed{BuildFailed::Kind::kTimedOut,
                       fmt::format("{} took longer than {} s", compiler.text(), kCompileLimit.count() / 1000)};
  }
  if (result.end_reason == cpu::ProcessResult::EndReason::kNotStarted)
    return BuildFailed{BuildFailed::Kind::kResourceFailure, std::move(result.output)};
  std::string errors = errors_in(result.output);
  std::string limit = limit_in(errors);
  return limit.empty() ? BuildFailed{BuildFailed::Kind::kRejected, std::move(errors)}
                       : BuildFailed{BuildFailed::Kind::kUnsupported, std::move(limit)};
}

std::variant<std::string, BuildFailed> build_with_nvcc(const LibraryBuildRequest& request, const HostCompiler& compiler,
                                                       const fs::path& runtime, const fs::path& folder,
                                                       const fs::path& library) {
  std::vector<std::string> arguments = arguments_for(request);
  for (std::string& argument : include_arguments(request, folder))
    arguments.push_back(std::move(argument));
  arguments.insert(arguments.end(), {"-o", library.string(), (folder / kSourceFile).string(), runtime.string()});
  if (request.source->is_program) arguments.push_back((folder / kRunProgramFile).string());
  return outcome_of(cpu::run_process(compiler.program, arguments, kCompileLimit), compiler);
}

/// clang compiles the kernels to PTX, then the host code, which contains the PTX.
std::variant<std::string, BuildFailed> build_with_clang(const LibraryBuildRequest& request,
                                                        const HostCompiler& compiler, const fs::path& runtime,
                                                        const fs::path& folder, const fs::path& library) {
  const fs::path ptx = folder / "device.ptx";
  const fs::path fat_binary = folder / "device.fatbin";
  const fs::path object = folder / "candidate.o";
  const auto run = [&](std::vector<std::string> arguments, std::initializer_list<std::string> more) {
    for (std::string& argument : include_arguments(request, folder))
      arguments.push_back(std::move(argument));
    arguments.insert(arguments.end(), {"-I", (compiler.toolkit / "include/cccl").string()});
    arguments.insert(arguments.end(), more);
    return outcome_of(cpu::run_process(compiler.program, arguments, kCompileLimit), compiler);
  };
  // CUDA 13 has no such header, but clang includes it.
  if (!write(folder / "texture_fetch_functions.h", "")) return cannot_write(folder);
  const std::string source = (folder / kSourceFile).string();
  auto device = run(clang_arguments_for(request, compiler),
                    {"--cuda-device-only", "-S", "-gline-tables-only", source, "-o", ptx.string()});
  if (std::holds_alternative<BuildFailed>(device)) return device;
  if (!write(fat_binary, fat_binary_of(content_of_file(ptx)))) return cannot_write(folder);
  auto host =
      run(clang_arguments_for(request, compiler), {"--cuda-host-only", "-c", "-Xclang", "-fcuda-include-gpubinary",
                                                   "-Xclang", fat_binary.string(), source, "-o", object.string()});
  if (std::holds_alternative<BuildFailed>(host)) return host;
  std::vector<std::string> arguments{"-shared",
                                     "-fPIC",
                                     "-w",
                                     "-std=c++17",
                                     "-I",
                                     (compiler.toolkit / "include").string(),
                                     capability_definition(request.architecture)};
  if (request.source->is_program)
    arguments.insert(arguments.end(), {fmt::format("-Wl,{}", kProgramLinkFlags), (folder / kRunProgramFile).string()});
  return run(std::move(arguments), {object.string(), runtime.string(), "-o", library.string()});
}

}  // namespace

std::variant<std::string, BuildFailed> build_runtime(const LibraryBuildRequest& request, const HostCompiler& compiler,
                                                     const fs::path& folder, const fs::path& object) {
  if (!write_include_files(folder)) return cannot_write(folder);
  std::vector<std::string> arguments = runtime_arguments_for(request, compiler);
  arguments.insert(arguments.end(), {"-I", folder.string(), "-o", object.string(), (folder / kRuntimeFile).string()});
  return outcome_of(cpu::run_process(compiler.program, arguments, kCompileLimit), compiler);
}

std::variant<std::string, BuildFailed> build_library(const LibraryBuildRequest& request, const HostCompiler& compiler,
                                                     const fs::path& runtime, const fs::path& folder,
                                                     const fs::path& library) {
  bool written = write(folder / kSourceFile, source_text(request)) && write_include_files(folder);
  for (const std::string_view header : kTorchHeaders)
    written = written && write(folder / header, "#include \"tensor.h\"\n");
  if (!written) return cannot_write(folder);
  return compiler.is_clang ? build_with_clang(request, compiler, runtime, folder, library)
                           : build_with_nvcc(request, compiler, runtime, folder, library);
}

std::variant<std::string, BuildFailed> compile_to_ptx(const HostCompiler& nvcc, std::vector<std::string> arguments,
                                                      const fs::path& file, const fs::path& folder) {
  const fs::path ptx = folder / "candidate.ptx";
  arguments.insert(arguments.end(),
                   {"--ptx", "-w", "--expt-relaxed-constexpr", "-o", ptx.string(), file.string()});  // as PyTorch does
  auto outcome = outcome_of(cpu::run_process(nvcc.program, arguments, kCompileLimit), nvcc);
  if (!std::holds_alternative<BuildFailed>(outcome)) return content_of_file(ptx);
  return outcome;
}

}  // namespace assay::candidate
