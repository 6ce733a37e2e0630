// What the printer hands to a device: one kernel's source text, and how to build it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::backends {

/// Which of the two functions of a kernel.
enum class Pass : std::uint8_t { kForward, kBackward };

/// The precision that the source is compiled in: the kernel's own types, or every floating type as double, which
/// tier T1 judges elementwise.
enum class Precision : std::uint8_t { kNative, kPromoted };

constexpr std::string_view to_text(Pass pass) { return pass == Pass::kForward ? "forward" : "backward"; }
constexpr std::string_view to_text(Precision precision) { return precision == Precision::kNative ? "native" : "lift"; }

/// A block of text in front of a kernel: a type, a function or a declaration that kernels share.
///
/// For one target a name always stands for the same text, which does not depend on the lane: a helper is a template or
/// is overloaded on its types. It uses nothing but earlier helpers of the same kernel. So a batch of kernels carries
/// each helper once.
struct Helper {
  std::string name;  ///< unique per target: "array", "sin", "floor_div"
  std::string text;  ///< whole lines, at namespace scope, outside of any namespace
};

/// One function that a device can launch.
struct EntryPoint {
  Pass pass = Pass::kForward;
  std::string symbol;  ///< name of the function, "<kernel>_forward"; has C linkage
  /// The types of the parameters behind the leading range, in order, as they are spelt in the source: "Array<real, 1>",
  /// "int", "Particle". Each is passed by value.
  std::vector<std::string> parameter_types;
  /// CUDA: the threads that a block must have; the range then counts blocks. 0: any number, and the range counts
  /// threads.
  int block_threads = 0;
};
/// The threads of a block of a kernel with tiles, as the helper tile_block says for CUDA.
inline constexpr int kTileBlockThreads = 64;

/// The source of one kernel for one target (C++ or CUDA C++).
///
/// The standalone text is the helpers and then the body; it includes no header. The body defines the kernel's structs,
/// its functions and its entry points, and starts with the alias of the lift, whose default is the kernel's own type:
///
///     #ifndef ASSAY_REAL
///     #define ASSAY_REAL float
///     #endif
///     using real = ASSAY_REAL;
///
/// A further floating type may be made to depend on `#ifdef ASSAY_REAL` in front of these lines. A build of the lift
/// defines ASSAY_REAL as double before the body. Both lanes of many kernels share one translation unit: each body is
/// compiled in a namespace of its own, so it must be valid at namespace scope, and its entry points are renamed by
/// macros, so their symbols must not be used as names of anything else.
///
/// Entry points for the CPU are
///     extern "C" void <symbol>(long long begin, long long end, <parameters>)
/// and run the threads [begin, end) in ascending order; the linear index of a thread counts the last launch dimension
/// fastest. For CUDA they are extern "C" __global__ with a grid-stride loop over threads [0, count):
///     extern "C" __global__ void <symbol>(long long count, <parameters>)
/// What else a kernel needs to know, as the extents of a launch of several dimensions, are parameters like any other.
struct EmittedKernel {
  std::string name;  ///< an identifier; names the kernel in logs, need not be unique
  std::vector<Helper> helpers;
  std::string body;
  std::vector<EntryPoint> entries;

  /// The standalone text, as `assay emit` prints it.
  [[nodiscard]] std::string source() const;
  /// The line of the standalone text, counted from 1, at which the body starts.
  [[nodiscard]] int first_body_line() const;
};

/// The sources of one kernel for both targets.
struct EmittedPair {
  EmittedKernel cpp;
  EmittedKernel cuda;
};

/// The numeric mode and the effort of a build; part of a case's name and of every cache key.
struct BuildFlags {
  int optimisation = 0;                ///< CPU: 0 to 3, as -O takes it; CUDA always optimises
  bool contract = false;               ///< a*b + c may round once
  bool flush_subnormals = false;       ///< CUDA: f32 subnormals become 0
  bool precise_division = true;        ///< CUDA: f32 division and reciprocal are correctly rounded
  bool precise_square_root = true;     ///< CUDA: f32 square root is correctly rounded
  bool approximate_functions = false;  ///< CUDA: fast-math intrinsics; CPU: -ffast-math

  static constexpr BuildFlags strict() { return {}; }
  /// What the compilers do when nothing is asked.
  static constexpr BuildFlags standard() { return {.contract = true}; }
  static constexpr BuildFlags fast() {
    return {.contract = true,
            .flush_subnormals = true,
            .precise_division = false,
            .precise_square_root = false,
            .approximate_functions = true};
  }
  friend constexpr bool operator==(const BuildFlags&, const BuildFlags&) = default;
};

}  // namespace assay::backends
