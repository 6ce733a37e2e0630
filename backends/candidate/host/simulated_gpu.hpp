// The GPU that a candidate's host code sees: memory and launches of the PTX interpreter, one call at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/candidate/host/call.hpp"
#include "backends/device/backend.hpp"
#include "backends/ptx/execute/machine.hpp"
#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::candidate {

/// Numbers of CUDA errors.
inline constexpr std::int32_t kCudaSuccess = 0;
inline constexpr std::int32_t kCudaErrorInvalidValue = 1;
inline constexpr std::int32_t kCudaErrorInvalidConfiguration = 9;
inline constexpr std::int32_t kCudaErrorInvalidDeviceFunction = 98;
inline constexpr std::int32_t kCudaErrorLaunchFailure = 719;
inline constexpr std::int32_t kCudaErrorCooperativeLaunchTooLarge = 720;
inline constexpr std::int32_t kCudaErrorNotSupported = 801;

/// Limits of a block's shared memory, in bytes.
inline constexpr std::uint64_t kDefaultMaxSharedBytes = 48 * 1024;  ///< without the attribute that allows more
/// With the attribute, on this architecture: "sm_75".
std::uint64_t most_shared_bytes(std::string_view architecture);
/// The number of blocks with this many threads and bytes of shared memory that one multiprocessor of this architecture
/// can hold at the same time, if registers do not limit it.
std::uint32_t resident_blocks(std::string_view architecture, std::uint64_t block_threads, std::uint64_t shared_bytes);
/// The size of the shared memory that the kernel declares, without dynamic shared memory.
std::uint64_t declared_shared_bytes(const ptx::Kernel& kernel);

/// Sees the launches of a call and its copies to the host.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// Called before a launch of the kernel with this name. May change the arguments and the memory. Returns a failure if
  /// the launch must not run.
  virtual std::optional<backends::RunOutcome> before_launch(const std::string& kernel,
                                                            std::vector<std::vector<std::byte>>& arguments) = 0;
  /// Called after the host has copied `size` bytes from device memory.
  virtual void copied_to_host(std::uint64_t source, std::uint64_t size) = 0;
};

class SimulatedGpu {
 public:
  SimulatedGpu() = default;
  SimulatedGpu(const SimulatedGpu&) = delete;
  SimulatedGpu& operator=(const SimulatedGpu&) = delete;
  ~SimulatedGpu() { free_allocations(); }

  /// Frees the memory of the last call and forgets its outcome. Lasting allocations stay, and so do modules and the
  /// contents of their variables, all at their addresses, as on a GPU.
  void begin_call(const ptx::LaunchOptions& options);
  /// Frees everything, with the modules, as the end of a process does. The library that registered them was unloaded.
  void end_process();
  /// Memory for a report that explains a crash of the worker; it is empty whenever a crash has another cause.
  void set_crash_report(std::span<char> report) { crash_report_ = report; }
  /// The observer of all launches that follow; null: none.
  void set_observer(CallObserver* observer) { observer_ = observer; }

  /// Makes `bytes` known to kernels for the current call and returns the device address.
  std::uint64_t adopt(const std::string& name, std::span<std::byte> bytes, ptx::AllocationFlags flags);
  /// Makes an adopted array read-only for the rest of the call.
  void protect(std::uint64_t address);
  /// Device memory that no kernel has written; the bytes are 0xff. Returns 0 if there is none left.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Memory that the host accesses at its device address. Counts as written. Returns 0 if there is none left.
  std::uint64_t allocate_managed(std::uint64_t bytes);
  /// Ends an allocation. Later accesses to it are out of bounds. Ignores other addresses, because host code may end
  /// allocations of earlier calls.
  void release(std::uint64_t address);
  /// Whether an allocation lasts until release(); otherwise it ends with the call. Ignores other addresses.
  void set_lasting(std::uint64_t address, bool is_lasting);
  /// Calls the observer.
  void copied_to_host(std::uint64_t source, std::uint64_t size);
  void copied_from_host(std::uint64_t target, std::uint64_t size);
  /// The number of bytes from a device address to the end of the memory that the host code allocated; 0 if the address
  /// is in no such memory.
  [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;
  /// Whether the host can access the memory at a device address without a copy.
  [[nodiscard]] bool is_managed(std::uint64_t address) const;
  /// Null if the bytes do not lie in one allocation.
  void* bytes(std::uint64_t address, std::uint64_t size, bool writes);
  /// Moves unrounded values, after the host has copied bytes between device addresses.
  void copied(std::uint64_t target, std::uint64_t source, std::uint64_t size);
  /// Moves an unrounded value, after the host has converted a number. Other types than floats have none.
  void converted(std::uint64_t target, Element target_type, std::uint64_t source, Element source_type);
  /// Writes the unrounded values of an array of the current call as MemoryRegion::unrounded_values requires.
  void write_unrounded_values(std::uint64_t address, Element type, std::size_t count, std::span<std::byte> place) const;
  /// Adds the PTX of a fat binary. A module that cannot be parsed fails at its first launch.
  std::int32_t add_module(const void* fat_binary);
  /// 0 if the module has no such variable.
  std::uint64_t variable(std::int32_t module, const std::string& name);
  /// Makes the outcome of the call Unsupported, unless a launch has failed before.
  std::int32_t report_unsupported(const std::string& what);
  std::int32_t allow_shared_bytes(std::int32_t module, const std::string& kernel, std::uint64_t bytes);
  /// Writes a tensor map in the format of the interpreter. Fails if no GPU accepts the tensor map.
  static std::int32_t encode_tensor_map(const TensorMapRequest& request, void* map);
  /// The number of blocks that one multiprocessor can hold at the same time; 0 if the kernel is unknown. The number of
  /// registers is not known and does not count.
  std::uint32_t resident_blocks(std::int32_t module, const std::string& kernel, std::uint32_t block_threads,
                                std::uint64_t dynamic_shared_bytes);
  /// Checks a launch and copies its arguments. `number` receives the number of the launch in this call.
  std::int32_t prepare_launch(std::int32_t module, const std::string& kernel, const ptx::LaunchGeometry& geometry,
                              void* const* arguments, std::int32_t& number);
  /// Runs a prepared launch, once. After a launch that did not complete without findings, later launches of the call do
  /// nothing.
  std::int32_t run_launch(std::int32_t number);
  /// The number of launches of the call that were prepared.
  [[nodiscard]] std::size_t launch_count() const { return prepared_launches_.size(); }
  /// Chooses one of `count` streams to run next: the first, the last or a random one, as the order of threads demands.
  std::uint32_t choose_stream(std::uint32_t count);
  /// Makes the outcome of the call a failure, unless a launch has failed before: the host code returned without waiting
  /// for `count` kernels, copies and fills.
  void report_unfinished(std::int32_t count);

  /// The outcome of the first launch of the call that did not complete without findings; nullopt if all did.
  [[nodiscard]] const std::optional<backends::RunOutcome>& failure() const { return failure_; }

 private:
  struct Module {
    std::shared_ptr<const ptx::Module> parsed_module;  ///< null if the PTX cannot be parsed
    std::string error;                                 ///< why it cannot be parsed
  };
  /// A variable in global or constant memory.
  struct VariableContent {
    std::shared_ptr<const ptx::Module> parsed_module;  ///< module that declares the variable
    std::string name;                                  ///< name in the PTX
    std::uint64_t address = 0;                         ///< device address
    std::vector<std::byte> bytes;                      ///< current content
  };
  struct PreparedLaunch {
    std::shared_ptr<const ptx::Kernel> kernel;
    ptx::LaunchGeometry geometry;
    ptx::KernelArguments arguments;
  };
  std::vector<VariableContent> contents_of_variables();
  Result<std::shared_ptr<const ptx::Kernel>> find_kernel(std::int32_t module, const std::string& kernel);
  std::int32_t fail(backends::RunOutcome outcome, std::int32_t error);
  /// The device address of new memory that the host code allocated.
  std::uint64_t add_allocation(std::span<std::byte> memory, std::unique_ptr<std::byte[]> owned,
                               ptx::AllocationFlags flags);
  /// Frees the memory of all allocations, also of those that last.
  void free_allocations();
  /// Frees the allocations that do not last, and those that last if there are too many of them.
  void free_allocations_of_call();
  /// Fills the memory of the machine, which is empty, with the variables and the lasting allocations.
  void restore_memory(const std::vector<VariableContent>& contents);
  /// Lets the host access managed memory, except that which pending launches get: their results are not there yet.
  void protect_memory_of_pending_launches();
  void unprotect_managed_memory();

  /// Memory that the host code allocated.
  struct HostAllocation {
    std::uint64_t bytes = 0;             ///< size that the host code requested
    std::span<std::byte> memory;         ///< at least one byte
    std::unique_ptr<std::byte[]> owned;  ///< null for managed memory, which is at its device address
    std::uint64_t number = 0;            ///< position among all allocations of the process
    bool is_lasting = false;             ///< whether it stays until the host code ends it
    bool is_protected = false;           ///< whether an access by the host ends the process

    [[nodiscard]] bool is_managed() const { return owned == nullptr; }
    void free();
  };

  ptx::Machine machine_;
  CallObserver* observer_ = nullptr;
  std::span<char> crash_report_;
  std::map<std::uint64_t, HostAllocation> allocations_by_address_;
  ptx::LaunchOptions options_;
  /// The arrays of the current call, by device address.
  std::map<std::uint64_t, std::pair<ptx::AllocationId, ptx::AllocationFlags>> adopted_arrays_;
  std::vector<Module> modules_;
  std::map<std::pair<std::int32_t, std::string>, std::shared_ptr<const ptx::Kernel>> kernels_by_module_and_name_;
  std::map<std::pair<std::int32_t, std::string>, std::uint64_t> allowed_shared_bytes_by_kernel_;
  std::vector<std::optional<PreparedLaunch>> prepared_launches_;  ///< by number; nullopt: has run
  std::mt19937 stream_choices_;            ///< for random choices of the next stream; seeded like the order of threads
  ptx::UnroundedLosses unrounded_losses_;  ///< of all launches of the current call
  bool host_knows_values_ = false;         ///< whether the host has copied device memory to its own in this call
  std::optional<backends::RunOutcome> failure_;
  std::uint32_t allocation_count_ = 0;  ///< number of allocations in the current call, for their names in messages
  std::uint64_t total_allocation_count_ = 0;  ///< number of allocations of all calls
  std::uint64_t allocated_bytes_ = 0;         ///< size of all allocations that have not ended
};

}  // namespace assay::candidate
