#include "backends/ptx/device.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/batch_source.hpp"
#include "backends/ptx/batch_module.hpp"
#include "backends/ptx/execute/approximation_errors.hpp"
#include "backends/ptx/faulty_compiler.hpp"
#include "backends/ptx/models/self_check.hpp"
#include "backends/ptx/parse/module.hpp"
#include "backends/ptx/session.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"

namespace assay::ptx {

using namespace backends;

namespace {

/// A kernel with a loop of this many trips is optimized in mode fast_compile, too: all launches of such a kernel take
/// about 0.3 ms less for each trip, and the optimized build 0.2 s more.
constexpr std::int64_t kLongLoopTrips = 1024;

std::shared_ptr<const Artifact> artifact_of(std::string ptx, const std::string& architecture, Precision precision) {
  return std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPtx,
                                                   .precision = precision,
                                                   .architecture = architecture,
                                                   .path = {},
                                                   .content = std::move(ptx)});
}

void add_entries(BuiltKernel& built, const EmittedKernel& kernel, Precision precision) {
  for (const EntryPoint& entry : kernel.entry_points) {
    built.entry_points.push_back({.pass = entry.pass,
                                  .precision = precision,
                                  .symbol = entry.symbol,
                                  .parameter_count = entry.parameter_types.size(),
                                  .required_block_threads = entry.required_block_threads});
  }
}

}  // namespace

std::span<const std::string> chosen_architectures(std::span<const std::string> all,
                                                  backends::ArchitectureChoice choice) {
  switch (choice) {
    case backends::ArchitectureChoice::kAll: return all;
    case backends::ArchitectureChoice::kFirst: return all.first(1);
    case backends::ArchitectureChoice::kLast: return all.last(1);
  }
  return all;
}

PtxDevice::PtxDevice(PtxOptions options)
    : options_(std::move(options)), nvrtc_(cuda::Nvrtc::load(options_.nvrtc_version_or_path)) {
  if (nvrtc_) {
    for (const std::string& architecture : options_.architectures) {
      if (nvrtc_->supports(architecture)) supported_architectures_.push_back(architecture);
    }
  }
  if (options_.uses_build_cache) {
    const std::filesystem::path& chosen = options_.cache_directory;
    if (auto cache = BuildCache::open(chosen.empty() ? default_cache_directory() : chosen, options_.max_cache_bytes)) {
      cache_ = cache.take();
    }
  }
}

cuda::NvrtcOptions PtxDevice::nvrtc_options_for(const std::string& architecture, const BuildFlags& flags,
                                                Precision precision) const {
  return {.architecture = architecture,
          .flags = flags,
          .precision = precision,
          .emit_line_info = true,
          .disables_optimizations = options_.disables_optimizations,
          .omits_runtime_declarations = true};
}

Capability PtxDevice::can_build() const {
  if (!nvrtc_) return {false, nvrtc_.error().message};
  if (supported_architectures_.empty()) {
    return {false, fmt::format("NVRTC {} supports none of the architectures {}", nvrtc_->version(),
                               fmt::join(options_.architectures, ", "))};
  }
  return {true, fmt::format("NVRTC {} for {}", nvrtc_->version(), fmt::join(supported_architectures_, ", "))};
}

Capability PtxDevice::can_run() const {
  const Capability build = can_build();
  if (!build.is_available) return build;
  if (options_.tables == nullptr) return {true, "PTX executed on the CPU"};
  return {true, fmt::format("PTX executed on the CPU, with approximate instructions as measured on {}",
                            options_.tables->device)};
}

std::string PtxDevice::build_command(const BuildFlags& flags) const {
  if (supported_architectures_.empty()) return {};
  return cuda::nvcc_command(
      {.architecture = chosen_architectures(supported_architectures_, flags.architectures).front(),
       .flags = flags,
       .emit_line_info = true});
}

std::vector<BuildOutcome> PtxDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  if (const Capability capability = can_build(); !capability.is_available) {
    return std::vector<BuildOutcome>(kernels.size(),
                                     BuildFailed{BuildFailed::Kind::kResourceFailure, capability.tool_or_reason});
  }
  if (flags.compiles_batches) return build_in_batches(kernels, flags);
  std::vector<BuildOutcome> outcomes(kernels.size());
  for_each_index_in_parallel(kernels.size(), options_.jobs,
                             [&](std::size_t i) { outcomes[i] = build_kernel(kernels[i], flags); });
  return outcomes;
}

std::vector<BuildOutcome> PtxDevice::build_in_batches(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  std::vector<BuildOutcome> outcomes(kernels.size());
  std::vector<std::size_t> optimized;
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool needs_optimization = flags.fast_compile && kernels[i].most_constant_trips >= kLongLoopTrips;
    if (needs_optimization) optimized.push_back(i);
    else if (auto cached = find_cached_kernel(kernels[i], flags)) outcomes[i] = std::move(*cached);
    else pending.push_back(i);
  }
  BuildFlags usual = flags;
  usual.fast_compile = false;
  for_each_index_in_parallel(optimized.size(), options_.jobs, [&](std::size_t i) {
    outcomes[optimized[i]] = build_kernel(kernels[optimized[i]], usual);
  });
  const std::size_t size = std::max<std::size_t>(options_.batch_size, 1);
  for_each_index_in_parallel((pending.size() + size - 1) / size, options_.jobs, [&](std::size_t number) {
    const auto positions = std::span(pending).subspan(number * size, std::min(size, pending.size() - number * size));
    std::vector<const EmittedKernel*> batch;
    for (const std::size_t position : positions)
      batch.push_back(&kernels[position]);
    std::vector<BuildOutcome> built =
        build_isolating_failures(batch, [&](auto unit) { return build_batch(unit, flags); });
    for (std::size_t i = 0; i < positions.size(); ++i)
      outcomes[positions[i]] = std::move(built[i]);
  });
  return outcomes;
}

/// Compiles the kernels as one program; a single kernel as its standalone source, so that its log has usual names.
BatchOutcome PtxDevice::build_batch(std::span<const EmittedKernel* const> kernels, const BuildFlags& flags) {
  if (kernels.size() == 1) {
    BuildOutcome outcome = build_kernel(*kernels[0], flags);
    if (auto* failed = std::get_if<BuildFailed>(&outcome)) return FailedBatch{std::move(*failed), {}};
    return BuiltBatch{{std::move(std::get<BuiltKernel>(outcome))}};
  }
  const BatchSource batch = compose_batch(kernels, flags.precisions());
  const std::string& architecture = chosen_architectures(supported_architectures_, flags.architectures).front();
  cuda::CompileOutcome compiled =
      nvrtc_->compile(batch.text, "batch.cu", nvrtc_options_for(architecture, flags, Precision::kNative));
  if (auto* failed = std::get_if<BuildFailed>(&compiled)) {
    std::set<std::size_t> faulty_kernel_positions = blamed_kernels(failed->log);
    return FailedBatch{std::move(*failed), std::move(faulty_kernel_positions)};
  }
  const BatchModule module(std::get<cuda::CompiledCode>(compiled).ptx);
  BuiltBatch unit;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const EmittedKernel& kernel = *kernels[i];
    BuiltKernel built{.name = kernel.name,
                      .entry_points = {},
                      .artifacts = {},
                      .target_architectures = {architecture},
                      .log = {},
                      .promoted_is_native = is_promoted_native(kernel, flags.precisions())};
    std::span<const BuiltEntryPoint> entries = batch.entry_points_by_kernel[i];
    for (const Precision precision : compiled_precisions(kernel, flags.precisions())) {
      std::string ptx = module.extract_kernel_module(kernel, entries.first(kernel.entry_points.size()));
      entries = entries.subspan(kernel.entry_points.size());
      // A failed cache write only costs time in the next run.
      if (cache_ != nullptr)
        static_cast<void>(
            cache_->write(cache_key(kernel, nvrtc_options_for(architecture, flags, precision), true), ptx));
      built.artifacts.push_back(artifact_of(std::move(ptx), architecture, precision));
      add_entries(built, kernel, precision);
    }
    unit.kernels.push_back(std::move(built));
  }
  return unit;
}

std::optional<BuiltKernel> PtxDevice::find_cached_kernel(const EmittedKernel& kernel, const BuildFlags& flags) {
  if (cache_ == nullptr) return std::nullopt;
  const std::string& architecture = chosen_architectures(supported_architectures_, flags.architectures).front();
  BuiltKernel built{.name = kernel.name,
                    .entry_points = {},
                    .artifacts = {},
                    .target_architectures = {architecture},
                    .log = {},
                    .is_from_cache = true,
                    .promoted_is_native = is_promoted_native(kernel, flags.precisions())};
  for (const Precision precision : compiled_precisions(kernel, flags.precisions())) {
    std::optional<std::string> ptx =
        cache_->read(cache_key(kernel, nvrtc_options_for(architecture, flags, precision), true));
    if (!ptx) return std::nullopt;
    built.artifacts.push_back(artifact_of(std::move(*ptx), architecture, precision));
    add_entries(built, kernel, precision);
  }
  return built;
}

BuildOutcome PtxDevice::build_kernel(const EmittedKernel& kernel, const BuildFlags& flags) {
  const std::span<const std::string> architectures =
      chosen_architectures(supported_architectures_, flags.architectures);
  BuiltKernel built{.name = kernel.name,
                    .entry_points = {},
                    .artifacts = {},
                    .target_architectures = {architectures.begin(), architectures.end()},
                    .log = {},
                    .is_from_cache = true,
                    .promoted_is_native = is_promoted_native(kernel, flags.precisions())};
  for (const Precision precision : compiled_precisions(kernel, flags.precisions())) {
    const bool is_for_first = precision == Precision::kPromoted && flags.promotes_for_first_architecture;
    for (const std::string& architecture : is_for_first ? architectures.first(1) : architectures) {
      const cuda::NvrtcOptions options = nvrtc_options_for(architecture, flags, precision);
      bool is_from_cache = false;
      BuildFailed failed;
      Result<std::string> text = compile(kernel, options, is_from_cache, failed);
      if (!text) return failed;
      built.is_from_cache = built.is_from_cache && is_from_cache;
      built.artifacts.push_back(artifact_of(text.take(), architecture, precision));
    }
    add_entries(built, kernel, precision);
  }
  return built;
}

std::string PtxDevice::cache_key(const EmittedKernel& kernel, const cuda::NvrtcOptions& options,
                                 bool is_from_batch) const {
  // Builds of one version may differ. So may optimized code that was compiled together with other kernels.
  const std::string_view batch = is_from_batch && !options.flags.fast_compile ? " in a batch" : "";
  return sha256_hex(fmt::format("ptx {} {}\n{}{}\n{}.cu\n{}", nvrtc_->version(), options_.nvrtc_version_or_path,
                                fmt::join(cuda::nvrtc_arguments(options), " "), batch, kernel.name, kernel.source()));
}

/// Returns the PTX, from the cache if possible.
Result<std::string> PtxDevice::compile(const EmittedKernel& kernel, const cuda::NvrtcOptions& options,
                                       bool& is_from_cache, BuildFailed& failed) {
  const std::string key = cache_key(kernel, options, false);
  if (cache_ != nullptr) {
    if (auto entry = cache_->read(key)) {
      is_from_cache = true;
      return compiled_faultily(std::move(*entry), options);
    }
  }
  cuda::CompileOutcome outcome = nvrtc_->compile(kernel.source(), kernel.name + ".cu", options);
  if (auto* rejected = std::get_if<BuildFailed>(&outcome)) {
    failed = std::move(*rejected);
    failed.log.insert(
        0, fmt::format("NVRTC {} for {}, {}:\n", nvrtc_->version(), options.architecture, to_text(options.precision)));
    return Error{"compilation failed"};
  }
  std::string text = std::move(std::get<cuda::CompiledCode>(outcome).ptx);
  // A failed cache write only costs time in the next run.
  if (cache_ != nullptr) static_cast<void>(cache_->write(key, text));
  return compiled_faultily(std::move(text), options);
}

Result<std::unique_ptr<DeviceSession>> PtxDevice::open(const SessionLimits& limits) {
  if (const Capability capability = can_run(); !capability.is_available) return Error{capability.tool_or_reason};
  return std::unique_ptr<DeviceSession>(std::make_unique<PtxSession>(limits, options_));
}

std::span<const ApproximateInstruction> approximate_instructions() {
  static constexpr auto kAll = [] {
    std::array<ApproximateInstruction, kApproximateFunctions.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {.name = kApproximateFunctions[i].instruction,
                .accurate_operation = kApproximateFunctions[i].accurate_operation};
    return all;
  }();
  return kAll;
}

EnabledChecks checks_without(const std::vector<std::string>& names) {
  EnabledChecks checks;
  for (const RunTimeCheck& row : kChecks) {
    if (std::ranges::find(names, row.name) != names.end()) checks.*row.member = false;
  }
  return checks;
}

SelfCheckResult self_check(const BuiltKernel& kernel, bool compares) {
  std::vector<std::string> texts;
  for (const auto& artifact : kernel.artifacts)
    if (artifact->kind == Artifact::Kind::kPtx) texts.push_back(artifact->content);
  auto check = models::check_instructions(texts, compares);
  if (!check.ok()) return {};
  return {.used_instructions = std::move(check->used_instructions),
          .unchecked_instructions = std::move(check->unchecked_instructions),
          .differences = std::move(check->disagreements)};
}

namespace {

/// Fails if the user chose an NVRTC that cannot be loaded, or an architecture that it does not support.
Result<void> check_choice(const backends::DeviceOptions& options) {
  if (options.nvrtc_version_or_path.empty() && options.architectures.empty()) return {};
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(options.nvrtc_version_or_path);
  if (!nvrtc.ok()) {
    if (options.nvrtc_version_or_path.empty()) return {};  // the device reports that there is no NVRTC
    return Error{fmt::format("--nvrtc {}: {}", options.nvrtc_version_or_path, nvrtc.error().text())};
  }
  for (const std::string& architecture : options.architectures) {
    if (!nvrtc->supports(architecture))
      return Error{fmt::format("--arch {}: NVRTC {} does not support this architecture; an example is compute_75",
                               architecture, nvrtc->version())};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options) {
  PtxOptions ptx{.nvrtc_version_or_path = options.nvrtc_version_or_path,
                 .disables_optimizations = options.disables_optimizations,
                 .checks = checks_without(options.disabled_checks),
                 .cache_directory = options.cache_directory};
  if (!options.architectures.empty()) ptx.architectures = options.architectures;
  if (const Result<void> valid = check_choice(options); !valid.ok()) return valid.error();
  if (!options.approximation_tables_file.empty()) {
    Result<ApproximationTables> tables = read_tables(options.approximation_tables_file);
    if (!tables.ok()) return tables.error();
    ptx.tables = std::make_shared<const ApproximationTables>(tables.take());
  }
  return std::unique_ptr<backends::Device>(std::make_unique<PtxDevice>(std::move(ptx)));
}

}  // namespace assay::ptx
