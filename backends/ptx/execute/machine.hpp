// The machine that runs PTX: memory, launches, checks. Start reading here.
//
//     Machine machine;
//     AllocationId x = machine.allocate("x", 4096).value();      // then fill machine.bytes(x)
//     Arguments arguments;
//     arguments.add(machine.address(x)).add(std::int32_t{1024});
//     auto kernel = lower(std::make_shared<Module>(parse(text, "k.ptx").take()), "scale").take();
//     RunResult result = machine.launch(kernel, {.grid = {8}, .block = {128}}, arguments, {});
//     if (result.ok()) ... machine.bytes(x) ...; for (const Finding& f : result.findings) puts(describe(f).c_str());
//
// Blocks run one after another, the warps of a block one after another from barrier to barrier, in an order that the
// schedule fixes. Lanes of a warp that diverge run lowest instruction first and meet again where their instructions do.
// Whatever a kernel does, it reaches no memory but that of the machine. A machine is used by one thread at a time.
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
#include "support/result.hpp"

namespace assay::ptx {

/// Which checks are made. Accesses outside of all memory are always found and never done.
struct Checks {
  bool misaligned = true;
  bool uninitialised = true;
  bool races = true;         ///< between threads, without a barrier between them, on global and shared memory
  bool read_only = true;     ///< writes to read-only allocations; without it they are done
  bool non_coherent = true;  ///< ld.global.nc of what the launch writes
  bool divergence = true;    ///< barriers, shuffles and votes that not all of their lanes reach

  static Checks none() { return {false, false, false, false, false, false}; }
};

/// A check by the name that people call it.
struct CheckRow {
  std::string_view name;
  bool Checks::*member;
};
inline constexpr std::array kChecks = {
    CheckRow{"misaligned", &Checks::misaligned},
    CheckRow{"uninitialised", &Checks::uninitialised},
    CheckRow{"races", &Checks::races},
    CheckRow{"read_only", &Checks::read_only},
    CheckRow{"non_coherent", &Checks::non_coherent},
    CheckRow{"divergence", &Checks::divergence},
};

inline constexpr auto kCheckNames = [] {
  std::array<std::string_view, kChecks.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = kChecks[i].name;
  return names;
}();

enum class Order : std::uint8_t { kForward, kReverse, kShuffled };

/// In which order blocks, the warps of a block and the lanes of an atomic instruction take turns.
struct Schedule {
  Order order = Order::kForward;
  std::uint64_t seed = 0;     ///< of kShuffled
  bool within_blocks = true;  ///< false: for blocks only; warps and lanes ascend
};

struct Geometry {
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared = 0;  ///< bytes
};

struct Tables;

struct LaunchOptions {
  Checks checks;
  Schedule schedule;
  std::uint64_t budget = 20'000'000'000;   ///< of thread-instructions; the run ends when it is used up
  std::size_t most_findings = 16;          ///< the run goes on behind a finding, but not behind this many
  bool count_collisions = false;           ///< for Profile::atomic_collisions
  std::vector<std::uint64_t> blocks = {};  ///< to run, ascending, in Order::kForward; empty: all
  const Tables* tables = nullptr;          ///< of a device, whose answers approximate instructions then give
};

/// Arguments of a kernel, laid out as its parameters: add() one for each, in order, or bytes() as a whole.
class Arguments {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Arguments& add(const T& value) {
    std::vector<std::byte>& bytes = values_.emplace_back(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return *this;
  }
  Arguments& add_bytes(std::vector<std::byte> bytes) {
    values_.push_back(std::move(bytes));
    return *this;
  }
  [[nodiscard]] const std::vector<std::vector<std::byte>>& values() const { return values_; }

 private:
  std::vector<std::vector<std::byte>> values_;
};

struct RunResult {
  enum class Status : std::uint8_t {
    kCompleted,
    kRejected,     ///< nothing ran: arguments or geometry that do not fit
    kUnsupported,  ///< reached an instruction that the lane does not know
    kTrapped,      ///< executed trap
    kBudget,       ///< ran longer than the budget
    kStopped,      ///< had as many findings as were asked for
  };
  Status status = Status::kCompleted;
  std::string message;  ///< of a status other than kCompleted: what, and where
  std::vector<Finding> findings;
  Profile profile;

  /// Completed, and nothing was found.
  [[nodiscard]] bool ok() const { return status == Status::kCompleted && findings.empty(); }
};

struct AllocationFlags {
  bool read_only = false;      ///< kernels must not write
  bool uninitialised = false;  ///< to read before a kernel wrote is a finding
};

struct AllocationId {
  std::uint32_t index = 0;
};

class Memory;

class Machine {
 public:
  /// `most_bytes` is the limit of all allocations together.
  explicit Machine(std::size_t most_bytes = std::size_t{4} << 30U);
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// Zeroed memory. Fails above the limit.
  Result<AllocationId> allocate(std::string name, std::size_t bytes, AllocationFlags flags = {});
  /// Memory of the caller's, which must outlive the machine or its next reset().
  AllocationId adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags = {});
  [[nodiscard]] std::span<std::byte> bytes(AllocationId allocation);
  /// What kernels call the first byte.
  [[nodiscard]] std::uint64_t address(AllocationId allocation) const;
  /// Changes the flags, for instance between a forward and a backward launch.
  void set_flags(AllocationId allocation, AllocationFlags flags);
  /// Frees all memory, that of modules included.
  void reset();

  /// Runs a kernel to its end. Variables of its module are made at the module's first launch and then keep their
  /// values.
  RunResult launch(const std::shared_ptr<const Kernel>& kernel, const Geometry& geometry, const Arguments& arguments,
                   const LaunchOptions& options);

 private:
  std::unique_ptr<Memory> memory_;
};

}  // namespace assay::ptx
