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
inline constexpr int kPrecisionCount = 2;  ///< number of precisions: native and promoted
using PrecisionBounds = std::array<double, kPrecisionCount>;

enum class MathLibrary : std::uint8_t { kLibm, kCuda };

/// The relative error that each float of the inputs is assumed to have. It models the rounding errors of code that
/// computes the same function by another algorithm: a backward stable algorithm computes the exact result for inputs
/// with relative errors of a few unit roundoffs (docs/design/numerics.md). Unless the error is 0, native bounds also
/// allow float32 constants such as 0.999 to be off by half an ulp, because such code may use them in double precision.
struct InputError {
  double unit_roundoffs = 0;  ///< the relative error, as a multiple of the unit roundoff of the input's type
  /// Minimum number of significant bits with which the unit roundoff is calculated: that of f32 if the kernel converts
  /// inputs of half precision before it computes with them.
  int least_significant_bits = 0;

  /// Returns the relative error of inputs of this type.
  [[nodiscard]] double relative(ir::Scalar type) const {
    return std::ldexp(unit_roundoffs, -std::max(ir::row(type).significant_bits, least_significant_bits));
  }
};

/// How the judged code calculates. Whether it contracts a * b + c is not part of this, because the bounds hold with and
/// without contraction.
struct ArithmeticProfile {
  /// Library for the types of the kernel, which selects a column of the operation table.
  MathLibrary native_library = MathLibrary::kLibm;
  MathLibrary promoted_library = MathLibrary::kLibm;  ///< library for the kernel with f64 promotion
  bool flushes_subnormals = false;                    ///< whether f32 subnormals are flushed to zero
  /// Whether threads may interleave; otherwise they run one after another in `thread_order`.
  bool has_unordered_atomics = true;
  /// Assumed errors of the inputs; none for code that follows the operations of the kernel.
  InputError input_error = {};
  /// Whether bounds with f64 promotion also allow the errors that `native_library` documents for its functions of
  /// float32. These are the errors of code that computes without rounding, but takes the functions from this library.
  bool promotion_has_library_errors = false;
  /// Whether native bounds also allow the errors of CUDA's approximate division, square root and logarithms of float32,
  /// if `native_library` is CUDA's.
  bool has_approximate_operations = false;
  /// Whether bounds with f64 promotion also allow each float32 constant of the kernel to be off by half an ulp, unless
  /// it is an integer or has few digits, such as 0.5 (docs/design/numerics.md).
  bool promotion_has_constant_errors = false;
};

/// Forces the other outcome of some uncertain decisions, to evaluate another path: the k-th uncertain decision of
/// `precision`, in execution order, takes its other outcome if flipped_decisions[k] is true.
struct ForcedPath {
  Precision precision = kNative;        ///< precision whose uncertain decisions are counted
  std::vector<bool> flipped_decisions;  ///< for the k-th uncertain decision: whether it takes its other outcome
};

/// One number for each scalar component of each parameter: [parameter][row-major element * components + component].
/// Value parameters are one element. An empty inner vector means all zero.
using ComponentValues = std::vector<std::vector<double>>;

/// The input of one evaluation. `launch` must match the kernel's parameters and outlive the call.
struct OracleRun {
  const ir::Launch& launch;        ///< extents and arguments of the launch
  ArithmeticProfile profile = {};  ///< how the judged code calculates
  bool computes_gradient = false;  ///< whether to compute gradients too
  /// Cotangents of the final contents of the arrays; used if `computes_gradient` is true.
  ComponentValues cotangents = {};
  /// Initial contents of the gradient arrays, which affect the rounding of the sums in them; used if
  /// `computes_gradient` is true.
  ComponentValues initial_gradients = {};
  /// For each parameter: whether its array is uninitialized, so that reading an element before it is written is a
  /// finding.
  std::vector<bool> uninitialized = {};
  /// Threads to run, in this order, by their row-major number in the launch extents; may be a subset. Empty: all
  /// threads in ascending order.
  std::vector<std::int64_t> thread_order = {};
  /// Whether to report only the scalars that were accessed (see OutputArray::element_indices), for runs of a few
  /// threads of a large launch.
  bool reports_only_accessed_elements = false;
  bool records_extents = false;  ///< whether to compute ReferenceResult::accessed_extents
  /// Whether the judged code runs the threads in the same order. Atomics whose results depend on the order are then no
  /// findings.
  bool fixes_thread_order = false;
  ForcedPath forced_path = {};  ///< uncertain decisions that must take their other outcome
  /// Number of instructions, summed over threads, after which the evaluation stops.
  std::int64_t instruction_budget = 100'000'000;
};

/// One scalar of an array after the launch.
struct OutputElement {
  long double value = 0;       ///< value of a float
  std::int64_t integer = 0;    ///< exact value of an integer or bool, sign- or zero-extended to 64 bits
  PrecisionBounds bound = {};  ///< bound of |result of the judged code - value| for a float; 0 for an integer
  bool is_written = false;     ///< whether the launch wrote the element
};
/// The contents of one array after the launch.
struct OutputArray {
  std::vector<OutputElement> elements;  ///< scalars in the order of row-major element number * components + component
  std::vector<ir::Scalar> components;   ///< types of the scalar components of one element
  /// If OracleRun::reports_only_accessed_elements is true: for each entry of `elements`, its index among all scalars of
  /// the array, ascending. All these scalars were written.
  std::vector<std::size_t> element_indices = {};
};

/// Writes the elements that the launch wrote to the argument, which has the shape of the array. The array must contain
/// all elements.
void write_final_content(const ir::Module& module, const OutputArray& array, ir::Argument& argument);

/// The derivative of sum(cotangent * final content) by one float component of the initial contents. For an array that
/// the kernel writes, this is also the final content of its gradient array if that initially holds the cotangents.
struct GradientElement {
  long double value = 0;       ///< the derivative
  PrecisionBounds bound = {};  ///< bound of the error of a correct implementation
  double magnitude_sum = 0;    ///< sum of the magnitudes of the terms that add up to `value`
  double path_magnitude =
      0;  ///< sum over the paths from the outputs of |cotangent * derivatives|, without cancellation
  std::int64_t contribution_count = 0;  ///< number of these terms, without the initial gradient
};
/// The gradient of one parameter.
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
  /// What is wrong.
  enum class Kind : std::uint8_t {
    kOutOfBounds,        ///< an index is outside of an array, local array or vector
    kUninitializedRead,  ///< an element is read that was never written
    kRace,  ///< two threads access an element, at least one of them writes, and not both accesses are atomic
    kOrderDependentAtomic,    ///< the result or the returned value of an atomic depends on the order of threads
    kInvalidIntegerDivision,  ///< a division by zero, or of the smallest integer by -1
    kIntegerOverflow,         ///< signed arithmetic on 32 or 64 bits overflows
    kShiftOutOfRange,         ///< a shift count is negative, or at least the number of bits
    kConversionOutOfRange,    ///< a float is converted to an integer type that cannot represent it
    kInstructionLimit,        ///< the instruction limit was reached, perhaps by an infinite loop; the evaluation stops
  };
  Kind kind = Kind::kOutOfBounds;        ///< what is wrong
  ir::VarId parameter = ir::kNone;       ///< accessed array, if it is a parameter; otherwise kNone
  std::vector<std::int64_t> index = {};  ///< index with which the array is accessed
  std::vector<std::int32_t> shape = {};  ///< shape of the accessed array
  ir::Loc loc = {};                      ///< source location
  std::int64_t thread = 0;               ///< number of the thread in the launch
  ir::Loc earlier_loc = {};              ///< for a race: source location of the earlier access
  std::int64_t earlier_thread = -1;      ///< for a race: number of the thread of the earlier access
};
/// Whether the finding is a read of a variable before its assignment. The kind of such a finding is kOutOfBounds,
/// because the read also reads an array next to its end (ir/guard_array.hpp).
bool is_read_before_assignment(const Finding& finding, const ir::Module& module, const ir::Function& kernel);
/// One line with kind, array, index, source line and threads, using the names of the source.
std::string describe(const Finding& finding, const ir::Module& module, const ir::Function& kernel);

/// The decisions of a run: at comparisons, roundings to integers and non-differentiable points. A decision is uncertain
/// in a precision if the bounds of its operands allow the other outcome.
struct DecisionSummary {
  /// Number of uncertain decisions that affect forward values, by precision.
  std::array<std::int64_t, kPrecisionCount> uncertain_decision_counts = {};
  std::array<std::int64_t, kPrecisionCount> uncertain_kinks =
      {};  ///< decisions that change only derivatives (min, abs, ties)
  /// By precision: whether each decision that the bounds leave open has only two possible outcomes, so that all paths
  /// can be enumerated.
  std::array<bool, kPrecisionCount> is_enumerable = {true, true};
  static constexpr std::uint64_t kEmptyPathHash =
      0xcbf29ce484222325;                    ///< value of `path_hash` before the first decision
  std::uint64_t path_hash = kEmptyPathHash;  ///< hash of all outcomes; it is the same for runs on the same path
  /// Source locations of the first few uncertain decisions, for messages.
  std::vector<ir::Loc> uncertain_locations = {};

  /// Whether any decision depended on the value of a float.
  bool any() const { return path_hash != kEmptyPathHash; }
};

/// A point where the kernel branches, and how often each branch was taken. All inlined copies of a function share their
/// branch points.
struct BranchPoint {
  enum class Kind : std::uint8_t {
    kBranch,      ///< if, while, conditional expression, where, and, or: the condition is true (branch 0) or false (1)
    kRangeLoop,   ///< range loop: the body runs (branch 0) or the loop ends (1)
    kMinMax,      ///< min, max: the smaller operand is the first (branch 0) or not (1)
    kSign,        ///< abs, sign, step: the operand is negative (branch 0) or not (1)
    kClampRange,  ///< clamp: the operand is inside of the bounds (branch 0), below (1) or above (2)
  };
  Kind kind = Kind::kBranch;                       ///< kind of the branch point
  ir::Loc loc = {};                                ///< location in the source
  std::array<std::int64_t, 3> branch_counts = {};  ///< how often each branch was taken, by number of the branch

  std::size_t branch_count() const { return kind == Kind::kClampRange ? 3 : 2; }
};
/// Describes an uncovered branch of a choice, for use after "line 12: ": "the condition is never true".
std::string_view describe_uncovered(BranchPoint::Kind kind, std::size_t branch);

/// The result of one evaluation.
struct ReferenceResult {
  /// For each parameter: the array after the launch; nullopt for a value or an array that the kernel does not write.
  std::vector<std::optional<OutputArray>> outputs;
  /// If OracleRun::computes_gradient is true, for each parameter: its gradient; nullopt if it has no floats.
  std::vector<std::optional<GradientArray>> gradients;
  /// For each parameter and dimension: the extent that the array needs to hold all tiles that are loaded from it or
  /// stored to it; empty if there are no tiles.
  std::vector<std::vector<std::int32_t>> extents_required_by_tiles;
  /// If OracleRun::records_extents is true, for each parameter and dimension: the least extent that contains all used
  /// indices; 0 if the array is not accessed.
  std::vector<std::vector<std::int32_t>> accessed_extents;
  std::vector<Finding> findings;           ///< the first 64 findings
  DecisionSummary decisions;               ///< decisions that depended on floats
  std::vector<BranchPoint> branch_points;  ///< all branch points of the kernel, in code order
  std::int64_t instructions = 0;           ///< number of executed instructions, summed over threads
  bool is_complete = true;                 ///< whether the evaluation reached the end, not the instruction limit
};

inline constexpr int kMaxDirectionCount = 2;  ///< maximum number of directions for which one run computes derivatives
/// The maximum number of additional points at which one run evaluates values.
inline constexpr std::size_t kMaxShiftedPointCount = 12;

/// Derivatives of all outputs along up to kMaxDirectionCount directions, by dual numbers.
struct Tangents {
  /// [parameter][scalar component of the array after the launch]; empty where ReferenceResult::outputs is empty.
  std::vector<std::vector<std::array<long double, kMaxDirectionCount>>> outputs;
  std::uint64_t path_hash = 0;  ///< hash of the decisions' outcomes, as DecisionSummary::path_hash
  bool is_complete = true;      ///< whether the evaluation did not stop early
};

/// Derivatives of all outputs along a direction, by central differences in long double that are extrapolated by
/// Ridders' method.
struct DirectionalDifferences {
  /// A derivative and its estimated error.
  struct Estimate {
    long double value = 0;  ///< the derivative
    long double error = 0;  ///< error that the extrapolation estimates
  };
  std::vector<std::vector<Estimate>> outputs;  ///< as Tangents::outputs
  /// Whether the derivatives are valid: for some step, all points of the stencil were on one path and the extrapolation
  /// converged.
  bool is_same_path = false;
  long double step = 0;  ///< greatest step of the stencil with which the derivatives were computed
};

class Program;

/// What the oracle evaluates where a kernel calls a function with a custom replay (Warp's func_replay).
enum class CustomReplays : std::uint8_t {
  kIgnored,   ///< the function, as the forward pass does
  kExecuted,  ///< its replay, as the backward pass does
};

/// A kernel prepared for evaluation. It does not change, so several threads may evaluate it at once.
class Oracle {
 public:
  /// Keeps references to both. Fails with the reason if the oracle does not support the kernel.
  static Result<Oracle> make(const ir::Module& module, const ir::Function& kernel,
                             CustomReplays custom_replays = CustomReplays::kIgnored);

  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  ReferenceResult evaluate(const OracleRun& run) const;
  /// Directions are changes of the initial float components; at most kMaxDirectionCount of them. The inputs are those
  /// of the run, moved along the first direction by `step`.
  Tangents tangents(const OracleRun& run, const std::vector<ComponentValues>& directions, long double step = 0) const;
  /// Computes the derivatives of all outputs along a direction by finite differences. No step is greater than
  /// `largest_step`.
  DirectionalDifferences directional_differences(
      const OracleRun& run, const ComponentValues& direction,
      long double largest_step = std::numeric_limits<long double>::infinity()) const;
  /// Evaluates the run without gradients, and checks the path at other points: the inputs are moved along the direction
  /// by each of the steps, at most kMaxShiftedPointCount. Returns nullopt if any of these points takes another path.
  std::optional<ReferenceResult> evaluate_if_same_path(const OracleRun& run, const ComponentValues& direction,
                                                       std::span<const long double> steps) const;

  /// Whether a parameter is an array that a statement stores to or updates atomically.
  bool writes(ir::VarId parameter) const;

 private:
  explicit Oracle(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;  ///< the lowered kernel
};

/// Returns the relative disagreement between the gradients of the reverse sweep and the dual numbers along one
/// direction: |sum cotangent * tangent - sum gradient * direction| / sum |gradient * direction|. If it exceeds 2^-45,
/// the oracle is incorrect. It is 0 if all three sums are below the smallest normal double, where the oracle's own
/// arithmetic underflows.
long double gradient_disagreement(const ReferenceResult& from_reverse_sweep, const Tangents& tangents,
                                  int direction_number, const OracleRun& run, const ComponentValues& direction);

}  // namespace assay::reference
