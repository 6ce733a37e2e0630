#include "backends/warp/device.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/cuda/driver/driver.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/warp/ptx_session.hpp"
#include "backends/warp/replaced_code.hpp"
#include "backends/warp/worker.hpp"
#include "backends/worker/confinement.hpp"
#include "backends/worker/session.hpp"

namespace assay::warp {

namespace fs = std::filesystem;
using namespace backends;
using nlohmann::json;

namespace {

/// One for each of NVRTC's code generators.
const std::vector<int> kArchitectures{75, 100};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path this_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("/proc/self/exe") : path;
}

WarpOptions with_defaults(WarpOptions options) {
  if (options.worker_executable.empty()) options.worker_executable = this_program();
  if (options.cache_directory.empty()) options.cache_directory = default_cache_directory();
  return options;
}

BuildFailed failure_of(const KernelBuildResult& built) {
  using State = KernelBuildResult::Status;
  using Kind = BuildFailed::Kind;
  switch (built.status) {
    case State::kUnsupported:
    case State::kUnavailable: return {Kind::kUnsupported, built.message};
    case State::kTimedOut: return {Kind::kTimedOut, built.message};
    case State::kCrashed: return {Kind::kCrashed, built.message};
    case State::kResourceFailure: return {Kind::kResourceFailure, built.message};
    case State::kRejected:
    case State::kBuilt: break;
  }
  return {Kind::kRejected, built.message};
}

void add_entries(BuiltKernel& built, const EmittedKernel& kernel, Precision precision, bool has_backward) {
  for (const EntryPoint& entry : kernel.entry_points) {
    if (entry.pass == Pass::kBackward && !has_backward) continue;
    built.entry_points.push_back({.pass = entry.pass,
                                  .precision = precision,
                                  .symbol = entry.symbol,
                                  .parameter_count = entry.parameter_types.size()});
  }
}

std::string replaced_code(const EmittedKernel& kernel, Precision precision) {
  const auto code = std::ranges::find(kernel.helpers, replacement_code_helper_name(precision), &SourceHelper::name);
  return code == kernel.helpers.end() ? "" : code->text;
}

/// The user's own text of a kernel in one precision; null if there is none. If the promotion changes nothing, the own
/// text is in both precisions.
const PythonOwnText* own_text_of(const EmittedKernel& kernel, Precision precision) {
  const PythonBinding& python = *kernel.python;
  if (!python.own_text || !replaced_code(kernel, precision).empty()) return nullptr;
  return precision == Precision::kNative || python.native.text == python.promoted.text ? &*python.own_text : nullptr;
}

/// The Python file of a launch.
Result<std::string> file_of(const LaunchRequest& launch) {
  const Artifact* const file = launch.kernel->artifact(Artifact::Kind::kPython, launch.precision);
  if (file == nullptr) return Error{"the kernel was built for a different device"};
  return file->path.native();
}

}  // namespace

WarpDevice::WarpDevice(std::string_view name, std::vector<int> architectures, WarpOptions options,
                       std::string warp_device)
    : name_(name),
      architectures_(std::move(architectures)),
      options_(with_defaults(std::move(options))),
      interpreter_(known_interpreter()),
      scratch_directory_(interpreter_.ok() ? make_artifact_directory(options_.cache_directory)
                                           : Result<ScratchDirectory>(interpreter_.error())),
      preparation_result_(scratch_directory_.ok() ? Result<void>() : Result<void>(scratch_directory_.error())) {
  if (!preparation_result_.ok()) return;
  const fs::path cache = options_.cache_directory / "warp";
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) {
    preparation_result_ = Error{"cannot create the folder: " + error.message(), cache.string()};
    return;
  }
  preparation_result_ = write_host(folder(), {.device_name = std::string(name_),
                                              .warp_device = std::move(warp_device),
                                              .cache_directory = cache,
                                              .architectures = architectures_});
  if (preparation_result_.ok() && !write_file(folder() / kInterpreterPathFileName, interpreter_->program.native()))
    preparation_result_ = Error{"cannot write the file", (folder() / kInterpreterPathFileName).string()};
}

Capability WarpDevice::can_build() const {
  if (!preparation_result_.ok()) return {false, preparation_result_.error().text()};
  return {true, "Warp " + interpreter_->version};
}

std::vector<fs::path> WarpDevice::compiler_files() const {
  if (!interpreter_.ok()) return {};
  return {interpreter_->program};
}

std::vector<BuildOutcome> WarpDevice::build(std::span<const EmittedKernel> kernels, const BuildFlags&) {
  if (const Capability capability = can_build(); !capability.is_available)
    return std::vector<BuildOutcome>(kernels.size(),
                                     BuildFailed{BuildFailed::Kind::kResourceFailure, capability.tool_or_reason});
  std::vector<BuildOutcome> outcomes(kernels.size(), BuildFailed{});
  std::vector<std::string> names;  // of each kernel: native, promoted
  std::vector<std::string> pending;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool has_backward = std::ranges::any_of(
        kernels[i].entry_points, [](const EntryPoint& entry) { return entry.pass == Pass::kBackward; });
    for (const Precision precision : {Precision::kNative, Precision::kPromoted}) {
      Result<std::string> name =
          kernels[i].python == nullptr
              ? Result<std::string>(Error{"the kernel's source was generated for a different device"})
              : write_kernel(folder(), *kernels[i].python,
                             precision == Precision::kNative ? kernels[i].python->native : kernels[i].python->promoted,
                             has_backward, own_text_of(kernels[i], precision), replaced_code(kernels[i], precision));
      if (!name.ok()) outcomes[i] = BuildFailed{BuildFailed::Kind::kResourceFailure, name.error().text()};
      names.push_back(name.ok() ? name.take() : "");
      if (!names.back().empty() && std::ranges::find(pending, names.back()) == pending.end())
        pending.push_back(names.back());
    }
  }
  const std::map<std::string, KernelBuildResult> builds = warp::build(*interpreter_, folder(), pending);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!names[2 * i].empty() && !names[2 * i + 1].empty())
      outcomes[i] = make_build_outcome(kernels[i], names[2 * i], names[2 * i + 1], builds);
  }
  return outcomes;
}

/// A kernel counts as built if Warp has built it in its own types; without the promoted variant, its entries are
/// missing.
BuildOutcome WarpDevice::make_build_outcome(const EmittedKernel& kernel, const std::string& native,
                                            const std::string& promoted,
                                            const std::map<std::string, KernelBuildResult>& builds) {
  BuiltKernel result{.name = kernel.name, .entry_points = {}, .artifacts = {}, .target_architectures = {}, .log = {}};
  for (const Precision precision : {Precision::kNative, Precision::kPromoted}) {
    const std::string& name = precision == Precision::kNative ? native : promoted;
    const auto found = builds.find(name);
    const KernelBuildResult built =
        found == builds.end()
            ? KernelBuildResult{KernelBuildResult::Status::kResourceFailure, "Warp did not build the kernel", {}}
            : found->second;
    if (built.status != KernelBuildResult::Status::kBuilt) {
      if (precision == Precision::kNative) return failure_of(built);
      result.log = "promoted to f64: " + built.message;
      continue;
    }
    if (precision == Precision::kNative)
      result.native_text = {.is_own = built.file_name != name, .obstacle = built.own_text_obstacle};
    if (Result<void> added = add_code(built.file_name, built, precision, kernel, result); !added.ok())
      return BuildFailed{BuildFailed::Kind::kRejected, added.error().text()};
  }
  return result;
}

Result<void> WarpLaunchDevice::add_code(const std::string& name, const KernelBuildResult& built, Precision precision,
                                        const EmittedKernel& kernel, BuiltKernel& result) {
  result.artifacts.push_back(std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPython,
                                                                       .precision = precision,
                                                                       .architecture = {},
                                                                       .path = folder() / (name + ".py"),
                                                                       .content = built.code_json}));
  add_entries(result, kernel, precision, built.has_backward);
  return {};
}

Result<std::unique_ptr<DeviceSession>> WarpLaunchDevice::open_worker(const SessionLimits& limits,
                                                                     std::size_t memory_limit_bytes,
                                                                     bool confine_worker) {
  if (const Capability capability = can_run(); !capability.is_available) return Error{capability.tool_or_reason};
  Result<std::unique_ptr<worker::WorkerSession>> session =
      worker::WorkerSession::open({.buffer_bytes = limits.buffer_bytes,
                                   .process_memory_limit_bytes = memory_limit_bytes,
                                   .restrict_file_access = confine_worker},
                                  {.program = options().worker_executable,
                                   .role_argument = kWorkerRoleArgument,
                                   .code_folder = folder(),
                                   .code_of = file_of});
  if (!session.ok()) return session.error();
  return std::unique_ptr<DeviceSession>(session.take());
}

Result<std::unique_ptr<DeviceSession>> WarpCpuDevice::open(const SessionLimits& limits) {
  return open_worker(limits, limits.process_memory_limit_bytes, options().confine_worker);
}

std::string WarpCpuDevice::confinement() {
  return "Python runs in a separate process with limited time and memory; where the system supports this, the process "
         "cannot write files or connect to the network";
}

WarpCudaDevice::WarpCudaDevice(WarpOptions options)
    : WarpLaunchDevice("warp-cuda", {}, options, fmt::format("cuda:{}", options.gpu_ordinal)), gpu_("") {
  const Result<cuda::Driver> driver = cuda::Driver::load();
  if (!driver.ok()) {
    gpu_ = driver.error();
    return;
  }
  const Result<cuda::GpuProperties> gpu = cuda::find_gpu(*driver, options.gpu_ordinal);
  gpu_ = gpu.ok() ? Result<std::string>(gpu->description()) : Result<std::string>(gpu.error());
}

Capability WarpCudaDevice::can_build() const {
  Capability capability = WarpDevice::can_build();
  if (!capability.is_available) return capability;
  if (!gpu_.ok()) return {false, gpu_.error().message};
  return {true, capability.tool_or_reason + " on " + *gpu_};
}

/// The CUDA driver opens devices, writes a cache, and maps more address space than any useful limit allows.
Result<std::unique_ptr<DeviceSession>> WarpCudaDevice::open(const SessionLimits& limits) {
  return open_worker(limits, 0, false);
}

std::string WarpCudaDevice::confinement() {
  return "Python and the CUDA driver run in a separate process with limited time";
}

WarpPtxDevice::WarpPtxDevice(WarpOptions options, ptx::PtxOptions interpreter)
    : WarpDevice("warp-ptx", kArchitectures, std::move(options)), interpreter_(std::move(interpreter)) {}

Result<void> WarpPtxDevice::add_code(const std::string& name, const KernelBuildResult& built, Precision precision,
                                     const EmittedKernel& kernel, BuiltKernel& result) {
  const json code = json::parse(built.code_json);
  for (const auto& [architecture, file] : code.at("ptx").items()) {
    std::string ptx = read_file(file.get<std::string>());
    // Warp writes the terminating zero of NVRTC's text as well.
    while (!ptx.empty() && ptx.back() == '\0')
      ptx.pop_back();
    if (ptx.empty()) return Error{"Warp wrote no PTX", file.get<std::string>()};
    result.artifacts.push_back(std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPtx,
                                                                         .precision = precision,
                                                                         .architecture = architecture,
                                                                         .path = {},
                                                                         .content = std::move(ptx)}));
    if (precision == Precision::kNative) result.target_architectures.push_back(architecture);
  }
  result.artifacts.push_back(std::make_shared<const Artifact>(
      Artifact{.kind = Artifact::Kind::kPython,
               .precision = precision,
               .architecture = {},
               .path = folder() / (name + ".py"),
               .content = describe_code(read_file(folder() / (name + ".json")), built.code_json)}));
  add_entries(result, kernel, precision, built.has_backward);
  return {};
}

Result<std::unique_ptr<DeviceSession>> WarpPtxDevice::open(const SessionLimits& limits) {
  if (const Capability capability = can_run(); !capability.is_available) return Error{capability.tool_or_reason};
  return std::unique_ptr<DeviceSession>(std::make_unique<WarpPtxSession>(limits, interpreter_));
}

std::vector<std::string> comparable_code(const BuiltKernel& kernel) {
  std::vector<std::string> hashes, ptx;
  for (const auto& artifact : kernel.artifacts) {
    if (artifact->kind == Artifact::Kind::kPython) hashes.push_back(artifact->content);
    if (artifact->kind != Artifact::Kind::kPtx) continue;
    std::string text = artifact->content;
    // "_INTERNAL_00000000_36_wp_assay_18bc4b9dc1125ddb_ccf581a_cu_beb1ff46" names what is local to a file.
    constexpr std::string_view kStart = "_INTERNAL_", kEnd = "_cu_";
    constexpr std::size_t kDigits = 8;
    for (std::size_t at = 0; (at = text.find(kStart, at)) != std::string::npos; at += kStart.size()) {
      const std::size_t end = text.find(kEnd, at);
      if (end != std::string::npos) text.erase(at + kStart.size(), end + kEnd.size() + kDigits - at - kStart.size());
    }
    ptx.push_back(std::move(text));
  }
  return ptx.empty() ? hashes : ptx;
}

Result<std::unique_ptr<Device>> make_ptx_device(const DeviceOptions& options) {
  ptx::PtxOptions interpreter{.checks = ptx::checks_without(options.disabled_checks)};
  if (!options.approximation_tables_file.empty()) {
    Result<ptx::ApproximationTables> tables = ptx::read_tables(options.approximation_tables_file);
    if (!tables.ok()) return tables.error();
    interpreter.tables = std::make_shared<const ptx::ApproximationTables>(tables.take());
  }
  return std::unique_ptr<Device>(
      std::make_unique<WarpPtxDevice>(WarpOptions{.cache_directory = options.cache_directory}, std::move(interpreter)));
}

Result<std::unique_ptr<Device>> make_cuda_device(const DeviceOptions& options) {
  const Result<std::optional<int>> number = cuda::parse_gpu_number(options.gpu_number_or_all);
  if (!number.ok()) return number.error();
  // Warp runs on one GPU.
  return std::unique_ptr<Device>(std::make_unique<WarpCudaDevice>(
      WarpOptions{.cache_directory = options.cache_directory, .gpu_ordinal = number->value_or(0)}));
}

Result<std::unique_ptr<Device>> make_cpu_device(const DeviceOptions& options) {
  return std::unique_ptr<Device>(
      std::make_unique<WarpCpuDevice>(WarpOptions{.cache_directory = options.cache_directory}));
}

}  // namespace assay::warp
