// The oracle: what a kernel computes, forward and backward, with a proved bound on how far a correct
// implementation may be from it (docs, numeric policy).
//
//     auto oracle = Oracle::make(module, kernel);                 // lowers the kernel once
//     Reference r = oracle.value().evaluate({.launch = launch, .gradient = true, .seeds = seeds});
//     if (r.findings.empty() && r.decisions.uncertain[kNative] == 0)
//       ... |got - r.outputs[p]->elements[k].value| <= r.outputs[p]->elements[k].bound[kNative] ...
//
// The oracle interprets the IR itself, all threads one after another, and shares no code with the printers or
// the adjoint pass. Values are those of real numbers, to the precision of long double: nothing is rounded to
// the kernel's types; what those types may lose is in the bound. Integers and bools are exact and wrap as in C.
//
// Two lanes of bounds come from one evaluation: kNative for the kernel's own types, kPromoted for the same code
// with every float type replaced by f64. A bound of infinity means that nothing is known: a check that depends
// on it is inconclusive. A bound of 0 with a value that is not finite means that its class must match.
#pragma once

#include <array>
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

/// Which implementation a bound is for; indexes every array of bounds.
enum Precision : std::uint8_t { kNative, kPromoted };
inline constexpr int kPrecisions = 2;
using PrecisionBounds = std::array<double, kPrecisions>;

enum class MathLibrary : std::uint8_t { kLibm, kCuda };

/// How the judged code computes. Contraction of a * b + c needs no field: the bounds hold with and without it.
struct Profile {
  MathLibrary native_library = MathLibrary::kLibm;    ///< column of the operation table for the kernel's own types
  MathLibrary promoted_library = MathLibrary::kLibm;  ///< the same for the double lift
  bool flush_to_zero = false;                         ///< f32 subnormals become zero
  bool unordered_atomics = true;  ///< threads may interleave; false: they run one after another, in `order`
};

/// Turns over chosen uncertain decisions, to evaluate the other path: the k-th uncertain decision of `lane`
/// (in the order of execution) takes the other outcome where flips[k] is true.
struct ForcedPath {
  Precision precision = kNative;
  std::vector<bool> flips;
};

/// One number for each float leaf of each parameter: [parameter][element in row-major order * leaves + leaf].
/// Value parameters are one element. An empty inner vector means all zero.
using ComponentValues = std::vector<std::vector<double>>;

/// One evaluation. `launch` must match the kernel's parameters and outlive the call.
struct Run {
  const ir::Launch& launch;
  Profile profile = {};
  bool gradient = false;
  /// Cotangents of the arrays' final contents; used with `gradient`.
  ComponentValues seeds = {};
  /// What the gradient buffers hold before; counts as a term in the rounding of their sums. Used with `gradient`.
  ComponentValues initial_gradients = {};
  /// Parameters whose arrays nobody has initialised: to read a cell before writing it is a finding.
  std::vector<bool> uninitialised = {};
  /// Thread numbers (row-major in the launch extents) in the order to run them, which may be some of them only; empty:
  /// all, ascending.
  std::vector<std::int64_t> order = {};
  /// Tell only of cells that a thread touched (OutputArray::places): for a few threads of a large launch.
  bool touched_only = false;
  ForcedPath forced = {};
  std::int64_t instruction_budget = 100'000'000;
};

/// One scalar of an array after the launch.
struct OutputElement {
  long double value = 0;       ///< floats
  std::int64_t integer = 0;    ///< integers and bools: the exact content, sign- or zero-extended
  PrecisionBounds bound = {};  ///< floats: |computed - value| <= bound; 0 for integers
  bool written = false;
};
struct OutputArray {
  std::vector<OutputElement> elements;  ///< [element in row-major order * leaves + leaf]
  std::vector<ir::Scalar> leaves;       ///< the scalars of one element
  /// With Run::touched_only: the cells, ascending, that `elements` are then in turn; all of them were written.
  std::vector<std::size_t> places = {};
};

/// d(sum of seed * final content) / d(initial content) of one float leaf. For an array that the kernel writes
/// this is also what its gradient buffer must hold afterwards when it held the seeds before.
struct GradientElement {
  long double value = 0;
  PrecisionBounds bound = {};
  double magnitude = 0;  ///< sum of |contributions|
  double reach = 0;      ///< sum over the paths from the outputs of |seed * derivatives|, as if none cancelled
  std::int64_t contributions = 0;  ///< number of terms of the sum, the prefill not counted
};
struct GradientArray {
  std::vector<GradientElement> elements;  ///< [element * leaves + leaf]; zero where the leaf is no float
  /// With Run::touched_only: the cells, ascending, that `elements` are then in turn; the others' gradient is zero.
  std::vector<std::size_t> places = {};

  /// Where the element of a cell is in `elements`; nothing where it has none.
  std::optional<std::size_t> position(std::size_t cell) const;
};

/// What the oracle found wrong with the user's kernel on this launch.
struct Finding {
  enum class Kind : std::uint8_t {
    kOutOfBounds,        ///< index outside an array, local array or vector
    kUninitialisedRead,  ///< read of a cell that nobody wrote
    kRace,               ///< two threads touch a cell, one writes, not both atomically
    kOrderDependent,     ///< an atomic's return value or result depends on the order of threads
    kIntegerDivision,    ///< by zero, or of the least value by -1
    kShiftRange,         ///< shift by a negative number or by the width or more
    kConversionRange,    ///< float to integer outside the integer's range
    kInstructionBudget,  ///< endless loop, or too long for the budget; the evaluation stops there
  };
  Kind kind = Kind::kOutOfBounds;
  ir::VarId parameter = ir::kNone;       ///< array concerned, if it is a parameter
  std::vector<std::int64_t> index = {};  ///< index used
  std::vector<std::int32_t> shape = {};  ///< shape of the array
  ir::Loc loc = {};
  std::int64_t thread = 0;
  ir::Loc other_loc = {};          ///< races: the earlier access
  std::int64_t other_thread = -1;  ///< races: its thread
};
/// One line: kind, array, index, line and threads, in the words of the user's source.
std::string describe(const Finding& finding, const ir::Module& module, const ir::Function& kernel);

/// What happened at comparisons, roundings to integers and kinks. A decision is uncertain in a lane when the
/// bounds of its operands allow the other outcome.
struct Decisions {
  std::array<std::int64_t, kPrecisions> uncertain = {};        ///< that change forward values
  std::array<std::int64_t, kPrecisions> uncertain_kinks = {};  ///< that change derivatives only (min, abs, ties)
  std::array<bool, kPrecisions> enumerable = {true, true};     ///< false: some had more than two outcomes
  static constexpr std::uint64_t kNoOutcome = 0xcbf29ce484222325;
  std::uint64_t path = kNoOutcome;  ///< hash of all outcomes: equal for runs along the same path
  /// Places of the first few uncertain ones, for messages.
  std::vector<ir::Loc> places = {};

  /// Whether anything was decided at all, by the value of a float.
  bool any() const { return path != kNoOutcome; }
};

/// A place where runs go different ways, and how often each way was taken. Copies of an inlined function share theirs.
struct Choice {
  enum class Kind : std::uint8_t {
    kBranch,  ///< if, while, a conditional expression, where, and, or: the condition is true (0) or false (1)
    kLoop,    ///< for: the body runs (0), the range is at its end (1)
    kLesser,  ///< min, max: the lesser operand is the first (0), or the second or neither (1)
    kSign,    ///< abs, sign, step: the operand is below zero (0) or not (1)
    kRange,   ///< clamp: the operand is inside (0), below (1) or above (2)
  };
  Kind kind = Kind::kBranch;
  ir::Loc loc = {};
  std::array<std::int64_t, 3> taken = {};

  std::size_t ways() const { return kind == Kind::kRange ? 3 : 2; }
};
/// A way of a choice in words, to follow "line 12: ": "the condition is never true".
std::string_view never(Choice::Kind kind, std::size_t way);

struct Reference {
  /// One per parameter; empty for values and for arrays that the kernel never writes.
  std::vector<std::optional<OutputArray>> outputs;
  /// With Run::gradient, one per parameter; empty for parameters without floats.
  std::vector<std::optional<GradientArray>> gradients;
  /// One per parameter and dimension: the extent that an array needs to hold all tiles that are loaded from it or go
  /// to it; empty where no tile is.
  std::vector<std::vector<std::int32_t>> tile_extents;
  std::vector<Finding> findings;  ///< the first 64
  Decisions decisions;
  std::vector<Choice> choices;  ///< all of the kernel, in the order of its code
  std::int64_t instructions = 0;
  bool complete = true;  ///< false: stopped at the instruction budget
};

inline constexpr int kDirections = 2;
/// Points beside a run's own that one interpretation serves.
inline constexpr std::size_t kSteps = 12;

/// Directional derivatives by dual numbers: along up to kDirections at once.
struct Tangents {
  /// [parameter][leaf of the array after the launch]; empty where Reference::outputs is.
  std::vector<std::vector<std::array<long double, kDirections>>> outputs;
  std::uint64_t path = 0;
  bool complete = true;
};

/// Directional derivatives by Ridders' extrapolated central differences in long double.
struct Differences {
  struct Estimate {
    long double value = 0;
    long double error = 0;  ///< the scheme's own estimate
  };
  std::vector<std::vector<Estimate>> outputs;  ///< as Tangents::outputs
  /// false: no step kept all points of the stencil on one path and let the extrapolation converge
  bool same_path = false;
  long double step = 0;  ///< the greatest of the stencil that gave them
};

class Program;

/// A kernel made ready for evaluation. Immutable: evaluations may run concurrently.
class Oracle {
 public:
  /// Keeps references to both. Fails on what the oracle cannot evaluate, with the reason.
  static Result<Oracle> make(const ir::Module& module, const ir::Function& kernel);

  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;
  ~Oracle();

  Reference evaluate(const Run& run) const;
  /// Directions are changes of the initial float leaves; at most kDirections of them.
  Tangents tangents(const Run& run, const std::vector<ComponentValues>& directions) const;
  /// No step is greater than `largest_step`.
  Differences differences(const Run& run, const ComponentValues& direction,
                          long double largest_step = std::numeric_limits<long double>::infinity()) const;
  /// The run, if it takes the same path where its inputs are moved along a direction by each of the steps, of which
  /// there are at most kSteps; nothing if it does not. Without Run::gradient.
  std::optional<Reference> evaluate_along(const Run& run, const ComponentValues& direction,
                                          std::span<const long double> steps) const;

  /// Whether a parameter is an array that some statement stores to or updates atomically.
  bool writes(ir::VarId parameter) const;

 private:
  explicit Oracle(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

/// Largest relative disagreement between the sweep's gradients and the dual numbers along one direction:
/// |sum seed * tangent - sum gradient * direction| / sum |gradient * direction|. At most 2^-45, or the oracle
/// is wrong.
long double disagreement(const Reference& swept, const Tangents& tangents, int direction_number, const Run& run,
                         const ComponentValues& direction);

}  // namespace assay::reference
