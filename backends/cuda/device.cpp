#include "backends/cuda/device.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/artifact_files.hpp"
#include "backends/worker/confinement.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"

namespace assay::cuda {

using namespace backends;

namespace {

/// A cache entry: the sizes of log and PTX, then log, PTX and cubin.
std::string to_entry(const CompiledCode& compiled) {
  return fmt::format("{} {}\n{}{}{}", compiled.log.size(), compiled.ptx.size(), compiled.log, compiled.ptx,
                     compiled.cubin);
}

std::optional<CompiledCode> from_entry(const std::string& entry) {
  std::size_t log = 0;
  std::size_t ptx = 0;
  const char* const end = entry.data() + entry.size();
  const auto first = std::from_chars(entry.data(), end, log);
  if (first.ec != std::errc{} || first.ptr == end) {
    return std::nullopt;
  }
  const auto second = std::from_chars(first.ptr + 1, end, ptx);
  if (second.ec != std::errc{} || second.ptr == end) {
    return std::nullopt;
  }
  const auto at = static_cast<std::size_t>(second.ptr + 1 - entry.data());
  if (entry.size() - at < log || entry.size() - at - log < ptx) {
    return std::nullopt;
  }
  return CompiledCode{
      .ptx = entry.substr(at + log, ptx), .cubin = entry.substr(at + log + ptx), .log = entry.substr(at, log)};
}

std::filesystem::path value_or_fallback(const std::filesystem::path& chosen, const std::filesystem::path& fallback) {
  return chosen.empty() ? fallback : chosen;
}

/// Converts "sm_90" to "compute_90" and vice versa.
std::string virtual_of(const std::string& architecture) {
  return "compute" + architecture.substr(architecture.find('_'));
}

}  // namespace

CudaDevice::CudaDevice(CudaOptions options)
    : options_(std::move(options)), nvrtc_(Nvrtc::load()), driver_(Driver::load()), scratch_(Error{"no GPU found"}) {
  const std::filesystem::path folder = value_or_fallback(options_.cache_directory, default_cache_directory());
  options_.worker_executable = value_or_fallback(options_.worker_executable, "/proc/self/exe");
  if (options_.uses_build_cache) {
    if (auto cache = BuildCache::open(folder, options_.max_cache_bytes)) {
      cache_ = cache.take();
    }
  }
  find_gpus();
  if (!gpus_.empty()) {
    scratch_ = make_artifact_directory(folder);
  }
}

void CudaDevice::find_gpus() {
  if (!driver_) {
    no_gpu_reason_ = driver_.error().message;
    return;
  }
  std::vector<int> chosen(static_cast<std::size_t>(driver_->device_count()));
  std::iota(chosen.begin(), chosen.end(), 0);
  for (const int ordinal : options_.gpu_ordinals.value_or(chosen)) {
    Result<GpuProperties> gpu = find_gpu(*driver_, ordinal);
    if (!gpu) {
      no_gpu_reason_ = gpu.error().message;
      gpus_.clear();
      return;
    }
    gpus_.push_back(gpu.take());
  }
}

Capability CudaDevice::can_build() const {
  if (!nvrtc_) {
    return {false, nvrtc_.error().message};
  }
  return {true, fmt::format("NVRTC {} ({})", nvrtc_->version(), nvrtc_->library())};
}

Capability CudaDevice::can_run() const {
  if (!nvrtc_) {
    return {false, nvrtc_.error().message};
  }
  if (gpus_.empty()) {
    return {false, no_gpu_reason_};
  }
  if (!scratch_) {
    return {false, scratch_.error().text()};
  }
  std::vector<std::string> descriptions;
  for (const GpuProperties& gpu : gpus_) {
    descriptions.push_back(gpu.description());
  }
  return {true, fmt::format("{}, driver supports CUDA {}", fmt::join(descriptions, "; "), driver_->version())};
}

/// For each GPU its own architecture, or else PTX for the newest older architecture that NVRTC supports.
std::vector<std::string> CudaDevice::architectures(Precision precision) const {
  if (gpus_.empty()) {
    return precision == Precision::kNative ? options_.native_precision_architectures
                                           : options_.f64_promotion_architectures;
  }
  std::vector<std::string> chosen;
  for (const GpuProperties& gpu : gpus_) {
    std::string architecture = gpu.architecture();
    for (int number = gpu.compute_capability_major * 10 + gpu.compute_capability_minor;
         number > 0 && !nvrtc_->supports(architecture); --number) {
      architecture = fmt::format("compute_{}", number - 1);
    }
    if (std::ranges::find(chosen, architecture) == chosen.end()) chosen.push_back(architecture);
  }
  return chosen;
}

std::string CudaDevice::build_command(const BuildFlags& flags) const {
  const std::vector<std::string> known = nvrtc_ ? architectures(Precision::kNative) : std::vector<std::string>();
  if (known.empty()) return {};
  return nvcc_command({.architecture = known.front(), .flags = flags, .emit_line_info = options_.emit_line_info});
}

std::vector<BuildOutcome> CudaDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  if (!nvrtc_) {
    return std::vector<BuildOutcome>(kernels.size(),
                                     BuildFailed{BuildFailed::Kind::kResourceFailure, nvrtc_.error().message});
  }
  std::vector<BuildOutcome> outcomes(kernels.size());
  for_each_index_in_parallel(kernels.size(), options_.jobs,
                             [&](std::size_t i) { outcomes[i] = build_kernel(kernels[i], flags); });
  return outcomes;
}

BuildOutcome CudaDevice::build_kernel(const EmittedKernel& kernel, const BuildFlags& flags) {
  BuiltKernel built{.name = kernel.name,
                    .entry_points = {},
                    .artifacts = {},
                    .target_architectures = {},
                    .log = {},
                    .is_from_cache = true};
  for (const Precision precision : {Precision::kNative, Precision::kPromoted}) {
    for (const std::string& architecture : architectures(precision)) {
      if (!nvrtc_->supports(architecture)) {
        continue;
      }
      const NvrtcOptions options{.architecture = architecture,
                                 .flags = flags,
                                 .precision = precision,
                                 .emit_line_info = options_.emit_line_info,
                                 .omits_runtime_declarations = true};
      bool is_from_cache = false;
      CompileOutcome outcome = compile(kernel, options, is_from_cache);
      if (auto* failed = std::get_if<BuildFailed>(&outcome)) {
        failed->log.insert(0,
                           fmt::format("NVRTC {} for {}, {}:\n", nvrtc_->version(), architecture, to_text(precision)));
        return std::move(*failed);
      }
      auto& compiled = std::get<CompiledCode>(outcome);
      built.is_from_cache = built.is_from_cache && is_from_cache;
      built.log += compiled.log;
      if (const Result<void> added = add_artifacts(built, std::move(compiled), options); !added) {
        return BuildFailed{BuildFailed::Kind::kResourceFailure, added.error().text()};
      }
    }
    for (const EntryPoint& entry : kernel.entry_points) {
      built.entry_points.push_back({.pass = entry.pass,
                                    .precision = precision,
                                    .symbol = entry.symbol,
                                    .parameter_count = entry.parameter_types.size(),
                                    .required_block_threads = entry.required_block_threads});
    }
  }
  if (built.artifacts.empty()) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure,
                       fmt::format("NVRTC {} supports none of the architectures {}", nvrtc_->version(),
                                   fmt::join(options_.native_precision_architectures, ", "))};
  }
  return built;
}

/// Adds the cubin, if any, and for a GPU also the PTX, which the driver compiles if it rejects the cubin.
Result<void> CudaDevice::add_artifacts(BuiltKernel& built, CompiledCode compiled, const NvrtcOptions& options) {
  bool written = true;
  const bool is_cubin = !compiled.cubin.empty();
  if (is_cubin) {
    built.artifacts.push_back(to_artifact({.kind = Artifact::Kind::kCubin,
                                           .precision = options.precision,
                                           .architecture = options.architecture,
                                           .path = {},
                                           .content = std::move(compiled.cubin)},
                                          written));
  }
  if (!is_cubin || !gpus_.empty()) {
    built.artifacts.push_back(to_artifact({.kind = Artifact::Kind::kPtx,
                                           .precision = options.precision,
                                           .architecture = virtual_of(options.architecture),
                                           .path = {},
                                           .content = std::move(compiled.ptx)},
                                          written));
  }
  if (!written) {
    return Error{"cannot write the compiled kernel; is the disk full?", scratch_->path().string()};
  }
  return {};
}

/// For a GPU, also writes a file for workers to load; clears `written` if that fails.
std::shared_ptr<const Artifact> CudaDevice::to_artifact(Artifact artifact, bool& written) {
  if (!scratch_) {
    return std::make_shared<const Artifact>(std::move(artifact));
  }
  artifact.path = scratch_->path() / fmt::format("{}.{}", next_file_number_.fetch_add(1),
                                                 artifact.kind == Artifact::Kind::kCubin ? "cubin" : "ptx");
  written = write_file(artifact.path, artifact.content) && written;
  return with_file(std::move(artifact));
}

CompileOutcome CudaDevice::compile(const EmittedKernel& kernel, const NvrtcOptions& options, bool& is_from_cache) {
  const std::string source = kernel.source();
  const std::string file = kernel.name + ".cu";
  const std::string key = sha256_hex(
      fmt::format("nvrtc {}\n{}\n{}\n{}", nvrtc_->version(), fmt::join(nvrtc_arguments(options), " "), file, source));
  if (cache_ != nullptr) {
    if (const auto entry = cache_->read(key)) {
      if (auto compiled = from_entry(*entry)) {
        is_from_cache = true;
        return std::move(*compiled);
      }
    }
  }
  CompileOutcome outcome = nvrtc_->compile(source, file, options);
  if (const auto* compiled = std::get_if<CompiledCode>(&outcome); compiled != nullptr && cache_ != nullptr) {
    // A failed cache write only costs time in the next run.
    static_cast<void>(cache_->write(key, to_entry(*compiled)));
  }
  return outcome;
}

Result<std::unique_ptr<DeviceSession>> CudaDevice::open(const SessionLimits& limits) {
  if (const Capability capability = can_run(); !capability.is_available) {
    return Error{capability.tool_or_reason};
  }
  return open_session(limits, gpus_[opened_session_count_++ % gpus_.size()], options_.device_memory_limit_bytes,
                      options_.worker_executable);
}

std::string CudaDevice::confinement() { return worker::describe({}); }

std::vector<std::filesystem::path> CudaDevice::compiler_files() const {
  if (!nvrtc_.ok()) return {};
  return {nvrtc_->library_file()};
}

Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options) {
  CudaOptions cuda{.device_memory_limit_bytes = options.device_memory_limit_bytes};
  const Result<std::optional<int>> number = parse_gpu_number(options.gpu_number_or_all);
  if (!number) return number.error();
  if (*number) cuda.gpu_ordinals = {**number};
  else cuda.gpu_ordinals.reset();
  return std::unique_ptr<backends::Device>(std::make_unique<CudaDevice>(cuda));
}

}  // namespace assay::cuda
