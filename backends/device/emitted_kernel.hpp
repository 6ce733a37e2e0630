// The input of a device: the source text of one kernel and how to build it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::backends {

/// One of the two functions of a kernel.
enum class Pass : std::uint8_t { kForward, kBackward };

/// The precision variant in which the source is compiled: the kernel's own types, or every floating-point type promoted
/// to double, which the check f64_promotion judges element by element.
enum class Precision : std::uint8_t { kNative, kPromoted };

/// Both variants.
inline constexpr std::array<Precision, 2> kPrecisions{Precision::kNative, Precision::kPromoted};

constexpr std::string_view to_text(Pass pass) { return pass == Pass::kForward ? "forward" : "backward"; }
constexpr std::string_view to_text(Precision precision) { return precision == Precision::kNative ? "native" : "lift"; }

/// A block of text before a kernel: a type, function or declaration that kernels share.
///
/// For one target, a name always refers to the same text, independent of the precision: a helper is a template or is
/// overloaded on its types. It uses only earlier helpers of the same kernel. A batch of kernels therefore contains each
/// helper once.
struct SourceHelper {
  std::string name;  ///< name, which is unique for each target: "array", "sin", "floor_div"
  std::string text;  ///< complete lines at namespace scope, outside of any namespace
  /// The text with checks of component indices, which end the process with SIGILL; empty if the helper has no such
  /// index. Only unoptimized builds for the CPU use it.
  std::string checked_text;
};

/// One function of the emitted source that a device can launch.
struct EntryPoint {
  Pass pass = Pass::kForward;  ///< pass that the function computes
  std::string symbol;          ///< name of the function, "<kernel>_forward"; has C linkage
  /// The types of the parameters after the leading range, in order, as written in the source: "Array<real, 1>", "int",
  /// "Particle". Each parameter is passed by value.
  std::vector<std::string> parameter_types;
  /// For CUDA: the number of threads that a block must have; the range of the launch then counts blocks. 0: any number
  /// is allowed, and the range counts threads.
  int required_block_threads = 0;
};
/// Threads per block of a kernel with tiles; must be equal to the number in the helper tile_block for CUDA.
inline constexpr int kThreadsPerTileBlock = 64;

/// The gradient of one array parameter of a Python kernel or, for an array of structs, of one field of its elements.
struct PythonGradient {
  std::size_t parameter_index = 0;  ///< position of the array among the kernel's parameters
  std::size_t field_offset = 0;     ///< position of the field in an element, in bytes
  std::size_t bytes = 0;            ///< size of the field in bytes, or of the element if it is not a struct
};

/// One kernel as a Python file.
struct PythonSource {
  std::string kernel_name;                ///< name of the kernel in the file
  std::string text;                       ///< text of the Python file
  std::vector<PythonGradient> gradients;  ///< gradients, in the order in which they end the list of backward parameters
};

/// The user's file with a kernel. The device takes the kernel's own text from it, without the other code of the file.
struct PythonOwnText {
  std::string file_text;    ///< text of the file
  std::int32_t line = 0;    ///< line of the kernel's `def` in the file, counted from 1
  std::string kernel_name;  ///< name of the kernel or of the overload
  /// By parameter of PythonBinding: the path of the struct's field that the user's kernel has instead: "body.position".
  /// Empty: the parameter itself.
  std::vector<std::string> struct_field_paths;
};

/// How a launch maps to a kernel in Python. The parameters of a forward entry point are the extents of all launch
/// dimensions except the first, as 32-bit integers, and then the kernel's own parameters. A backward entry point has,
/// after these, one gradient array for each of PythonSource::gradients.
struct PythonBinding {
  /// A parameter of the kernel in Python, or one field of a struct that is passed as a parameter of its own.
  struct Parameter {
    std::string
        struct_field_path;  ///< path of a struct's field that is its own parameter: "body.position"; otherwise empty
    int rank = 0;           ///< number of dimensions of an array; 0: not an array
    std::string name;       ///< name of the parameter
    std::string type;  ///< Warp's name of the scalar type of the value or of an element: "int32"; empty for a struct
    std::size_t bytes = 0;    ///< size of the value or of an element
    bool is_read = true;      ///< whether the kernel reads elements of the array
    bool is_written = false;  ///< whether the kernel changes elements of the array
  };
  std::size_t launch_dimension_count = 1;  ///< number of dimensions of the launch
  /// Number of threads of the block that processes each index of the launch together; 0: each thread processes one.
  int threads_per_tile_block = 0;
  std::vector<Parameter> parameters;  ///< parameters of the kernel, in order
  PythonSource native;                ///< the file in native precision
  PythonSource promoted;              ///< the file with every floating-point type promoted to f64
  /// Built in native precision instead of `native`, if it can be used. Empty: none.
  std::optional<PythonOwnText> own_text = std::nullopt;
};

/// The source of one kernel for one target.
///
/// The standalone text consists of the helpers and the body; it includes no header. The body defines the kernel's
/// structs, functions and entry points. It starts with the alias for f64 promotion, which defaults to the native type:
///
///     #ifndef ASSAY_REAL
///     #define ASSAY_REAL float
///     #endif
///     using real = ASSAY_REAL;
///
/// Further floating-point types may depend on `#ifdef ASSAY_REAL` before these lines. An f64-promotion build defines
/// ASSAY_REAL as double before the body. Both precisions of many kernels share one translation unit. Each body is
/// compiled in its own namespace, so it must be valid at namespace scope. Macros rename its entry points, so their
/// symbols must not be used as names of anything else.
///
/// Entry points for the CPU are
///     extern "C" void <symbol>(long long begin, long long end, <parameters>)
/// and run the threads [begin, end) in ascending order; the linear index of a thread counts the last launch dimension
/// fastest. For CUDA they are extern "C" __global__ with a grid-stride loop over threads [0, count):
///     extern "C" __global__ void <symbol>(long long count, <parameters>)
/// Everything else that a kernel needs, such as the extents of a multi-dimensional launch, is passed as ordinary
/// parameters.
struct EmittedKernel {
  std::string name;                      ///< an identifier; names the kernel in logs and need not be unique
  std::vector<SourceHelper> helpers;     ///< helpers that the body uses; each follows the helpers that it uses itself
  std::string body;                      ///< text after the helpers: structs, functions and entry points
  std::vector<EntryPoint> entry_points;  ///< entry points that the body defines
  /// How often one thread executes the innermost statement of a nest of loops with constant bounds: see
  /// ir::most_constant_trips.
  std::int64_t most_constant_trips = 1;
  /// Whether the body has a local array whose elements are structs in C++, such as vectors. If it has N elements,
  /// -fsanitize=bounds does not always detect the index N.
  bool has_arrays_of_structs = false;
  /// The kernel as Python in both precisions, for SourceTarget::kWarpPython; `body` is then the native text. Otherwise
  /// null.
  std::shared_ptr<const PythonBinding> python = nullptr;

  /// The standalone text, as `assay emit` prints it.
  [[nodiscard]] std::string source() const;
  /// Whether the variants of the two precisions differ. They are the same if nothing in the kernel is promoted, for
  /// example if all its floats have type f64.
  [[nodiscard]] bool has_promoted_variant() const;
  /// The line of the standalone text, counted from 1, on which the body starts.
  [[nodiscard]] int first_body_line() const;
};

/// The sources of one kernel for both targets.
struct EmittedKernelPair {
  EmittedKernel cpp;   ///< source for the CPU
  EmittedKernel cuda;  ///< source for CUDA
};

/// For which of a device's architectures a kernel is compiled, if there are several.
enum class ArchitectureChoice : std::uint8_t { kAll, kFirst, kLast };

/// The numeric mode and the optimization level of a build; part of a case's name and of every cache key.
struct BuildFlags {
  int optimization_level = 0;           ///< CPU: optimization level, 0 to 3, as for -O; CUDA: see fast_compile
  bool contracts_multiply_add = false;  ///< whether a * b + c may be rounded once, as an fma
  bool flushes_subnormals = false;      ///< CUDA: whether f32 subnormals are flushed to zero
  bool has_precise_division = true;     ///< CUDA: whether f32 division and reciprocal are correctly rounded
  bool has_precise_square_root = true;  ///< CUDA: whether f32 square root is correctly rounded
  /// CUDA: whether functions use fast-math intrinsics; CPU: whether parts of -ffast-math are used.
  bool uses_approximate_functions = false;
  /// For CUDA: whether NVRTC hardly optimizes kernels. The device `ptx` optimizes kernels with long loops as usual,
  /// because their interpretation takes longer than the compiler.
  bool fast_compile = false;
  /// `ptx`: whether NVRTC compiles many kernels in both precisions as one program, for the first chosen architecture.
  bool compiles_batches = false;
  ArchitectureChoice architectures = ArchitectureChoice::kAll;  ///< `ptx`: the architectures to compile for
  /// `cpu`: whether clang compiles the kernels if it is installed and no compiler is chosen. For many kernels in one
  /// translation unit, it takes less than half of the time of g++.
  bool uses_fastest_compiler = false;
  bool omits_promoted = false;  ///< `cpu` and `ptx`: whether only the native variant is built
  /// `ptx`: whether the promoted variant is built for the first of several architectures only.
  bool promotes_for_first_architecture = false;

  static constexpr BuildFlags strict() { return {}; }
  /// The default behavior of the compilers.
  static constexpr BuildFlags standard() { return {.contracts_multiply_add = true}; }
  /// The flags of --use_fast_math, or the corresponding flags of a host compiler.
  static constexpr BuildFlags fast() {
    return {.contracts_multiply_add = true,
            .flushes_subnormals = true,
            .has_precise_division = false,
            .has_precise_square_root = false,
            .uses_approximate_functions = true};
  }
  /// The precision variants to build.
  constexpr std::span<const Precision> precisions() const {
    return std::span(kPrecisions).first(omits_promoted ? 1 : kPrecisions.size());
  }
  /// strict(), compiled in the shortest time and for one architecture.
  static constexpr BuildFlags fast_to_compile() {
    return {.fast_compile = true, .compiles_batches = true, .architectures = ArchitectureChoice::kFirst};
  }
  friend constexpr bool operator==(const BuildFlags&, const BuildFlags&) = default;
};

/// The precision variants of a kernel to compile: those requested, without a promoted variant that is the same as the
/// native one, which is the first one requested.
[[nodiscard]] std::span<const Precision> compiled_precisions(const EmittedKernel& kernel,
                                                             std::span<const Precision> requested);
/// Whether the code of the native variant is also that of the requested promoted variant.
[[nodiscard]] bool is_promoted_native(const EmittedKernel& kernel, std::span<const Precision> requested);

}  // namespace assay::backends
