// A session with host buffers. Launches run on a machine that can access only the regions of the arguments, each as its
// own allocation. Private to the devices that interpret PTX.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/ptx/device.hpp"

namespace assay::ptx {

/// The entry point of a launch and the PTX that contains it.
struct LaunchCode {
  const backends::BuiltEntryPoint* entry_point = nullptr;  ///< entry point to run
  std::shared_ptr<const backends::Artifact> artifact;      ///< PTX that contains the entry point
};

/// Returns the outcome of a launch from the machine's result; findings become a MemoryFault.
backends::RunOutcome make_run_outcome(const RunResult& result, const backends::LaunchRequest& launch,
                                      const std::string& target, std::chrono::nanoseconds duration);

/// Writes the unrounded values of an array as MemoryRegion::unrounded_values requires.
void write_unrounded_array(const UnroundedLosses& losses, std::span<const UnroundedNumber> values,
                           std::span<std::byte> place);

/// Interprets launches of PTX. Its buffers are in the memory of this process.
class PtxSession : public backends::DeviceSession {
 public:
  PtxSession(const backends::SessionLimits& limits, const PtxOptions& options);

  Result<backends::BufferId> allocate(std::size_t size) override;
  std::span<std::byte> bytes(backends::BufferId buffer) override;
  void reset() override;
  std::vector<backends::RunOutcome> run(std::span<const backends::LaunchRequest> launches) override;

 protected:
  /// Runs a launch of a kernel that Assay printed.
  virtual backends::RunOutcome run_one(const backends::LaunchRequest& launch);
  /// Fails if the kernel has no entry or code for the launch.
  static Result<LaunchCode> code_of(const backends::LaunchRequest& launch);
  [[nodiscard]] LaunchOptions launch_options(const backends::LaunchRequest& launch) const;
  /// Returns the lowered kernel, which is kept for later launches.
  Result<std::shared_ptr<const Kernel>> find_or_lower_kernel(const std::shared_ptr<const backends::Artifact>& artifact,
                                                             const std::string& symbol);
  Machine& machine() { return machine_; }

 private:
  /// Frees aligned memory.
  struct AlignedDeleter {
    void operator()(std::byte* pointer) const;
  };
  /// One buffer of the session.
  struct Buffer {
    std::unique_ptr<std::byte[], AlignedDeleter> memory;  ///< memory of the buffer
    std::size_t size = 0;                                 ///< size of the buffer in bytes
  };

  /// A launch that has completed, to answer later launches that are the same.
  struct CompletedLaunch {
    backends::Completed outcome;                   ///< outcome of the launch
    std::vector<std::vector<std::byte>> contents;  ///< contents, after the launch, of the regions that it may change
  };
  /// A hash of the length and the start of a launch's identity, which contains the start of its inputs.
  struct IdentityHash {
    std::size_t operator()(const std::string& identity) const;
  };
  /// Everything on which the effect of the current launch depends, as bytes; to be called after arguments_of.
  [[nodiscard]] std::string identity_of(const Kernel& kernel, const LaunchGeometry& geometry,
                                        const KernelArguments& arguments, const LaunchOptions& options) const;
  /// Keeps the current launch, unless the session keeps too many bytes.
  void keep(std::string identity, const backends::Completed& outcome);

  Result<KernelArguments> arguments_of(const backends::LaunchRequest& launch);
  Result<std::uint64_t> address_of(const backends::KernelArgument::Pointer& pointer);

  backends::SessionLimits session_limits_;  ///< limits of the session
  PtxOptions options_;                      ///< options of the compiler and the interpreter
  Machine machine_;                         ///< executes the kernels
  std::size_t used_bytes_ = 0;              ///< total size of the buffers
  std::vector<Buffer> buffers_;             ///< buffers, by BufferId::index
  /// Allocation of each memory region of the current launch, by address and size.
  std::map<std::pair<const std::byte*, std::size_t>, AllocationId> region_allocations_;
  /// A memory region of a launch.
  struct Region {
    std::span<std::byte> memory;  ///< the session's memory
    AllocationFlags flags;        ///< how the kernel may access it
  };
  std::vector<Region> regions_;  ///< regions of the current launch, in the order of their allocations
  /// Whether the current launch may change the region without a finding.
  [[nodiscard]] bool may_change(const Region& region) const;
  /// By identity_of; cleared by reset().
  std::unordered_map<std::string, CompletedLaunch, IdentityHash> completed_launches_;
  std::size_t kept_bytes_ = 0;  ///< total size of these identities and contents
  /// Parsed module of each artifact.
  std::map<std::shared_ptr<const backends::Artifact>, std::shared_ptr<const Module>> modules_by_artifact_;
  /// Lowered kernels, by module and name of the entry point.
  std::map<std::pair<const Module*, std::string>, std::shared_ptr<const Kernel>> kernels_by_module_and_entry_name_;
};

}  // namespace assay::ptx
