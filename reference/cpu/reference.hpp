// The oracle: the results of a kernel, forward and backward, with a guaranteed bound on the error of any correct
// implementation (docs/design/numerics.md).
//
//     auto oracle = Oracle::make(module, kernel);                 // lowers the kernel once
//     ReferenceResult r = oracle.value().evaluate({.launch = launch, .computes_gradient = true, .cotangents =
//     cotangents}); if (r.findings.empty() && r.decisions.uncertain_decision_counts[kNative] == 0)
//       ... |got - r.outputs[p]->elements[k].value| <= r.outputs[p]->elements[k].bound[kNative] ...
//
// The oracle interprets the IR itself, one thread after another, and shares no code with the printers or the adjoint
// pass. Values approximate real arithmetic in long double: they are not rounded to the types of the kernel; the bound
// covers the rounding of those types. Integers and bools are exact and wrap as in C.
//
// One evaluation gives bounds for two precisions: kNative for the types of the kernel, kPromoted for the same code with
// every float type replaced by f64. An infinite bound means that the error is unknown, and a check that depends on it
// is inconclusive. A bound of 0 with a non-finite value means that the result must be of the same class (NaN or
// infinity).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::reference {

/// The precision of the implementation that a bound applies to; indexes every array of bounds.
enum Precision : std::uint8_t { kNative, kPromoted };
inline constexpr int kPrecisionCount = 2;
using PrecisionBounds = std::array<double, kPrecisionCount>;

enum class MathLibrary : std::uint8_t { kLibm, kCuda };

/// The relative error that each float of the inputs gets. For code that computes the same function by another
/// algorithm: its rounding errors are errors of the inputs, times a small factor, if the algorithm is backward stable
/// (docs/design/numerics.md).
struct InputError {
  double unit_roundoffs = 0;  ///< the error, in unit roundoffs of the input's type
  /// Types with fewer significant bits count as if they had this many: those of f32 if the kernel converts inputs of
  /// half precision before it computes with them.
  int least_significant_bits = 0;

  /// The relative error of inputs of this type.
  [[nodiscard]] double relative(ir::Scalar type) const {
    return std::ldexp(unit_roundoffs, -std::max(ir::row(type).significant_bits, least_significant_bits));
  }
};

/// Arithmetic of the judged code. Contraction of a * b + c needs no field: the bounds hold with and without it.
struct ArithmeticProfile {
  MathLibrary native_library = MathLibrary::kLibm;    ///< column of the operation table for the types of the kernel
  MathLibrary promoted_library = MathLibrary::kLibm;  ///< library for the f64 promotion
  bool flushes_subnormals = false;                    ///< whether f32 subnormals become zero
  bool has_unordered_atomics = true;  ///< threads may interleave; false: they run sequentially in `thread_order`
  InputError input_error = {};        ///< errors of the inputs; none for code that follows the kernel's operations
};

/// Forces the other outcome of chosen uncertain decisions, to evaluate another path: the k-th uncertain decision of
/// `precision`, in execution order, takes its other outcome if flipped_decisions[k] is true.
struct ForcedPath {
  Precision precision = kNative;        ///< precision whose uncertain decisions are counted
  std::vector<bool> flipped_decisions;  ///< whether the k-th uncertain decision takes its other outcome
};

/// One number for each scalar component of each parameter: [parameter][row-major element * components + component].
/// Value parameters are one element. An empty inner vector means all zero.
using ComponentValues = std::vector<std::vector<double>>;

/// One evaluation. `launch` must match the kernel's parameters and outlive the call.
struct OracleRun {
  const ir::Launch& launch;        ///< arguments and extents
  ArithmeticProfile profile = {};  ///< arithmetic of the judged code
  bool computes_gradient = false;  ///< whether to compute gradients
  /// Cotangents of the arrays' final contents; used with `computes_gradient`.
  ComponentValues cotangents = {};
  /// Initial content of the gradient buffers; a term in the rounding of their sums. Used with `computes_gradient`.
  ComponentValues initial_gradients = {};
  /// Parameters whose arrays are uninitialized: reading an element before writing it is a finding.
  std::vector<bool> uninitialized = {};
  /// Thread numbers (row-major in the launch extents) in the order to run them; may be a subset. Empty: all, ascending.
  std::vector<std::int64_t> thread_order = {};
  /// Report only accessed scalars (OutputArray::element_indices), for runs of a few threads of a large launch.
  bool reports_only_accessed_elements = false;
  bool records_extents = false;                   ///< whether to set ReferenceResult::accessed_extents
  ForcedPath forced_path = {};                    ///< decisions to take otherwise
  std::int64_t instruction_budget = 100'000'000;  ///< number of instructions after which the evaluation stops
};

/// One scalar of an array after the launch.
struct OutputElement {
  long double value = 0;       ///< value of a float
  std::int64_t integer = 0;    ///< exact content of an integer or bool, sign- or zero-extended
  PrecisionBounds bound = {};  ///< bound of |computed - value| for floats; 0 for integers
  bool is_written = false;     ///< whether the launch wrote the element
};
struct OutputArray {
  std::vector<OutputElement> elements;  ///< scalars by row-major element * components + component
  std::vector<ir::Scalar> components;   ///< types of the scalar components of one element
  /// With OracleRun::reports_only_accessed_elements: for each entry of `elements`, its index without that option,
  /// ascending. All were written.
  std::vector<std::size_t> element_indices = {};
};

/// d(sum of cotangent * final content) / d(initial content) of one float component. For an array that the kernel
/// writes, this is also the final content of its gradient buffer if the buffer initially holds the cotangents.
struct GradientElement {
  long double value = 0;       ///< the derivative
  PrecisionBounds bound = {};  ///< bound of the error of a correct implementation
  double magnitude_sum = 0;    ///< sum of the magnitudes of the contributions
  double path_magnitude =
      0;  ///< sum over the paths from the outputs of |cotangent * derivatives|, without cancellation
  std::int64_t contribution_count = 0;  ///< number of terms of the sum, excluding the initial gradient
};
struct GradientArray {
  std::vector<GradientElement>
      elements;  ///< by element * components + component; zero for components that are not floats
  /// With OracleRun::reports_only_accessed_elements: for each entry of `elements`, its index without that option,
  /// ascending. Other gradients are zero.
  std::vector<std::size_t> element_indices = {};

  /// Position in `elements` of the entry with this index; empty if there is none.
  std::optional<std::size_t> position(std::size_t cell) const;
};

/// A defect of the user's kernel on this launch.
struct Finding {
  enum class Kind : std::uint8_t {
    kOutOfBounds,             ///< index outside an array, local array or vector
    kUninitializedRead,       ///< read of an element that was never written
    kRace,                    ///< two threads access an element, at least one writes, and not both atomically
    kOrderDependentAtomic,    ///< an atomic's return value or result depends on the order of threads
    kInvalidIntegerDivision,  ///< division by zero, or of the smallest value by -1
    kIntegerOverflow,         ///< overflow of signed arithmetic on 32 or 64 bits
    kShiftOutOfRange,         ///< shift by a negative count or at least the bit width
    kConversionOutOfRange,    ///< conversion of a float outside the integer's range
    kInstructionLimit,        ///< infinite loop, or too many instructions; the evaluation stops there
  };
  Kind kind = Kind::kOutOfBounds;        ///< kind of the defect
  ir::VarId parameter = ir::kNone;       ///< array that is accessed, if it is a parameter
  std::vector<std::int64_t> index = {};  ///< index of the access
  std::vector<std::int32_t> shape = {};  ///< shape of the array
  ir::Loc loc = {};                      ///< location in the source
  std::int64_t thread = 0;               ///< number of the thread
  ir::Loc earlier_loc = {};              ///< for races: location of the earlier access
  std::int64_t earlier_thread = -1;      ///< for races: thread of the earlier access
};
/// One line with kind, array, index, source line and threads, using the names of the source.
std::string describe(const Finding& finding, const ir::Module& module, const ir::Function& kernel);

/// Decisions at comparisons, roundings to integers and kinks. A decision is uncertain in a precision if the bounds of
/// its operands allow the other outcome.
struct DecisionSummary {
  std::array<std::int64_t, kPrecisionCount> uncertain_decision_counts = {};  ///< decisions that change forward values
  std::array<std::int64_t, kPrecisionCount> uncertain_kinks =
      {};  ///< decisions that change only derivatives (min, abs, ties)
  std::array<bool, kPrecisionCount> is_enumerable = {true, true};  ///< whether all decisions had only two outcomes
  static constexpr std::uint64_t kEmptyPathHash =
      0xcbf29ce484222325;                    ///< value of `path_hash` before the first decision
  std::uint64_t path_hash = kEmptyPathHash;  ///< hash of all outcomes; equal for runs on the same path
  /// Source locations of the first few uncertain decisions, for messages.
  std::vector<ir::Loc> uncertain_locations = {};

  /// Whether any decision depended on the value of a float.
  bool any() const { return path_hash != kEmptyPathHash; }
};

/// A point where the kernel branches, and how often each branch was taken. Inlined copies of a function share it.
struct BranchPoint {
  enum class Kind : std::uint8_t {
    kBranch,      ///< if, while, a conditional expression, where, and, or: the condition is true (0) or false (1)
    kRangeLoop,   ///< range loop: the body runs (0), the loop ends (1)
    kMinMax,      ///< min, max: the smaller operand is the first (0), or not (1)
    kSign,        ///< abs, sign, step: the operand is negative (0) or not (1)
    kClampRange,  ///< clamp: the operand is inside (0), below (1) or above (2)
  };
  Kind kind = Kind::kBranch;                       ///< kind of the branch point
  ir::Loc loc = {};                                ///< location in the source
  std::array<std::int64_t, 3> branch_counts = {};  ///< how often each branch was taken

  std::size_t branch_count() const { return kind == Kind::kClampRange ? 3 : 2; }
};
/// Describes an uncovered branch of a choice, for use after "line 12: ": "the condition is never true".
std::string_view describe_uncovered(BranchPoint::Kind kind, std::size_t branch);

struct ReferenceResult {
  /// One per parameter; empty for values and for arrays that the kernel does not write.
  std::vector<std::optional<OutputArray>> outputs;
  /// With OracleRun::computes_gradient, one per parameter; empty for parameters without floats.
  std::vector<std::optional<GradientArray>> gradients;
  /// One per parameter and dimension: the extent that an array needs to hold all tiles loaded from it or stored to it;
  /// empty if there are none.
  std::vector<std::vector<std::int32_t>> extents_required_by_tiles;
  /// With OracleRun::records_extents, one per parameter and dimension: the least extent that holds all indices used; 0
  /// if the array is not accessed.
  std::vector<std::vector<std::int32_t>> accessed_extents;
  std::vector<Finding> findings;           ///< first 64 findings
  DecisionSummary decisions;               ///< decisions that depend on floats
  std::vector<BranchPoint> branch_points;  ///< all choices of the kernel, in code order
  std::int64_t instructions = 0;           ///< number of executed instructions
  bool is_complete = true;                 ///< whether the evaluation did not stop at the instruction limit
};

inline constexpr int kMaxDirectionCount = 2;  ///< maximum number of directions of one interpretation
/// Maximum number of additional points that one interpretation evaluates.
inline constexpr std::size_t kMaxShiftedPointCount = 12;

/// Directional derivatives by dual numbers, along up to kMaxDirectionCount directions.
struct Tangents {
  /// [parameter][scalar component of the array after the launch]; empty where ReferenceResult::outputs is empty.
  std::vector<std::vector<std::array<long double, kMaxDirectionCount>>> outputs;
  std::uint64_t path_hash = 0;  ///< hash of the decisions' outcomes, as DecisionSummary::path_hash
  bool is_complete = true;      ///< whether the evaluation did not stop early
};

/// Directional derivatives by Ridders' extrapolated central differences in long double.
struct DirectionalDifferences {
  /// A derivative with its estimated error.
  struct Estimate {
    long double value = 0;  ///< the derivative
    long double error = 0;  ///< error as estimated by the extrapolation
  };
  std::vector<std::vector<Estimate>> outputs;  ///< as Tangents::outputs
  /// false: no step kept all points of the stencil on one path with a converging extrapolation
  bool is_same_path = false;
  long double step = 0;  ///< greatest step of the stencil that was used
};

class Program;

/// A kernel prepared for evaluation. Immutable: evaluations may run concurrently.
class Oracle {
 public:
  /// Keeps references to both. Fails with the reason if the oracle does not support the kernel.
  static Result<Oracle> make(const ir::Module& module, const ir::Function& kernel);

  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  ReferenceResult evaluate(const OracleRun& run) const;
  /// Directions are changes of the initial float components; at most kMaxDirectionCount of them. The inputs are those
  /// of the run, moved along the first direction by `step`.
  Tangents tangents(const OracleRun& run, const std::vector<ComponentValues>& directions, long double step = 0) const;
  /// No step is greater than `largest_step`.
  DirectionalDifferences directional_differences(
      const OracleRun& run, const ComponentValues& direction,
      long double largest_step = std::numeric_limits<long double>::infinity()) const;
  /// Evaluates the run, without gradients, if it takes the same path when its inputs are moved along a direction by
  /// each of the steps (at most kMaxShiftedPointCount); otherwise empty.
  std::optional<ReferenceResult> evaluate_if_same_path(const OracleRun& run, const ComponentValues& direction,
                                                       std::span<const long double> steps) const;

  /// Whether a parameter is an array that a statement stores to or updates atomically.
  bool writes(ir::VarId parameter) const;

 private:
  explicit Oracle(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;  ///< the lowered kernel
};

/// Relative disagreement between the gradients of the reverse sweep and the dual numbers along one direction:
/// |sum cotangent * tangent - sum gradient * direction| / sum |gradient * direction|. If it exceeds 2^-45, the oracle
/// is incorrect. It is 0 if all three sums are below the smallest normal double, where the oracle's own arithmetic
/// underflows.
long double gradient_disagreement(const ReferenceResult& from_reverse_sweep, const Tangents& tangents,
                                  int direction_number, const OracleRun& run, const ComponentValues& direction);

}  // namespace assay::reference
