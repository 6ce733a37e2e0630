#include "backends/cuda/device.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/parallel.hpp"
#include "ir/support/hash.hpp"

namespace assay::cuda {

using namespace backends;

namespace {

/// An entry of the cache: the sizes of log and PTX, the log, the PTX, the cubin.
std::string to_entry(const Compiled& compiled) {
  return fmt::format("{} {}\n{}{}{}", compiled.log.size(), compiled.ptx.size(), compiled.log, compiled.ptx,
                     compiled.cubin);
}

std::optional<Compiled> from_entry(const std::string& entry) {
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
  return Compiled{
      .ptx = entry.substr(at + log, ptx), .cubin = entry.substr(at + log + ptx), .log = entry.substr(at, log)};
}

std::shared_ptr<const Artifact> to_artifact(Compiled compiled, const NvrtcOptions& options) {
  const bool is_cubin = !compiled.cubin.empty();
  return std::make_shared<const Artifact>(Artifact{.kind = is_cubin ? Artifact::Kind::kCubin : Artifact::Kind::kPtx,
                                                   .lane = options.lane,
                                                   .architecture = options.architecture,
                                                   .path = {},
                                                   .content = std::move(is_cubin ? compiled.cubin : compiled.ptx)});
}

}  // namespace

CudaDevice::CudaDevice(CudaOptions options)
    : options_(std::move(options)), nvrtc_(Nvrtc::load()), driver_(Driver::load()) {
  if (options_.use_cache) {
    const std::filesystem::path& chosen = options_.cache_directory;
    if (auto cache = BuildCache::open(chosen.empty() ? default_cache_directory() : chosen, options_.cache_bytes)) {
      cache_ = cache.take();
    }
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
  if (!driver_) {
    return {false, driver_.error().message};
  }
  return {false, "launching on a GPU is not part of this version"};
}

std::vector<BuildOutcome> CudaDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  if (!nvrtc_) {
    return std::vector<BuildOutcome>(kernels.size(), BuildFailed{BuildFailed::Kind::kResource, nvrtc_.error().message});
  }
  std::vector<BuildOutcome> outcomes(kernels.size());
  for_each_index(kernels.size(), options_.jobs, [&](std::size_t i) { outcomes[i] = build_kernel(kernels[i], flags); });
  return outcomes;
}

BuildOutcome CudaDevice::build_kernel(const EmittedKernel& kernel, const BuildFlags& flags) {
  BuiltKernel built{.name = kernel.name, .entries = {}, .artifacts = {}, .targets = {}, .log = {}, .from_cache = true};
  for (const Lane lane : {Lane::kNative, Lane::kLift}) {
    const auto& architectures = lane == Lane::kNative ? options_.native_architectures : options_.lift_architectures;
    for (const std::string& architecture : architectures) {
      if (!nvrtc_->supports(architecture)) {
        continue;
      }
      const NvrtcOptions options{
          .architecture = architecture, .flags = flags, .lane = lane, .line_info = options_.line_info};
      bool from_cache = false;
      CompileOutcome outcome = compile(kernel, options, from_cache);
      if (auto* failed = std::get_if<BuildFailed>(&outcome)) {
        failed->log.insert(0, fmt::format("NVRTC {} for {}, {}:\n", nvrtc_->version(), architecture, to_text(lane)));
        return std::move(*failed);
      }
      auto& compiled = std::get<Compiled>(outcome);
      built.from_cache = built.from_cache && from_cache;
      built.log += compiled.log;
      built.artifacts.push_back(to_artifact(std::move(compiled), options));
    }
    for (const EntryPoint& entry : kernel.entries) {
      built.entries.push_back({.pass = entry.pass,
                               .lane = lane,
                               .symbol = entry.symbol,
                               .parameter_count = entry.parameter_types.size(),
                               .block_threads = entry.block_threads});
    }
  }
  if (built.artifacts.empty()) {
    return BuildFailed{BuildFailed::Kind::kResource,
                       fmt::format("NVRTC {} knows none of the architectures {}", nvrtc_->version(),
                                   fmt::join(options_.native_architectures, ", "))};
  }
  return built;
}

CompileOutcome CudaDevice::compile(const EmittedKernel& kernel, const NvrtcOptions& options, bool& from_cache) {
  const std::string source = kernel.source();
  const std::string file = kernel.name + ".cu";
  const std::string key = sha256_hex(
      fmt::format("nvrtc {}\n{}\n{}\n{}", nvrtc_->version(), fmt::join(nvrtc_arguments(options), " "), file, source));
  if (cache_ != nullptr) {
    if (const auto entry = cache_->read(key)) {
      if (auto compiled = from_entry(*entry)) {
        from_cache = true;
        return std::move(*compiled);
      }
    }
  }
  CompileOutcome outcome = nvrtc_->compile(source, file, options);
  if (const auto* compiled = std::get_if<Compiled>(&outcome); compiled != nullptr && cache_ != nullptr) {
    // A cache that cannot be written costs time in the next run and nothing in this one.
    static_cast<void>(cache_->write(key, to_entry(*compiled)));
  }
  return outcome;
}

Result<std::unique_ptr<Session>> CudaDevice::open(const SessionLimits&) { return Error{can_run().detail}; }

}  // namespace assay::cuda
