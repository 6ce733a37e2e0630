// The devices of this build, one row each. Commands, plans, reports and datasets use this table; no code outside of
// backends/ compares device names. To add a device, write its folder and list its row in backends/registry.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::backends {

/// User options for devices. A device ignores the options of other devices.
struct DeviceOptions {
  std::string compiler;  ///< `cpu`: command of the compiler; empty: $CXX, then c++
  /// `cpu`: whether some builds have BuildFlags::uses_fastest_compiler. Otherwise, the device ignores it.
  bool uses_fastest_compiler = false;
  /// `ptx`: checks to disable, by their names in DeviceDescriptor::check_names.
  std::vector<std::string> disabled_checks = {};
  std::string gpu_number_or_all = "0";  ///< `cuda`: the GPU's number, or "all" to distribute the work over all GPUs
  std::size_t device_memory_limit_bytes =
      0;  ///< `cuda`: limit of the GPU memory of one session; 0: the size of its buffers
  std::string cross_check_device =
      {};  ///< name of the device that repeats each launch to compare result bits; empty: none
  std::string approximation_tables_file =
      {};  ///< `ptx`: path of a file written by `assay calibrate --tables`; empty: none
  /// `ptx`: path of an NVRTC, or a version that ci/setup-compilers installed; empty: the default NVRTC.
  std::string nvrtc_version_or_path = {};
  std::vector<std::string> architectures = {};  ///< `ptx`: targets to compile for: "compute_90"; empty: the default
  bool disables_optimizations = false;          ///< `ptx`: whether the compiler's optimizations are off in every mode
  std::string candidate_path = {};              ///< `candidate`: path of the file to judge
  std::string python_interpreter = {};  ///< `candidate`: path of a Python interpreter with Triton; empty: the default
  std::string cuda_compiler = {};       ///< `candidate`: "nvcc" or "clang", for host code; empty: nvcc
  std::string cache_directory = {};     ///< all devices except `cuda`: directory of the build cache; empty: the default
};

/// The compilers and architectures that a run lists. Each combination is a separate build.
struct BuildChoices {
  std::vector<std::string> compilers = {};                ///< `cpu`: values of DeviceOptions::compiler
  std::vector<std::string> nvrtc_versions_or_paths = {};  ///< `ptx`: values of DeviceOptions::nvrtc_version_or_path
  std::vector<std::string> architectures = {};            ///< `ptx`: values of DeviceOptions::architectures
};

/// One of the builds that a run judges.
struct NamedBuild {
  /// Name of the build in the names of modes: "nvrtc-13.0.88-compute_100"; empty if it is the only one.
  std::string name;
  DeviceOptions options;  ///< options of the device for this build
};

/// Another build of the code that a device runs. If a case fails, the results of other builds help to locate the cause.
struct BuildVariant {
  /// How the build differs from the one that the case judges.
  enum class Role : std::uint8_t {
    kSameFlags,                ///< same compiler and same flags
    kUnoptimized,              ///< same compiler, without optimizations
    kTrapOnUndefinedBehavior,  ///< same compiler, without optimizations; undefined behavior stops the program
    kOtherCompiler,            ///< another compiler or version, with the flags of the case
  };
  Role role = Role::kSameFlags;  ///< how the build differs from that of the case
  std::string compiler;          ///< name and version: "NVRTC 13.0.88"
  std::string target;            ///< architecture: "compute_100"; empty: the host
  DeviceOptions options;
};

/// The result of checking the instructions that a kernel uses: the device's results, compared with the definitions of
/// the instructions.
struct SelfCheckResult {
  std::vector<std::string> used_instructions = {};  ///< names of the instructions that the kernel uses: "setp.lt.f32"
  std::vector<std::string> unchecked_instructions = {};  ///< used instructions without a definition to compare with
  std::vector<std::string> differences = {};  ///< one line for each instruction with a result unlike its definition
};

/// The compiler that a device builds with.
enum class Toolkit : std::uint8_t { kHostCompiler, kNvrtc, kWarp };

/// The static properties of a device.
struct DeviceDescriptor {
  std::string_view name;     ///< name of the device in case names and after --device
  std::string_view summary;  ///< what the device runs, for help texts: "C++ compiled for this CPU"
  SourceTarget target = SourceTarget::kCpp;
  Toolkit toolkit = Toolkit::kHostCompiler;  ///< compiler that builds the kernels
  /// The default of --mode: "strict", or "sampled" if results in strict mode do not determine those in other modes.
  std::string_view default_mode = "strict";
  BuildFlags flags = {};      ///< numeric mode of a device that runs code which Assay did not generate
  bool is_selectable = true;  ///< whether --device accepts the name; otherwise only one command uses the device
  bool is_gpu = false;        ///< whether it runs on a GPU that --gpu selects and can time launches
  bool has_optimization_levels = false;        ///< whether --optimise has an effect, and sampled modes include -O2
  bool supports_fast_compile = false;          ///< whether BuildFlags::fast_compile has an effect
  bool reports_profiles = false;               ///< whether launches can report Completed::profile
  std::string_view bit_identical_device_name;  ///< device with identical result bits under strict flags; empty: none
  std::string_view agreeing_device_name;  ///< device whose results must agree within both error bounds; empty: none
  /// Names of its run-time checks of memory accesses and threads, which the user can disable.
  std::span<const std::string_view> check_names = {};
  Result<std::unique_ptr<Device>> (*make)(const DeviceOptions&) = nullptr;  ///< fails if an option is invalid
  /// The builds that the choices amount to; null: one build. Fails if a compiler is missing, does not support an
  /// architecture or is chosen twice.
  Result<std::vector<NamedBuild>> (*builds)(const DeviceOptions&, const BuildChoices&) = nullptr;
  /// The builds that this machine can make, one for each compiler, target and role; null: none. Finds compilers.
  std::vector<BuildVariant> (*variants)(const DeviceOptions&) = nullptr;
  /// Checks the parts that execute the kernel; without `compares`, only lists them. Null: the device only calls
  /// hardware.
  SelfCheckResult (*self_check)(const BuiltKernel&, bool compares) = nullptr;
};

/// The devices that --device accepts, in the order of tables and reports.
std::span<const DeviceDescriptor> devices();
/// These devices, and after them those that only one command uses.
std::span<const DeviceDescriptor> all_devices();

/// The row of a device, or null if no device has that name.
const DeviceDescriptor* find_device(std::string_view name);
/// The row of a device that must exist.
const DeviceDescriptor& device_descriptor(std::string_view name);

std::vector<std::string> device_names();

/// Whether the device runs the code that Assay emits. The devices of other generators are not part of datasets, the
/// CUDA state, mutation testing and benchmarks, which are about Assay's own code.
constexpr bool runs_emitted_code(const DeviceDescriptor& row) { return row.target != SourceTarget::kWarpPython; }

/// The names of the devices that run the code that Assay emits.
std::vector<std::string> emitted_code_devices();

/// The names of the checks of all devices.
std::vector<std::string> check_names();

/// The command of the compiler with which `cpu` builds code with BuildFlags::uses_fastest_compiler: `compiler` if the
/// user chose one, which is a command; else that of the fastest one. Empty: the default compiler.
std::string fastest_compiler(const std::string& compiler);

/// Returns the builds of a device that the choices specify; at least one. `options` are common to all builds.
Result<std::vector<NamedBuild>> resolve_builds(std::string_view device, const DeviceOptions& options,
                                               const BuildChoices& choices);

/// Creates a device by name. Fails only if an option is invalid; the device's can_build() and can_run() report what
/// this machine lacks.
Result<std::unique_ptr<Device>> make_device(std::string_view name, const DeviceOptions& options = {});

}  // namespace assay::backends
