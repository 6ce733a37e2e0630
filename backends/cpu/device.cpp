#include "backends/cpu/device.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/artifact_files.hpp"
#include "backends/device/batch_source.hpp"
#include "backends/worker/confinement.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"

namespace assay::cpu {

namespace fs = std::filesystem;
using namespace backends;

namespace {

constexpr std::size_t kLoaderBufferBytes = 1;
constexpr auto kLoadLimit = std::chrono::milliseconds{5000};

fs::path this_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/proc/self/exe") : path;
}

CpuOptions with_defaults(CpuOptions options) {
  if (options.worker_executable.empty()) {
    options.worker_executable = this_program();
  }
  if (options.cache_directory.empty()) {
    options.cache_directory = default_cache_directory();
  }
  return options;
}

BuildFailed failure_of(const ProcessResult& result, std::chrono::milliseconds limit) {
  using EndReason = ProcessResult::EndReason;
  switch (result.end_reason) {
    case EndReason::kNotStarted:
      return {BuildFailed::Kind::kResourceFailure, "cannot run the compiler: " + result.output};
    case EndReason::kTimedOut:
      return {BuildFailed::Kind::kTimedOut,
              fmt::format("{}the compiler was killed after {} ms\n", result.output, limit.count())};
    case EndReason::kSignaled:
      return {BuildFailed::Kind::kRejected,
              fmt::format("{}the compiler was killed by signal {}\n", result.output, result.status_or_signal)};
    case EndReason::kExited: break;
  }
  const bool disk_full = result.output.find("No space left on device") != std::string::npos;
  return {disk_full ? BuildFailed::Kind::kResourceFailure : BuildFailed::Kind::kRejected, result.output};
}

}  // namespace

CpuDevice::CpuDevice(CpuOptions options)
    : options_(with_defaults(std::move(options))),
      compiler_(Compiler::find(options_.compiler)),
      scratch_(make_artifact_directory(options_.cache_directory)) {
  if (options_.uses_build_cache) {
    if (auto cache = BuildCache::open(options_.cache_directory, options_.max_cache_bytes)) {
      cache_ = cache.take();
    }
  }
  if (options_.uses_fastest_compiler && uses_default_compiler(options_.compiler))
    fastest_compiler_ = Compiler::find_fastest(cache_.get());
}

const Compiler& CpuDevice::compiler_for(const BuildFlags& flags) const {
  return flags.uses_fastest_compiler && fastest_compiler_ ? *fastest_compiler_ : *compiler_;
}

Capability CpuDevice::can_build() const {
  if (!compiler_) {
    return {false, compiler_.error().text()};
  }
  if (!scratch_) {
    return {false, scratch_.error().text()};
  }
  if (!fastest_compiler_) return {true, compiler_->version()};
  return {true, fmt::format("{}; without optimization {}", compiler_->version(), fastest_compiler_->version())};
}

Capability CpuDevice::can_run() const { return can_build(); }

std::string CpuDevice::build_command(const BuildFlags& flags) const {
  return compiler_ ? compiler_for(flags).library_command(flags) : std::string();
}

std::vector<BuildOutcome> CpuDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) {
  if (const Capability capability = can_build(); !capability.is_available) {
    return std::vector<BuildOutcome>(kernels.size(),
                                     BuildFailed{BuildFailed::Kind::kResourceFailure, capability.tool_or_reason});
  }
  std::vector<BuildOutcome> outcomes(kernels.size());
  const std::size_t batch_size = std::max<std::size_t>(options_.batch_size, 1);
  const std::size_t batches = (kernels.size() + batch_size - 1) / batch_size;
  for_each_index_in_parallel(batches, options_.jobs, [&](std::size_t index) {
    const std::size_t first = index * batch_size;
    std::vector<const EmittedKernel*> batch;
    for (const EmittedKernel& kernel : kernels.subspan(first, std::min(batch_size, kernels.size() - first))) {
      batch.push_back(&kernel);
    }
    std::ranges::move(build_isolating_failures(batch, [&](auto unit) { return build_batch(unit, flags); }),
                      outcomes.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return outcomes;
}

BatchOutcome CpuDevice::build_batch(std::span<const EmittedKernel* const> kernels, const BuildFlags& flags) {
  BatchSource batch = compose_batch_with_wrappers(kernels, flags);
  const std::string key = cache_key(batch.text, flags);
  const fs::path library = scratch_->path() / fmt::format("{}.so", next_translation_unit_number_.fetch_add(1));
  std::string log;
  // A cached file that a faulty disk has changed is built again.
  const bool is_from_cache = cache_ != nullptr && cache_->fetch(key, library) && !try_loading(library);
  if (!is_from_cache) {
    std::error_code ignored;
    fs::remove(library, ignored);
    std::variant<std::string, FailedBatch> outcome = compile_batch(batch.text, kernels, flags, library);
    if (auto* failed = std::get_if<FailedBatch>(&outcome)) {
      return std::move(*failed);
    }
    log = std::move(std::get<std::string>(outcome));
    if (cache_ != nullptr) {
      // A failed cache write only costs time in the next run.
      static_cast<void>(cache_->store(key, library));
    }
  }
  const auto artifact = with_file({.kind = Artifact::Kind::kSharedLibrary, .path = library});
  BuiltBatch unit;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    unit.kernels.push_back({.name = kernels[i]->name,
                            .entry_points = std::move(batch.entry_points_by_kernel[i]),
                            .artifacts = {artifact},
                            .target_architectures = {},
                            .log = log,
                            .is_from_cache = is_from_cache,
                            .promoted_is_native = is_promoted_native(*kernels[i], flags.precisions())});
  }
  return unit;
}

std::variant<std::string, FailedBatch> CpuDevice::compile_batch(const std::string& text,
                                                                std::span<const EmittedKernel* const> kernels,
                                                                const BuildFlags& flags, const fs::path& library) {
  fs::path source = library;
  source.replace_extension(".cpp");
  if (!write_file(source, text)) {
    return FailedBatch{{BuildFailed::Kind::kResourceFailure, "cannot write " + source.string() + "; is the disk full?"},
                       {}};
  }
  const auto limit = options_.compile_time_limit + options_.compile_time_limit_per_kernel * kernels.size() +
                     options_.compile_time_limit_per_mebibyte * (text.size() >> 20U);
  ProcessResult result = compiler_for(flags).build_library(source, library, flags, limit);
  std::error_code ignored;
  fs::remove(source, ignored);
  std::set<std::size_t> faulty_kernel_positions = blamed_kernels(result.output);
  if (kernels.size() == 1) {
    result.output = readable_log(std::move(result.output), kernels[0]->name);
  }
  if (!result.succeeded()) {
    return FailedBatch{failure_of(result, limit), std::move(faulty_kernel_positions)};
  }
  if (auto failure = try_loading(library)) {
    return FailedBatch{std::move(*failure), {}};
  }
  return std::move(result.output);
}

std::string CpuDevice::cache_key(const std::string& text, const BuildFlags& flags) const {
  const Compiler& compiler = compiler_for(flags);
  return sha256_hex(fmt::format("shared library\n{}\n{}\n{}", compiler.identity(),
                                fmt::join(compiler.mode_arguments(flags), " "), text));
}

WorkerOptions CpuDevice::workers() const {
  return {.program = options_.worker_executable,
          .library_folder = scratch_->path(),
          .filter_system_calls = options_.confine_worker,
          .restrict_file_access = options_.confine_worker};
}

/// The session that only loads libraries, opened on first use; test_load_mutex_ must be held.
Result<worker::WorkerSession*> CpuDevice::test_load_session() {
  if (test_load_session_ == nullptr) {
    auto session = open_session({.buffer_bytes = kLoaderBufferBytes}, workers());
    if (!session) {
      return session.error();
    }
    test_load_session_ = session.take();
  }
  return test_load_session_.get();
}

Result<worker::Confinement> CpuDevice::probe_confinement() {
  if (!scratch_) {
    return scratch_.error();
  }
  const std::lock_guard lock(test_load_mutex_);
  const Result<worker::WorkerSession*> session = test_load_session();
  if (!session) {
    return session.error();
  }
  return (*session)->confinement();
}

std::optional<BuildFailed> CpuDevice::try_loading(const fs::path& library) {
  const std::lock_guard lock(test_load_mutex_);
  const Result<worker::WorkerSession*> session = test_load_session();
  if (!session) {
    return BuildFailed{BuildFailed::Kind::kResourceFailure, session.error().text()};
  }
  const RunOutcome outcome = (*session)->load(library.native(), kLoadLimit);
  if (std::holds_alternative<Completed>(outcome)) {
    return std::nullopt;
  }
  auto kind = BuildFailed::Kind::kCrashed;
  if (std::holds_alternative<LaunchFailed>(outcome)) {
    kind = BuildFailed::Kind::kRejected;
  } else if (std::holds_alternative<ResourceError>(outcome)) {
    kind = BuildFailed::Kind::kResourceFailure;
  }
  return BuildFailed{kind, "loading the built library failed: " + describe(outcome) + "\n"};
}

Result<std::unique_ptr<DeviceSession>> CpuDevice::open(const SessionLimits& limits) {
  if (!scratch_) {
    return scratch_.error();
  }
  Result<std::unique_ptr<worker::WorkerSession>> session = open_session(limits, workers());
  if (!session) {
    return session.error();
  }
  return std::unique_ptr<DeviceSession>(session.take());
}

std::string CpuDevice::confinement() {
  const Result<worker::Confinement> found = probe_confinement();
  return found.ok() ? worker::describe(*found) : "";
}

std::vector<fs::path> CpuDevice::compiler_files() const {
  std::vector<fs::path> files;
  if (compiler_.ok()) files.push_back(compiler_->program());
  if (fastest_compiler_) files.push_back(fastest_compiler_->program());
  return files;
}

Result<std::unique_ptr<backends::Device>> make_device(const backends::DeviceOptions& options) {
  return std::unique_ptr<backends::Device>(
      std::make_unique<CpuDevice>(CpuOptions{.compiler = options.compiler,
                                             .uses_fastest_compiler = options.uses_fastest_compiler,
                                             .cache_directory = options.cache_directory}));
}

}  // namespace assay::cpu
