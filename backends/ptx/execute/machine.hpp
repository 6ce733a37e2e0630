// The machine that executes PTX: memory, launches, checks. Start reading here.
//
//     Machine machine;
//     AllocationId x = machine.allocate("x", 4096).value();      // then fill machine.bytes(x)
//     KernelArguments arguments;
//     arguments.add(machine.address(x)).add(std::int32_t{1024});
//     auto kernel = lower(std::make_shared<Module>(parse(text, "k.ptx").take()), "scale").take();
//     RunResult result = machine.launch(kernel, {.grid = {8}, .block = {128}}, arguments, {});
//     if (result.ok()) ... machine.bytes(x) ...; for (const auto& f : result.findings) puts(describe(f).c_str());
//
// Blocks run sequentially (in a cooperative launch, from grid barrier to grid barrier), and the warps of a block run
// sequentially from barrier to barrier, in an order defined by the execution order. Diverged lanes of a warp run lowest
// instruction first and reconverge when they reach the same instruction. A kernel can access only the memory of the
// machine. A machine must be used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backends/ptx/checks/finding.hpp"
#include "backends/ptx/instructions/program.hpp"
#include "backends/ptx/profile/profile.hpp"
#include "backends/ptx/unrounded/arithmetic.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// Which errors are reported. Accesses outside of all allocations are always reported and never performed.
struct EnabledChecks {
  bool reports_misaligned = true;     ///< reports accesses that are not aligned to their size
  bool reports_uninitialized = true;  ///< reports reads of bytes that were never written
  bool reports_races = true;  ///< reports unordered accesses of different threads to the same global or shared memory
  bool reports_read_only = true;     ///< reports writes to read-only allocations; they are performed if this is false
  bool reports_non_coherent = true;  ///< reports ld.global.nc of memory that the launch writes
  bool reports_divergence = true;  ///< reports barriers, shuffles and votes that not all of the required threads reach

  static EnabledChecks none() { return {false, false, false, false, false, false}; }
};

/// A check that the user can disable, and its name.
struct RunTimeCheck {
  std::string_view name;        ///< name of the check, as the user writes it
  bool EnabledChecks::*member;  ///< member that enables it
};
inline constexpr std::array kChecks = {
    RunTimeCheck{"misaligned", &EnabledChecks::reports_misaligned},
    RunTimeCheck{"uninitialised", &EnabledChecks::reports_uninitialized},
    RunTimeCheck{"races", &EnabledChecks::reports_races},
    RunTimeCheck{"read_only", &EnabledChecks::reports_read_only},
    RunTimeCheck{"non_coherent", &EnabledChecks::reports_non_coherent},
    RunTimeCheck{"divergence", &EnabledChecks::reports_divergence},
};

inline constexpr auto kCheckNames = [] {
  std::array<std::string_view, kChecks.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = kChecks[i].name;
  return names;
}();

enum class Order : std::uint8_t { kForward, kReverse, kShuffled };

/// The order in which blocks, the warps of a block and the lanes of an atomic instruction run.
struct ExecutionOrder {
  Order order = Order::kForward;       ///< order of blocks and, with reorders_within_blocks, of warps and lanes
  std::uint64_t shuffle_seed = 0;      ///< seed of the random order, for kShuffled
  bool reorders_within_blocks = true;  ///< whether warps and lanes are reordered too, not only blocks
};

/// The numbers of blocks and threads of a launch.
struct LaunchGeometry {
  Dim3 grid;                               ///< number of blocks along each axis
  Dim3 block;                              ///< number of threads of a block along each axis
  std::uint32_t dynamic_shared_bytes = 0;  ///< size of the dynamic shared memory of a block in bytes
  /// Whether all blocks are resident at the same time, so that they can wait for each other at the grid barrier of
  /// cooperative groups.
  bool is_cooperative = false;
};

struct ApproximationTables;

/// Options of one launch.
struct LaunchOptions {
  EnabledChecks checks;            ///< which errors are reported
  ExecutionOrder execution_order;  ///< order in which blocks, warps and lanes run
  std::uint64_t instruction_limit =
      20'000'000'000;                     ///< instruction limit, summed over threads; the run stops when it is reached
  std::size_t max_findings = 16;          ///< number of findings after which the run stops
  bool computes_profile = true;           ///< whether to compute RunResult::profile
  bool counts_atomic_collisions = false;  ///< whether to count InstructionProfile::atomic_collision_count
  std::vector<std::uint64_t> blocks_to_run =
      {};  ///< linear indices of blocks to run, ascending, for kForward; empty: all
  /// Whether to compute unrounded values (unrounded/numbers.hpp), for Machine::unrounded_values.
  bool computes_unrounded_values = false;
  /// Whether the host may have rounded parameters of the kernel, as in "1 / sqrt(n)". They then count as constants,
  /// whose rounding is part of UnroundedNumber::error; otherwise they are exact.
  bool may_have_rounded_parameters = false;
  const ApproximationTables* tables =
      nullptr;  ///< measured results of a device for approximate instructions; null: none
  /// Functions of kApproximateFunctions whose results have the documented errors (approximation_errors.hpp); ignored
  /// with tables.
  std::uint32_t functions_with_errors = 0;
};

/// The arguments of a kernel. Call add() or add_bytes() once for each parameter, in order.
class KernelArguments {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> KernelArguments& add(const T& value) {
    std::vector<std::byte>& bytes = argument_bytes_.emplace_back(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return *this;
  }
  /// Adds an argument that consists of these bytes.
  KernelArguments& add_bytes(std::vector<std::byte> bytes) {
    argument_bytes_.push_back(std::move(bytes));
    return *this;
  }
  [[nodiscard]] const std::vector<std::vector<std::byte>>& values() const { return argument_bytes_; }

 private:
  std::vector<std::vector<std::byte>> argument_bytes_;  ///< bytes of each argument, in order
};

/// How a launch ended, and what the checks found.
struct RunResult {
  /// How a launch ended.
  enum class Status : std::uint8_t {
    kCompleted,         ///< all threads exited
    kRejected,          ///< the arguments or the geometry are invalid; nothing ran
    kUnsupported,       ///< the kernel reached an instruction that the interpreter does not support
    kTrapped,           ///< the kernel executed the instruction trap, or an assertion failed
    kInstructionLimit,  ///< the kernel exceeded the instruction limit
    kFindingLimit,      ///< the run reached the maximum number of findings
  };
  Status status = Status::kCompleted;  ///< how the run ended
  std::string message;                 ///< for a status other than kCompleted: the reason and the source location
  std::vector<CheckFinding> findings;  ///< errors that the checks found, in order of their first occurrence
  InstructionProfile profile;          ///< statistics of the run, if LaunchOptions::computes_profile
  UnroundedLosses unrounded_losses;    ///< what the unrounded values do not contain, if they were computed

  /// Completed without findings.
  [[nodiscard]] bool ok() const { return status == Status::kCompleted && findings.empty(); }
};

/// The access rights and the initial state of an allocation.
struct AllocationFlags {
  bool read_only = false;      ///< whether a write by a kernel is an error
  bool uninitialized = false;  ///< whether a read of bytes that no kernel has written is an error
};

/// Identifies an allocation of a machine.
struct AllocationId {
  std::uint32_t index = 0;  ///< index of the allocation in the machine
};

class Memory;

/// Memory, and the interpreter that runs kernels in it.
class Machine {
 public:
  /// `max_bytes` limits the total size of all allocations.
  explicit Machine(std::size_t max_bytes = std::size_t{4} << 30U);
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// Allocates zeroed memory. Fails above the limit.
  Result<AllocationId> allocate(std::string name, std::size_t bytes, AllocationFlags flags = {});
  /// Uses memory of the caller, which must outlive the machine or its next reset().
  AllocationId adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags = {});
  /// The device address that the next allocation will have. Adopted memory may lie there in the host's address space,
  /// too.
  [[nodiscard]] std::uint64_t next_address() const;
  [[nodiscard]] std::span<std::byte> bytes(AllocationId allocation);
  /// The device address of the first byte.
  [[nodiscard]] std::uint64_t address(AllocationId allocation) const;
  /// The host's view of `size` bytes at a device address; fails if they do not lie in one allocation. If `writes`, they
  /// are initialized from then on.
  Result<std::span<std::byte>> bytes_at(std::uint64_t address, std::size_t size, bool writes);
  /// The device address of a variable of a module, which is created if necessary. Fails if it has no such variable.
  Result<std::uint64_t> variable(const std::shared_ptr<const Module>& module, std::string_view name);
  /// Ends the allocation that starts at a device address. Its address is never used again before reset(), so that later
  /// accesses are out of bounds.
  void release(std::uint64_t address);
  /// Changes the flags, for instance between a forward and a backward launch.
  void set_flags(AllocationId allocation, AllocationFlags flags);
  /// The unrounded values of `count` floats of this type from a device address on, which lie in one allocation. A float
  /// without an unrounded value has its rounded one.
  [[nodiscard]] std::vector<UnroundedNumber> unrounded_values(std::uint64_t address, Type type,
                                                              std::size_t count) const;
  /// Sets the unrounded value of a float that the host has written.
  void set_unrounded_value(std::uint64_t address, Type type, const UnroundedNumber& number);
  /// The host has stored `size` bytes at an address. Returns how many of them are float32 values with many digits. If
  /// `are_constants` is true, these are constants of the code, which may be rounded.
  std::uint64_t receive_floats(std::uint64_t address, std::uint64_t size, bool are_constants);
  /// Moves unrounded values after the host has copied bytes between device addresses.
  void copy_unrounded_values(std::uint64_t target, std::uint64_t source, std::uint64_t size);
  /// Frees all memory, including that of modules.
  void reset();

  /// Runs a kernel until it ends. The variables of its module are created at the first launch of the module and keep
  /// their values afterwards.
  RunResult launch(const std::shared_ptr<const Kernel>& kernel, const LaunchGeometry& geometry,
                   const KernelArguments& arguments, const LaunchOptions& options);

 private:
  std::unique_ptr<Memory> memory_;  ///< allocations and their shadow memory
};

}  // namespace assay::ptx
