#include "backends/cuda/nvrtc/nvrtc.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/shared_object.hpp"

namespace assay::cuda {

using backends::BuildFailed;

namespace {

std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("ASSAY_NVRTC"); chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  std::vector<std::string> folders{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0') {
      folders.push_back(fmt::format("{}/lib64/", home));
    }
  }
  folders.insert(folders.end(), {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/", "/opt/cuda/lib64/"});
  std::vector<std::string> paths;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    for (const std::string& folder : folders) {
      paths.push_back(folder + name);
    }
  }
  return paths;
}

/// The folder into which ci/setup-compilers installs each version.
const std::filesystem::path kInstalled = ASSAY_NVRTC_VERSIONS;

/// The numbers of a version such as "13.0.88".
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  while (!version.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
    numbers.push_back(error == std::errc{} ? number : 0);
    version.remove_prefix(std::min<std::size_t>(version.size(), static_cast<std::size_t>(end - version.data()) + 1));
  }
  return numbers;
}

/// The library of an installed version; empty if that version is not installed.
std::string library_of(const std::string& version) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(kInstalled / version, error)) {
    if (file.path().filename().string().starts_with("libnvrtc.so")) return file.path().string();
  }
  return {};
}

constexpr std::string_view kFastCompile = "--Ofast-compile=max";
constexpr std::string_view kMinimal = "--minimal";

const char* boolean(bool value) { return value ? "true" : "false"; }

/// Reads text through a pair of NVRTC functions. The size includes the terminating zero, which cubins lack.
template <typename SizeOf, typename Get>
std::string read(NvrtcProgram program, SizeOf size_of, Get get, bool zero_terminated) {
  std::size_t size = 0;
  if (size_of(program, &size) != kNvrtcSuccess || size == 0) {
    return {};
  }
  std::string text(size, '\0');
  if (get(program, text.data()) != kNvrtcSuccess) {
    return {};
  }
  if (zero_terminated) {
    text.pop_back();
  }
  return text;
}

Result<std::string> ptx_of(const Nvrtc& nvrtc, const backends::EmittedKernel& kernel, backends::Precision precision) {
  CompileOutcome outcome = nvrtc.compile(kernel.source(), "kernel.cu", {.precision = precision});
  if (const auto* rejected = std::get_if<backends::BuildFailed>(&outcome))
    return Error{"NVRTC rejected the kernel: " + rejected->log, kernel.name};
  return std::move(std::get<CompiledCode>(outcome).ptx);
}

}  // namespace

std::vector<std::string> nvrtc_arguments(const NvrtcOptions& options) {
  const backends::BuildFlags& flags = options.flags;
  std::vector<std::string> arguments{
      "--std=c++17",
      "--gpu-architecture=" + options.architecture,
      fmt::format("--fmad={}", boolean(flags.contracts_multiply_add)),
      fmt::format("--ftz={}", boolean(flags.flushes_subnormals)),
      fmt::format("--prec-div={}", boolean(flags.has_precise_division)),
      fmt::format("--prec-sqrt={}", boolean(flags.has_precise_square_root)),
  };
  if (flags.uses_approximate_functions) {
    arguments.emplace_back("--use_fast_math");
  }
  if (options.precision == backends::Precision::kPromoted) {
    arguments.emplace_back("--define-macro=ASSAY_REAL=double");
  }
  if (options.disables_optimizations) {
    arguments.emplace_back("--device-debug");
  } else if (options.emit_line_info) {
    arguments.emplace_back("--generate-line-info");
  }
  if (flags.fast_compile) {
    arguments.emplace_back(kFastCompile);
  }
  if (options.omits_runtime_declarations) arguments.emplace_back(kMinimal);
  for (const std::filesystem::path& folder : options.include_folders)
    arguments.push_back("--include-path=" + folder.string());
  return arguments;
}

std::string nvcc_command(const NvrtcOptions& options) {
  std::vector<std::string> arguments = nvrtc_arguments(options);
  std::erase(arguments, kMinimal);  // nvcc has no such option
  return fmt::format("nvcc --ptx {} kernel.cu", fmt::join(arguments, " "));
}

Result<Nvrtc> Nvrtc::load() { return load_first(candidates()); }

Result<Nvrtc> Nvrtc::load(const std::string& which) {
  if (which.empty()) return load();
  if (which.find('/') != std::string::npos) return load_first({{which}});
  const std::string path = library_of(which);
  if (path.empty()) {
    const std::vector<std::string> versions = installed_nvrtc_versions();
    return Error{
        fmt::format("NVRTC {} is not installed; run ci/setup-compilers to install the versions listed in "
                    "ci/nvrtc-versions.txt; installed versions: {}",
                    which, versions.empty() ? "none" : fmt::format("{}", fmt::join(versions, ", ")))};
  }
  return load_first({{path}});
}

std::vector<std::string> installed_nvrtc_versions() {
  std::vector<std::string> versions;
  std::error_code error;
  for (const auto& folder : std::filesystem::directory_iterator(kInstalled, error)) {
    const std::string version = folder.path().filename().string();
    if (!library_of(version).empty()) versions.push_back(version);
  }
  std::ranges::sort(versions, {}, numbers_of);
  return versions;
}

Result<Nvrtc> Nvrtc::load_first(std::span<const std::string> paths) {
  const Result<backends::SharedObject> library = backends::SharedObject::open(paths);
  if (!library) {
    return Error{"no NVRTC", library.error().message};
  }
  Nvrtc nvrtc;
  nvrtc.library_name_or_path_ = library->name();
#define ASSAY_LOAD(symbol, result, parameters)                       \
  if (!library->find(#symbol, nvrtc.symbol##_)) {                    \
    return Error{"no NVRTC", library->name() + " lacks " + #symbol}; \
  }
  ASSAY_NVRTC_SYMBOLS(ASSAY_LOAD)
#undef ASSAY_LOAD

  int count = 0;
  if (nvrtc.nvrtcVersion_(&nvrtc.major_version_, &nvrtc.minor_version_) != kNvrtcSuccess ||
      nvrtc.nvrtcGetNumSupportedArchs_(&count) != kNvrtcSuccess) {
    return Error{"no NVRTC", library->name() + " does not report its version"};
  }
  nvrtc.supported_architectures_.resize(static_cast<std::size_t>(count));
  if (nvrtc.nvrtcGetSupportedArchs_(nvrtc.supported_architectures_.data()) != kNvrtcSuccess) {
    return Error{"no NVRTC", library->name() + " does not report its architectures"};
  }
  return nvrtc;
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_version_, minor_version_); }

std::string Nvrtc::full_version() const {
  constexpr std::string_view kBefore = ", V";  // "// Cuda compilation tools, release 13.0, V13.0.88"
  const CompileOutcome outcome = compile("__global__ void empty() {}", "empty.cu", {});
  const auto* const code = std::get_if<CompiledCode>(&outcome);
  const std::size_t at = code == nullptr ? std::string::npos : code->ptx.find(kBefore);
  if (at == std::string::npos) return version();
  const std::size_t begin = at + kBefore.size();
  return code->ptx.substr(begin, code->ptx.find('\n', begin) - begin);
}

bool Nvrtc::supports(std::string_view architecture) const {
  const std::string_view digits = architecture.substr(std::min(architecture.find('_') + 1, architecture.size()));
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && std::ranges::find(supported_architectures_, number) != supported_architectures_.end();
}

CompileOutcome Nvrtc::compile(const std::string& source, const std::string& name, const NvrtcOptions& options) const {
  NvrtcProgram program = nullptr;
  const NvrtcResult created = nvrtcCreateProgram_(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (created != kNvrtcSuccess) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure, fmt::format("NVRTC: {}", nvrtcGetErrorString_(created))};
  }
  std::vector<std::string> arguments = nvrtc_arguments(options);
  if (major_version_ < 13) std::erase(arguments, kFastCompile);
  if (std::pair(major_version_, minor_version_) < std::pair(12, 4)) std::erase(arguments, kMinimal);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  const NvrtcResult result = nvrtcCompileProgram_(program, static_cast<int>(pointers.size()), pointers.data());
  std::string log = read(program, nvrtcGetProgramLogSize_, nvrtcGetProgramLog_, true);
  CompileOutcome outcome;
  if (result == kNvrtcSuccess) {
    CompiledCode compiled{
        .ptx = read(program, nvrtcGetPTXSize_, nvrtcGetPTX_, true), .cubin = {}, .log = std::move(log)};
    if (options.architecture.starts_with("sm_")) {
      compiled.cubin = read(program, nvrtcGetCUBINSize_, nvrtcGetCUBIN_, false);
    }
    outcome = std::move(compiled);
  } else if (result == kNvrtcErrorCompilation) {
    outcome = BuildFailed{BuildFailed::Kind::kRejected, std::move(log)};
  } else {
    outcome = BuildFailed{BuildFailed::Kind::kResourceFailure,
                          fmt::format("NVRTC: {}\n{}", nvrtcGetErrorString_(result), log)};
  }
  nvrtcDestroyProgram_(&program);
  return outcome;
}

std::filesystem::path Nvrtc::library_file() const {
  std::error_code error;
  return std::filesystem::canonical(library_name_or_path_, error);
}

Result<bool> same_compiled_code(const backends::EmittedKernel& a, const backends::EmittedKernel& b) {
  const Result<Nvrtc> nvrtc = Nvrtc::load();
  if (!nvrtc.ok()) return nvrtc.error();
  for (const backends::Precision precision : {backends::Precision::kNative, backends::Precision::kPromoted}) {
    const Result<std::string> first = ptx_of(*nvrtc, a, precision);
    const Result<std::string> second = ptx_of(*nvrtc, b, precision);
    if (!first.ok() || !second.ok()) return (first.ok() ? second : first).error();
    if (*first != *second) return false;
  }
  return true;
}

}  // namespace assay::cuda
