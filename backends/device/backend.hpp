// The interface of a device, and the types of each stage from source text to result bytes.
//
//     EmittedKernel --Device::build--> BuiltKernel --Session::run--> RunOutcome, and the bytes in the buffers
//
// A failed build, a crash, a hang and a missing device are values. A device never executes generated code in the
// calling process. One use, from source to result:
//
//     std::vector<BuildOutcome> built = device.build(kernels, BuildFlags::strict());
//     Result<std::unique_ptr<Session>> session = device.open({});
//     BufferId x = session->allocate(bytes);             // then fill session->bytes(x)
//     LaunchRequest launch{.kernel = &kernel, .pass = Pass::kForward, .precision = Precision::kPromoted, .threads = n,
//                          .arguments = {KernelArgument::array({x, 0}, shape, strides), KernelArgument::value(2.0)}};
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

/// The location of one entry point of a built kernel.
struct BuiltEntryPoint {
  Pass pass = Pass::kForward;                ///< pass that the function computes
  Precision precision = Precision::kNative;  ///< precision variant of the function
  std::string symbol;                        ///< name of the function to call
  std::size_t parameter_count = 0;           ///< number of parameters after the leading range
  int required_block_threads =
      0;  ///< required number of threads per block; 0: any (see EntryPoint::required_block_threads)
};

/// The product of a build in one of the device's formats; deleted with the last kernel that refers to it.
struct Artifact {
  enum class Kind : std::uint8_t { kSharedLibrary, kPtx, kCubin, kPython };
  Kind kind = Kind::kSharedLibrary;
  Precision precision = Precision::kNative;  ///< a shared library holds both precisions
  std::string architecture;    ///< target of the code: "compute_75" or "sm_75"; empty for a shared library
  std::filesystem::path path;  ///< file of a shared library or of Python, which exists as long as this object
  std::string content;         ///< PTX text or cubin bytes; empty for a shared library
};

/// Which text of a kernel was built in native precision, on devices that give it to another generator of code.
struct BuiltText {
  bool is_own = false;   ///< whether it is the user's own text, not one that Assay printed
  std::string obstacle;  ///< why the user's own text was not built; empty if it was
};

/// A successfully built kernel. Valid as long as the device that built it.
struct BuiltKernel {
  std::string name;                                        ///< name of the kernel; need not be unique
  std::vector<BuiltEntryPoint> entry_points;               ///< entry points of the kernel, for each pass and precision
  std::vector<std::shared_ptr<const Artifact>> artifacts;  ///< built code; the kernels of a batch share one library
  /// The architectures for which the code was compiled, if there are several. A launch selects one; the judge runs all.
  std::vector<std::string> target_architectures;
  std::string log;             ///< the compiler's output; usually empty
  bool is_from_cache = false;  ///< whether all its code was in the build cache
  /// Whether the code of the native variant is also that of the promoted variant: see is_promoted_native.
  bool promoted_is_native = false;
  std::optional<BuiltText> native_text = std::nullopt;  ///< see BuiltText; empty on other devices

  /// The precision under which the code of a variant is found in `entry_points` and `artifacts`.
  [[nodiscard]] Precision code_precision(Precision precision) const {
    return promoted_is_native ? Precision::kNative : precision;
  }
  /// Null if the kernel has no such entry, for example no backward pass.
  [[nodiscard]] const BuiltEntryPoint* find(Pass pass, Precision precision) const;
  /// Whether there is code of this precision for the architecture, which is one of `target_architectures`. Empty, for a
  /// kernel without several architectures: true.
  [[nodiscard]] bool is_built_for(std::string_view architecture, Precision precision) const;
  /// The first artifact of the kind, precision and architecture (empty: any); null if there is none.
  [[nodiscard]] const Artifact* artifact(Artifact::Kind kind, Precision precision,
                                         std::string_view architecture = {}) const;
};

/// A kernel that failed to build. It was built alone, so other kernels of its batch cannot be the cause.
struct BuildFailed {
  enum class Kind : std::uint8_t {
    kRejected,         ///< the compiler or the linker rejected the source
    kTimedOut,         ///< the compiler exceeded its time limit
    kCrashed,          ///< loading the built library crashed or exited the process
    kUnsupported,      ///< the compiler does not support the kernel, and says why
    kResourceFailure,  ///< compiler missing or not runnable, or disk full; not the kernel's fault
  };
  Kind kind = Kind::kRejected;  ///< why it failed
  std::string log;              ///< the compiler's output; its line numbers refer to the kernel's standalone source
};

using BuildOutcome = std::variant<BuiltKernel, BuildFailed>;

// ----------------------------------------------------------------------------------------------------- running

/// A block of session memory that both host and device can access.
struct BufferId {
  std::uint32_t index = 0;  ///< number of the buffer in its session
  friend constexpr bool operator==(BufferId, BufferId) = default;
};

/// An address inside a buffer. The offset may point into the middle, because the caller lays out guard bands.
struct BufferAddress {
  BufferId buffer;           ///< buffer that contains the address
  std::uint64_t offset = 0;  ///< distance from the buffer's start in bytes
};

/// What a device writes about an array whose MemoryRegion::unrounded_values it fills: this header, followed by one
/// UnroundedElement for each float of the region.
struct UnroundedArrayHeader {
  /// Number of comparisons in the launch whose result would differ without rounding; the elements then say little.
  double ambiguous_decision_count = 0;
  /// Number of values in the launch whose unrounded values could not be followed, so that they were rounded.
  double lost_value_count = 0;
  /// Number of floats that the host code copied to the device after it had read device memory: it may have computed
  /// them from results of kernels, with a rounding error that is unknown.
  double host_value_count = 0;
  /// 1 if the launch evaluated polynomials with rounded coefficients, as math libraries do, otherwise 0. Their error is
  /// part of the elements.
  double evaluates_polynomials = 0;
  /// 1 if a number in the launch became infinite without rounding, by an operation other than a division, otherwise 0.
  /// Then an element that is NaN may be the consequence of an overflow.
  double overflows = 0;
  /// The set of the approximate instructions that the launch executed, as LaunchRequest::instructions_with_errors.
  double approximate_instructions = 0;
};
/// What a kernel would have written without rounding.
struct UnroundedElement {
  double value = 0;  ///< value without rounding; the written value if none is known
  /// Change of the value, to first order, if each constant in the code changes by half an ulp, and each result by the
  /// rounding of a double.
  double error = 0;
};
/// The memory that a device needs to write about `count` floats.
constexpr std::size_t unrounded_array_bytes(std::size_t count) {
  return sizeof(UnroundedArrayHeader) + count * sizeof(UnroundedElement);
}

/// The memory that a kernel may access through a pointer. Devices that check every access report accesses outside of
/// it; other devices ignore it.
struct MemoryRegion {
  static constexpr std::uint64_t kToBufferEnd = ~std::uint64_t{0};  ///< value of `bytes`
  std::string name;                                                 ///< name of the array, for messages
  std::uint64_t bytes = kToBufferEnd;  ///< size from the pointer's address on; by default up to the end of the buffer
  bool read_only = false;              ///< whether a write is an error
  bool uninitialized = false;          ///< whether reading bytes that the launch has not written is an error
  /// Where a device with Device::computes_unrounded_values writes what the kernel would have written to the floats of
  /// the region, which has no gaps, without rounding; nullopt: not needed.
  std::optional<BufferAddress> unrounded_values = std::nullopt;
};

/// One argument of a kernel, passed by value: its bytes in the device's layout, and the positions of its pointers.
struct KernelArgument {
  /// At launch, the eight bytes at `byte_offset` are replaced by the device address of `address`.
  struct Pointer {
    std::uint32_t byte_offset = 0;  ///< position of the pointer in `bytes`
    BufferAddress address;          ///< address that the pointer gets
    MemoryRegion region = {};       ///< memory that the kernel may access through the pointer
  };
  std::vector<std::byte> bytes;   ///< value in the device's layout
  std::vector<Pointer> pointers;  ///< pointers in `bytes`

  /// A scalar, vector or other trivially copyable value in its C++ layout.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  static KernelArgument value(const T& value) {
    KernelArgument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
  /// An `Array<T, N>`: {T* data; int32 shape[N]; int64 strides[N]}, N = shape.size() = strides.size() from 1 to 4,
  /// strides in bytes. No address passes a null pointer, which skips the array or gradient.
  static KernelArgument array(std::optional<BufferAddress> data, std::span<const std::int32_t> shape,
                              std::span<const std::int64_t> strides, MemoryRegion region = {});
  /// Appends a struct member, including its pointers, at the given alignment (1, 2, 4, 8 or 16).
  void append(const KernelArgument& member, std::size_t alignment);
  /// Pads the end of a struct to a multiple of its alignment.
  void pad(std::size_t alignment);
};

/// The order in which a device visits the blocks of a launch, if it can choose. Blocks of one thread give the exact
/// order of threads; in a larger block of a candidate, the warps are in this order, too.
enum class ThreadOrder : std::uint8_t { kForward, kReverse, kShuffled };

/// One run of one entry point.
struct LaunchRequest {
  const BuiltKernel* kernel = nullptr;  ///< built by the session's device; must outlive the call
  Pass pass = Pass::kForward;
  Precision precision = Precision::kNative;
  std::string target;        ///< target whose code runs: one of BuiltKernel::target_architectures; empty: the first
  std::int64_t threads = 0;  ///< product of the launch dimensions; 0 calls the entry once with no thread
  std::int64_t threads_per_block = 0;  ///< threads per block; 0: the device's default (CPU: all threads in one block)
  ThreadOrder order = ThreadOrder::kForward;  ///< order of the blocks
  std::uint64_t shuffle_seed = 0;             ///< seed of kShuffled; the same seed gives the same order
  /// For a large launch in kForward order, the threads whose results are checked, in ascending order; empty: all. A
  /// device that runs threads sequentially may skip threads far from these, whose elements then stay unchanged. A
  /// device that runs threads in parallel runs all of them.
  std::vector<std::int64_t> checked_threads;
  std::vector<KernelArgument> arguments;       ///< one for each parameter of the entry, in order
  std::chrono::milliseconds time_limit{2000};  ///< limit of the CPU time; the wall-clock limit is ten times as long
  bool profile = false;                        ///< whether to profile the launch, if the device can
  /// Bit i: whether results of instruction i of Device::approximate_instructions have its documented error.
  std::uint32_t instructions_with_errors = 0;
  int sample_count = 0;           ///< number of timed runs, if the device can measure; 0: one run, not measured
  bool stops_on_failure = false;  ///< whether the later launches do not run if this launch does not complete
};

/// The entry returned. Its results are in the buffers and have not been checked.
struct Completed {
  std::chrono::nanoseconds duration{};                     ///< time of the launch
  std::optional<ExecutionProfile> profile = std::nullopt;  ///< profile, if requested and supported by the device
  /// Present if samples were requested and the device can measure. The duration is then their median, and the buffers
  /// have the contents from before the launch.
  std::optional<Measurement> measurement = std::nullopt;
};
/// Nothing ran: a symbol is missing, an argument does not match, or a library cannot be loaded.
struct LaunchFailed {
  std::string message;
};
/// The process that ran the entry died.
struct Crashed {
  int signal_number = 0;  ///< number of the signal; 0: the process exited early, for example by exit()
  int exit_status = 0;    ///< status of the exit when signal is 0
  std::string message;    ///< description: "SIGSEGV (segmentation fault)", "exited early with status 0"
  std::string output;     ///< end of the process's output
};
/// The entry did not return within its time limit.
struct TimedOut {
  std::chrono::milliseconds limit{};  ///< time limit that the launch exceeded
};
/// The device reported an invalid memory access.
struct MemoryFault {
  std::string message;
  std::string kind = "device";  ///< kind of the access: "out_of_bounds", "write_write_race"; "device" if unknown
  std::vector<MemoryFinding> findings = {};  ///< all findings of a device that checks every access, in order
};
/// The machine lacks a resource; not the kernel's fault.
struct ResourceError {
  std::string message;  ///< description of the missing resource
};
/// The device does not support the launch, or cannot run on this machine.
struct Unsupported {
  std::string reason;  ///< why the device cannot run: "no CUDA driver"
};

using RunOutcome = std::variant<Completed, LaunchFailed, Crashed, TimedOut, MemoryFault, ResourceError, Unsupported>;

/// One line for a person: "completed", "crashed: SIGSEGV (segmentation fault)", "timed out after 2000 ms".
[[nodiscard]] std::string describe(const RunOutcome& outcome);

/// Whether the launches after one with this outcome must not run.
inline bool stops_later_launches(const LaunchRequest& launch, const RunOutcome& outcome) {
  return launch.stops_on_failure && !std::holds_alternative<Completed>(outcome);
}

/// Memory of a device on which kernels can be launched. Must be used by one thread at a time; sessions are independent.
///
/// Buffers live until reset() and keep their content after crashes. A faulty kernel may write to any buffer. Therefore
/// give each launch of one call its own buffers between guard bands, and if a launch does not complete or damages a
/// guard band, repeat the other launches of that call separately.
class DeviceSession {
 public:
  virtual ~DeviceSession() = default;

  /// Allocates `size` bytes with unspecified content at a multiple of 256. Fails if the session's memory is exhausted.
  virtual Result<BufferId> allocate(std::size_t size) = 0;
  /// The host's view of a buffer, to write before and read after run(); valid until reset().
  virtual std::span<std::byte> bytes(BufferId buffer) = 0;
  /// Frees all buffers.
  virtual void reset() = 0;

  /// Runs the launches sequentially and waits for the last. Returns one outcome for each launch that ran: all of them,
  /// failed or not, except the launches after a stops_on_failure launch that did not complete.
  virtual std::vector<RunOutcome> run(std::span<const LaunchRequest> launches) = 0;
};

/// The memory that generated code may use.
struct SessionLimits {
  std::size_t buffer_bytes = std::size_t{1} << 30;  ///< limit of the total size of all buffers; reserved, not committed
  std::size_t process_memory_limit_bytes = std::size_t{4}
                                           << 30;  ///< limit of the address space in addition to the buffers
};

// ----------------------------------------------------------------------------------------------------- devices

/// Whether this machine can do something, and with which tool or why not.
struct Capability {
  bool is_available = false;  ///< whether this machine can do it
  std::string
      tool_or_reason;  ///< if available, the tool: "g++ 12.2.0", "NVRTC 13.0"; otherwise the reason: "no CUDA driver"
};

/// The source language that a device compiles.
enum class SourceTarget : std::uint8_t {
  kCpp,
  kCuda,
  kWarpPython,  ///< Python for NVIDIA Warp, which generates the code that runs
};

/// An instruction whose result is correctly rounded on a device that simulates a GPU, but not on the GPU.
struct ApproximateInstruction {
  std::string_view name;                ///< name of the instruction: "tanh.approx"
  std::string_view accurate_operation;  ///< what to use if accuracy matters: "tanhf"
};

/// Builds and runs kernels. build() and open() may be called from several threads at once.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;  ///< name as in case names: "cpu", "cuda", "ptx"
  [[nodiscard]] virtual SourceTarget target() const = 0;
  /// Whether compiled code calls CUDA's math functions instead of the C library's.
  [[nodiscard]] virtual bool uses_cuda_math() const { return target() == SourceTarget::kCuda; }
  /// ArithmeticProfile::input_error of the code: positive if it may use another algorithm than the kernel.
  [[nodiscard]] virtual double input_error() const { return 0; }
  /// Whether the extents of the arrays determine what the code computes, as in host code that gets tensors. Arrays then
  /// have exactly the extents that the kernel accesses, and elements that no thread of the kernel writes are not
  /// compared. Nor are the gradients of outputs, because such code leaves the cotangents in place.
  [[nodiscard]] virtual bool derives_work_from_extents() const { return false; }
  /// Whether launches fill MemoryRegion::unrounded_values.
  [[nodiscard]] virtual bool computes_unrounded_values() const { return false; }
  /// The instructions to whose results a launch can add the documented errors
  /// (LaunchRequest::instructions_with_errors), at most 32; empty if the device cannot do that.
  [[nodiscard]] virtual std::span<const ApproximateInstruction> approximate_instructions() const { return {}; }
  /// Whether two launches with the same input bytes give the same result bytes. Not on a GPU, where the order of atomic
  /// additions varies.
  [[nodiscard]] virtual bool is_repeatable() const { return true; }
  /// Whether a launch with LaunchRequest::threads_per_block = 1 runs the threads of the kernel one after another, in
  /// the order of their numbers. Then a kernel can be judged whose result depends on this order.
  [[nodiscard]] virtual bool can_run_threads_in_order() const { return false; }
  [[nodiscard]] virtual Capability can_build() const = 0;
  [[nodiscard]] virtual Capability can_run() const = 0;

  /// The shell command that compiles a kernel's source as build() does; empty if there is none.
  [[nodiscard]] virtual std::string build_command(const BuildFlags& flags) const = 0;

  /// Builds all kernels and returns one outcome per kernel, in order.
  virtual std::vector<BuildOutcome> build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) = 0;

  /// Fails with the reason if the device cannot run on this machine.
  virtual Result<std::unique_ptr<DeviceSession>> open(const SessionLimits& limits) = 0;

  /// Describes in one sentence how generated code is confined while it runs; empty if unknown.
  [[nodiscard]] virtual std::string confinement() { return ""; }
  /// The files of the compilers or libraries that build() uses, the most used one first.
  [[nodiscard]] virtual std::vector<std::filesystem::path> compiler_files() const { return {}; }
  /// A remark for the summary of a finished run; usually empty.
  [[nodiscard]] virtual std::string remark() const { return ""; }
};

}  // namespace assay::backends
