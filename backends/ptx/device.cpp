#include "backends/ptx/device.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/ptx/parse/module.hpp"
#include "backends/ptx/session.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"

namespace assay::ptx {

using namespace backends;

PtxDevice::PtxDevice(PtxOptions options) : options_(std::move(options)), nvrtc_(cuda::Nvrtc::load()) {
  if (nvrtc_) {
    for (const std::string& architecture : options_.architectures) {
      if (nvrtc_->supports(architecture)) architectures_.push_back(architecture);
    }
  }
  if (options_.use_cache) {
    const std::filesystem::path& chosen = options_.cache_directory;
    if (auto cache = BuildCache::open(chosen.empty() ? default_cache_directory() : chosen, options_.cache_bytes)) {
      cache_ = cache.take();
    }
  }
}

Capability PtxDevice::can_build() const {
  if (!nvrtc_) return {false, nvrtc_.error().message};
  if (architectures_.empty()) {
    return {false,
            fmt::format("NVRTC {} supports none of {}", nvrtc_->version(), fmt::join(options_.architectures, ", "))};
  }
  return {true, fmt::format("NVRTC {} for {}", nvrtc_->version(), fmt::join(architectures_, ", "))};
}

Capability PtxDevice::can_run() const {
  const Capability build = can_build();
  if (!build.available) return build;
  if (options_.tables == nullptr) return {true, "PTX executed on the CPU"};
  return {true, fmt::format("PTX executed on the CPU, with approximations measured on {}", options_.tables->device)};
}

std::string PtxDevice::build_command(const BuildFlags& flags) const {
  if (architectures_.empty()) return {};
  return cuda::nvcc_command({.architecture = architectures_.front(), .flags = flags, .line_info = true});
}

std::vector<BuildOutcome> PtxDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  if (const Capability capability = can_build(); !capability.available) {
    return std::vector<BuildOutcome>(kernels.size(), BuildFailed{BuildFailed::Kind::kResource, capability.detail});
  }
  std::vector<BuildOutcome> outcomes(kernels.size());
  for_each_index(kernels.size(), options_.jobs, [&](std::size_t i) { outcomes[i] = build_kernel(kernels[i], flags); });
  return outcomes;
}

BuildOutcome PtxDevice::build_kernel(const EmittedKernel& kernel, const BuildFlags& flags) {
  BuiltKernel built{
      .name = kernel.name, .entries = {}, .artifacts = {}, .targets = architectures_, .log = {}, .from_cache = true};
  for (const Precision precision : {Precision::kNative, Precision::kPromoted}) {
    for (const std::string& architecture : architectures_) {
      const cuda::NvrtcOptions options{
          .architecture = architecture, .flags = flags, .precision = precision, .line_info = true};
      bool from_cache = false;
      BuildFailed failed;
      Result<std::string> text = compile(kernel, options, from_cache, failed);
      if (!text) return failed;
      built.from_cache = built.from_cache && from_cache;
      built.artifacts.push_back(std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPtx,
                                                                          .precision = precision,
                                                                          .architecture = architecture,
                                                                          .path = {},
                                                                          .content = text.take()}));
    }
    for (const EntryPoint& entry : kernel.entries) {
      built.entries.push_back({.pass = entry.pass,
                               .precision = precision,
                               .symbol = entry.symbol,
                               .parameter_count = entry.parameter_types.size(),
                               .block_threads = entry.block_threads});
    }
  }
  return built;
}

/// Returns the PTX, from the cache if possible.
Result<std::string> PtxDevice::compile(const EmittedKernel& kernel, const cuda::NvrtcOptions& options, bool& from_cache,
                                       BuildFailed& failed) {
  const std::string source = kernel.source();
  const std::string file = kernel.name + ".cu";
  const std::string key = sha256_hex(fmt::format("ptx {}\n{}\n{}\n{}", nvrtc_->version(),
                                                 fmt::join(cuda::nvrtc_arguments(options), " "), file, source));
  if (cache_ != nullptr) {
    if (auto entry = cache_->read(key)) {
      from_cache = true;
      return std::move(*entry);
    }
  }
  cuda::CompileOutcome outcome = nvrtc_->compile(source, file, options);
  if (auto* rejected = std::get_if<BuildFailed>(&outcome)) {
    failed = std::move(*rejected);
    failed.log.insert(
        0, fmt::format("NVRTC {} for {}, {}:\n", nvrtc_->version(), options.architecture, to_text(options.precision)));
    return Error{"compilation failed"};
  }
  std::string text = std::move(std::get<cuda::CompiledCode>(outcome).ptx);
  // A failed cache write only costs time in the next run.
  if (cache_ != nullptr) static_cast<void>(cache_->write(key, text));
  return text;
}

Result<std::unique_ptr<Session>> PtxDevice::open(const SessionLimits& limits) {
  if (const Capability capability = can_run(); !capability.available) return Error{capability.detail};
  return std::unique_ptr<Session>(std::make_unique<PtxSession>(limits, options_));
}

Checks checks_without(const std::vector<std::string>& names) {
  Checks checks;
  for (const CheckRow& row : kChecks) {
    if (std::ranges::find(names, row.name) != names.end()) checks.*row.member = false;
  }
  return checks;
}

Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options) {
  PtxOptions ptx{.checks = checks_without(options.no_checks), .cache_directory = options.cache};
  if (!options.tables.empty()) {
    Result<Tables> tables = read_tables(options.tables);
    if (!tables.ok()) return tables.error();
    ptx.tables = std::make_shared<const Tables>(tables.take());
  }
  return std::unique_ptr<backends::Device>(std::make_unique<PtxDevice>(std::move(ptx)));
}

}  // namespace assay::ptx
