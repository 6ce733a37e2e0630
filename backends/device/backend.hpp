// The interface of a device, and the stages between source text and the bytes that a run left behind.
//
//     EmittedKernel --Device::build--> BuiltKernel --Session::run--> RunOutcome, and the bytes in the buffers
//
// A failed build, a crash, a hang and a missing device are values. A device never executes generated code in the
// calling process. One use, from source to result:
//
//     std::vector<BuildOutcome> built = device.build(kernels, BuildFlags::strict());
//     Result<std::unique_ptr<Session>> session = device.open({});
//     BufferId x = session->allocate(bytes);             // then fill session->bytes(x)
//     LaunchRequest launch{.kernel = &kernel, .pass = Pass::kForward, .lane = Precision::kPromoted, .threads = n,
//                          .arguments = {Argument::array({x, 0}, shape, strides), Argument::value(2.0)}};
//     std::vector<RunOutcome> outcomes = session->run({&launch, 1});   // then read session->bytes(x)
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "backends/device/observation.hpp"
#include "support/result.hpp"

namespace assay::backends {

// ---------------------------------------------------------------------------------------------------- building

/// Where one entry point of a kernel is to be found.
struct BuiltEntry {
  Pass pass = Pass::kForward;
  Precision precision = Precision::kNative;
  std::string symbol;
  std::size_t parameter_count = 0;
  int block_threads = 0;  ///< as EntryPoint::block_threads
};

/// What a build produced, in one of the device's forms; gone with the last kernel that refers to it.
struct Artifact {
  enum class Kind : std::uint8_t { kSharedLibrary, kPtx, kCubin };
  Kind kind = Kind::kSharedLibrary;
  Precision precision = Precision::kNative;  ///< a shared library holds both lanes
  std::string architecture;                  ///< "compute_75" or "sm_75"; empty for a shared library
  std::filesystem::path path;                ///< shared library: the file, which stays while this object lives
  std::string content;                       ///< PTX text or cubin bytes; empty for a shared library
};

/// A kernel that compiled. Valid as long as the device that built it.
struct BuiltKernel {
  std::string name;
  std::vector<BuiltEntry> entries;
  std::vector<std::shared_ptr<const Artifact>> artifacts;  ///< the kernels of a batch share one library
  /// What the code was generated for, where there are several: a launch names one of them, and each is to be judged.
  std::vector<std::string> targets;
  std::string log;  ///< what the compiler said; usually empty
  bool from_cache = false;

  /// Null when the kernel has no such entry, as a kernel without a backward pass.
  [[nodiscard]] const BuiltEntry* find(Pass pass, Precision precision) const;
  /// The first artifact of the kind, in the lane and for the architecture (empty: any); null when there is none.
  [[nodiscard]] const Artifact* artifact(Artifact::Kind kind, Precision precision,
                                         std::string_view architecture = {}) const;
};

/// A kernel that did not build, found so when built alone: never blamed on it for its neighbours' sake.
struct BuildFailed {
  enum class Kind : std::uint8_t {
    kRejected,  ///< the compiler or the linker refused the source
    kTimedOut,  ///< the compiler exceeded its time limit
    kCrashed,   ///< loading the built library crashed or left the process
    kResource,  ///< the compiler is missing or could not run, disk full; the kernel is not to blame
  };
  Kind kind = Kind::kRejected;
  std::string log;  ///< lines count from the start of the kernel's standalone source
};

using BuildOutcome = std::variant<BuiltKernel, BuildFailed>;

// ----------------------------------------------------------------------------------------------------- running

/// A block of memory of a session that the host and the device both reach.
struct BufferId {
  std::uint32_t index = 0;
  friend constexpr bool operator==(BufferId, BufferId) = default;
};

/// An address inside a buffer. The offset may point into the middle: guard bands are the caller's to lay out.
struct BufferAddress {
  BufferId buffer;
  std::uint64_t offset = 0;
};

/// The memory that a pointer gives a kernel, for devices that watch every access and find what leaves it; others need
/// no such thing and do not look.
struct Region {
  static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
  std::string name;                 ///< of the array, for messages
  std::uint64_t bytes = kToTheEnd;  ///< from the address on; by default to the end of the buffer
  bool read_only = false;           ///< a write is a finding
  bool uninitialised = false;       ///< to read what the launch has not written is a finding
};

/// One argument of a kernel, passed by value: its bytes as the device lays them out, and where addresses go in them.
struct Argument {
  /// Eight bytes at `at` are replaced by the device's address of `address` when the kernel is launched.
  struct Pointer {
    std::uint32_t at = 0;
    BufferAddress address;
    Region region = {};
  };
  std::vector<std::byte> bytes;
  std::vector<Pointer> pointers;

  /// A scalar, vector or other plain value, laid out as C++ does.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  static Argument value(const T& value) {
    Argument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
  /// An `Array<T, N>`: {T* data; int32 shape[N]; int64 strides[N]}, N = shape.size() = strides.size() from 1 to 4,
  /// strides in bytes. No address means a null pointer: the array, or its gradient, is not wanted.
  static Argument array(std::optional<BufferAddress> data, std::span<const std::int32_t> shape,
                        std::span<const std::int64_t> strides, Region region = {});
  /// Appends a member of a struct at the alignment given (1, 2, 4, 8 or 16); the pointers move with it.
  void append(const Argument& member, std::size_t alignment);
  /// Pads the end of a struct to a multiple of its alignment.
  void pad(std::size_t alignment);
};

/// The order in which a device that can choose visits the blocks of a launch. Threads within a block ascend, so a block
/// of 1 gives the exact order of threads.
enum class ThreadOrder : std::uint8_t { kForward, kReverse, kShuffled };

/// One run of one entry point.
struct LaunchRequest {
  const BuiltKernel* kernel = nullptr;  ///< built by the session's device; outlives the call
  Pass pass = Pass::kForward;
  Precision precision = Precision::kNative;
  std::string target;        ///< one of the kernel's; empty: the first
  std::int64_t threads = 0;  ///< product of the launch dimensions; 0 calls the entry once with no thread
  std::int64_t block = 0;    ///< threads in a block; 0: the device's default (CPU: all in one)
  ThreadOrder order = ThreadOrder::kForward;
  std::uint64_t shuffle_seed = 0;  ///< of kShuffled; the same seed gives the same order
  /// Of a large launch in kForward order, the threads that are asked about, ascending; empty: all. A device that visits
  /// threads one after another may leave out those far from them, whose cells then keep what they held; one that runs
  /// them side by side runs all.
  std::vector<std::int64_t> sample;
  std::vector<Argument> arguments;             ///< one for each parameter of the entry, in order
  std::chrono::milliseconds time_limit{2000};  ///< of processor time; ten times as much on the clock
  bool profile = false;                        ///< to be observed, by a device that can
  int samples = 0;        ///< runs to be timed, by a device with a clock of its own; 0: one run, not measured
  bool decisive = false;  ///< if it does not complete, none of those behind it runs
};

/// The entry returned. Nothing is said about its results: they are in the buffers.
struct Completed {
  std::chrono::nanoseconds duration{};
  std::optional<ExecutionProfile> profile = std::nullopt;  ///< where it was asked for and the device observes
  /// Where samples were asked for and the device can time them. The duration is then their median, and the buffers hold
  /// what they held before.
  std::optional<Measurement> measurement = std::nullopt;
};
/// Nothing ran: a symbol or argument that does not fit, a library that cannot be loaded.
struct LaunchFailed {
  std::string message;
};
/// The process that ran the entry died in it.
struct Crashed {
  int signal = 0;       ///< 0: the process left early by itself, as by exit()
  int exit_status = 0;  ///< when signal is 0
  std::string message;  ///< "SIGSEGV (segmentation fault)", "exited early with status 0"
  std::string output;   ///< the end of what the process printed
};
struct TimedOut {
  std::chrono::milliseconds limit{};
};
/// The device itself reported an access that must not be.
struct MemoryFault {
  std::string message;
  std::string kind = "device";               ///< "out_of_bounds", "write_write_race"; "device" where it says no more
  std::vector<MemoryFinding> findings = {};  ///< of a device that watches every access: all, the first one first
};
/// The machine lacks something that the kernel is not to blame for.
struct ResourceError {
  std::string message;
};
struct Unsupported {
  std::string reason;  ///< "no CUDA driver"
};

using RunOutcome = std::variant<Completed, LaunchFailed, Crashed, TimedOut, MemoryFault, ResourceError, Unsupported>;

/// One line for a person: "completed", "crashed: SIGSEGV (segmentation fault)", "timed out after 2000 ms".
[[nodiscard]] std::string describe(const RunOutcome& outcome);

/// Whether the launches behind one with this outcome are not to run.
inline bool ends_all(const LaunchRequest& launch, const RunOutcome& outcome) {
  return launch.decisive && !std::holds_alternative<Completed>(outcome);
}

/// Memory of a device and the right to launch on it. Used by one thread at a time; sessions are independent.
///
/// Buffers live until reset() and keep their content through crashes. A kernel that ran astray may have written to any
/// of them: give each launch of one call its own buffers between guard bands, and repeat alone what ran beside a launch
/// that did not complete or broke a guard.
class Session {
 public:
  virtual ~Session() = default;

  /// Memory of `size` bytes at an address that is a multiple of 256, content unspecified. Fails when the session's
  /// memory is used up.
  virtual Result<BufferId> allocate(std::size_t size) = 0;
  /// The host's view of a buffer, to fill before and read after run(); valid until reset().
  virtual std::span<std::byte> bytes(BufferId buffer) = 0;
  /// Frees all buffers.
  virtual void reset() = 0;

  /// Runs the launches one after another, in order, and waits for the last. One outcome for each that ran: all of them,
  /// failed or not, but for those behind a decisive one that did not complete.
  virtual std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) = 0;
};

/// What generated code may use.
struct SessionLimits {
  std::size_t buffer_bytes = std::size_t{1} << 30;   ///< of all buffers together; reserved, not committed
  std::size_t process_bytes = std::size_t{4} << 30;  ///< of address space beside the buffers
};

// ----------------------------------------------------------------------------------------------------- devices

/// Whether something can be done here, and what it is done with or why it cannot.
struct Capability {
  bool available = false;
  std::string detail;  ///< available: "g++ 12.2.0", "NVRTC 13.0"; otherwise the reason: "no CUDA driver"
};

/// The language that the printer must print for a device.
enum class SourceTarget : std::uint8_t { kCpp, kCuda };

/// A way to build and run kernels. build() and open() may be called from several threads at once.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  ///< as in names of cases: "cpu", "cuda", "ptx"
  [[nodiscard]] virtual SourceTarget target() const = 0;
  [[nodiscard]] virtual Capability can_build() const = 0;
  [[nodiscard]] virtual Capability can_run() const = 0;

  /// The command that compiles a kernel's source by hand, as build() does it; empty where there is none.
  [[nodiscard]] virtual std::string build_command(const BuildFlags& flags) const = 0;

  /// One outcome for each kernel, in order. Blocks until all are built.
  virtual std::vector<BuildOutcome> build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) = 0;

  /// Fails with the reason when the device cannot run here.
  virtual Result<std::unique_ptr<Session>> open(const SessionLimits& limits) = 0;

  /// How generated code is confined while it runs, as a sentence; empty if unknown.
  [[nodiscard]] virtual std::string confinement() { return ""; }
  /// The file of the compiler or library that build() uses, which identifies it; empty if there is none.
  [[nodiscard]] virtual std::filesystem::path compiler_file() const { return {}; }
  /// What the device adds to the summary of a finished run; usually empty.
  [[nodiscard]] virtual std::string remark() const { return ""; }
};

}  // namespace assay::backends
