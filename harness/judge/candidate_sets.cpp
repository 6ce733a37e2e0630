#include "harness/judge/candidate_sets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "ir/visit.hpp"

namespace assay::harness {
namespace {

/// Numbers of the draws of the first set of each kind: their seeds differ from those of other sets.
constexpr int kOffsetDraw = 500, kShapeDraw = 600, kIndependentExtentsDraw = 700, kLongDimensionDraw = 800,
              kSpecialValuesDraw = 1'100, kRoundExtentsDraw = 1'200, kBlockBoundaryDraw = 1'500,
              kNegativeParametersDraw = 1'600, kEndsOfRangesDraw = 1'700, kLongLaunchDraw = 1'800,
              kIndependentRoundExtentsDraw = 1'900, kWindowDraw = 2'000, kLongRoundDimensionDraw = 2'100;
/// Number of attempts to draw a set with independent extents.
constexpr int kIndependentDraws = 5;
/// Least extent of an array that is long.
constexpr std::int32_t kLeastLongExtent = 131;
/// First extent of a launch that needs two of the usual blocks of 256 threads.
constexpr std::int32_t kMoreThreadsThanInBlock = 263;
/// First extent of the launch of a set with long arrays.
constexpr std::int32_t kThreadsWithLongArrays = 3;
/// Instruction limits of the oracle for a set with another shape, for one with independent or round extents, and for
/// one with a small window or a long launch.
constexpr std::int64_t kShapeBudget = 300'000;
constexpr std::int64_t kIndependentExtentsBudget = 4 * kShapeBudget, kLargeBudget = 16 * kShapeBudget;
/// DrawRequest::integer_bits of sets with other shapes: sums of products of such integers do not overflow.
constexpr int kSignedIntegerBits = 8;
/// Of this number, all extents of a set with one long round dimension are multiples.
constexpr std::int32_t kUnitOfRoundExtents = 4;
/// Number of sets with one long dimension, at most.
constexpr int kMostLongDimensions = 6;
/// Elements of all arrays of a set with another shape.
constexpr std::int64_t kMostShapeElements = 150'000;
/// The same before arrays are reduced to the elements that the kernel accesses.
constexpr std::int64_t kMostDrawnElements = 1 << 22;

/// Whether an operand of the operation may be any integer of either sign: it is added, multiplied, or compared with a
/// constant. Divisors and numbers that are compared with computed values are often counts, which are positive.
bool accepts_displacement(const ir::Function& function, const ir::Expr& operation) {
  const auto is_literal = [&](ir::ExprId operand) { return function.expr(operand).kind == ir::ExprKind::kLiteral; };
  switch (operation.op) {
    case ir::Op::kAdd:
    case ir::Op::kSub:
    case ir::Op::kMul:
    case ir::Op::kNeg:
    case ir::Op::kCast: return true;
    case ir::Op::kEq:
    case ir::Op::kNe:
    case ir::Op::kLt:
    case ir::Op::kLe:
    case ir::Op::kGt:
    case ir::Op::kGe: return std::ranges::any_of(operation.args, is_literal);
    default: return false;
  }
}

/// By parameter: whether it is a signed integer that the kernel only uses in such operations.
std::vector<bool> displacements(const ir::Function& kernel) {
  std::vector<bool> result;
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Type type = kernel.var(p).type;
    result.push_back(type.is_integer_scalar() && ir::row(type.scalar).is_signed);
  }
  const auto is_parameter = [&](ir::ExprId id) {
    const ir::Expr& expr = kernel.expr(id);
    return expr.kind == ir::ExprKind::kVariable && expr.variable < kernel.parameter_count;
  };
  const auto exclude = [&](ir::ExprId id) {
    if (is_parameter(id)) result[static_cast<std::size_t>(kernel.expr(id).variable)] = false;
  };
  for (const ir::Expr& expr : kernel.expressions) {
    const bool is_operation = expr.kind == ir::ExprKind::kOperation;
    // Numbers that are converted to floats are often counts, such as those in a mean.
    if (is_operation && expr.op == ir::Op::kCast && expr.type.has_float_components()) {
      ir::for_each_expression(kernel, expr.args[0], [&](ir::ExprId id, const ir::Expr&) { exclude(id); });
    } else if (!is_operation || !accepts_displacement(kernel, expr)) {
      std::ranges::for_each(expr.args, exclude);
    }
  }
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    ir::for_each_root_expression(statement, [&](const ir::ExprId& id) { exclude(id); });
    if (const auto* assign = std::get_if<ir::Assign>(&statement.node);
        assign != nullptr && assign->variable < kernel.parameter_count)
      result[static_cast<std::size_t>(assign->variable)] = false;
  });
  return result;
}

/// What a kernel does with its inputs, as far as the number of elements is concerned.
struct Work {
  std::vector<std::vector<std::int32_t>> shapes;  ///< by parameter: extents
  std::vector<std::int64_t> trips;                ///< by range loop: number of trips of all threads
  std::vector<std::int64_t> written;              ///< by parameter: number of scalars that are written
  friend bool operator==(const Work&, const Work&) = default;
};

Work work_of(const InputSet& set) {
  Work work;
  for (const ir::Argument& argument : set.launch_by_precision[Precision::kNative].arguments)
    work.shapes.push_back(argument.shape);
  for (const reference::BranchPoint& point : set.reference.branch_points) {
    if (point.kind == reference::BranchPoint::Kind::kRangeLoop) work.trips.push_back(point.branch_counts[0]);
  }
  for (const auto& output : set.reference.outputs) {
    work.written.push_back(output ? std::ranges::count(output->elements, true, &reference::OutputElement::is_written)
                                  : 0);
  }
  return work;
}

/// Adds the sets of one judgment.
class CandidateSets {
 public:
  explicit CandidateSets(const CandidateSetDrawer& drawer)
      : drawer_(drawer), subject_(drawer.subject), space_(drawer.space), policy_(drawer.policy) {}

  void add_all() const {
    add_offset_sets();
    add_special_values();
    add_shapes();
  }

 private:
  /// `number`: see CandidateSetDrawer::request.
  [[nodiscard]] DrawRequest request(int number, int draw, Distribution distribution = Distribution::kUniform) const {
    return drawer_.request(policy_.input_sets() + number, draw, distribution);
  }

  bool add_set(const DrawRequest& asked) const {
    return drawer_.add(asked, [](const InputSet&) { return true; });
  }

  /// Adds sets in which code of another algorithm may overflow or lose digits, as far as the kernel itself does not:
  /// all values are next to the largest argument of exp(), or much larger than their differences.
  void add_offset_sets() const {
    struct Offset {
      double offset;        // DrawRequest::float_offset
      double scale;         // DrawRequest::float_scale
      std::int32_t extent;  // DrawRequest::array_extent
      double outlier;       // DrawRequest::float_outlier
    };
    // Long sums of values with one sign need an accumulator that is wide enough. If values differ by more than 88,
    // exp() of a difference underflows. Outliers are far above the maximum of a part of the values. Functions such as
    // GELU are often approximated by other functions for large arguments.
    // Beside small values, it matters where a small constant is added: sqrt(x + 1e-8) is not sqrt(x) + 1e-8.
    constexpr Offset kOffsets[] = {{95, 1, 0, 0},    {1000, 1, 0, 0},  {95, 1, 1031, 0}, {0, 64, 131, 0},
                                   {0, 1, 131, 200}, {-1000, 1, 0, 0}, {-95, 1, 0, 0},   {0, 8, 0, 0},
                                   {0, 500, 0, 0},   {0, 1e-4, 0, 0},  {0, 1e-8, 0, 0}};
    for (int i = 0; i < std::min<int>(policy_.float_offset_input_sets, std::size(kOffsets)); ++i) {
      DrawRequest asked = request(i, kOffsetDraw);
      // For large values, equivalent formulas of a gradient lose different digits: y * (1 - y) is 0 if y rounds to 1.
      asked.is_for_forward_only = subject_.adjoint != nullptr && kOffsets[i].scale > 1;
      asked.float_offset = kOffsets[i].offset;
      asked.float_scale = kOffsets[i].scale;
      asked.float_outlier = kOffsets[i].outlier;
      if (kOffsets[i].extent > 0) {
        asked.array_extent = kOffsets[i].extent;
        asked.size = kThreadsWithLongArrays;
        asked.instruction_budget = kShapeBudget;
        asked.max_elements = kMostShapeElements;
      }
      add_set(asked);
    }
    if (policy_.float_offset_input_sets == 0) return;
    // Products of elements of two arrays are far below zero: a maximum that starts at 0 is then not that of the values.
    constexpr double kAlternatingOffsets[] = {10, 95};
    for (std::size_t i = 0; i < std::size(kAlternatingOffsets); ++i) {
      DrawRequest asked = request(static_cast<int>(std::size(kOffsets) + i), kOffsetDraw);
      // As above: 1 - sigmoid(x) loses digits if x is about 10, but is 0 if x is about 95.
      asked.is_for_forward_only = subject_.adjoint != nullptr && i == 0;
      asked.float_offset = kAlternatingOffsets[i];
      asked.alternates_offset_sign = true;
      add_set(asked);
    }
  }

  /// Adds sets with values that code of another algorithm may treat in a special way: integers of any magnitude and
  /// sign, zero rows, and parameters that are exactly 0 or 1, or negative.
  void add_special_values() const {
    int number = 0;
    const auto add = [&](const auto& change) {
      DrawRequest asked = request(0, kSpecialValuesDraw + number++);
      change(asked);
      return add_set(asked);
    };
    if (space_.has_free_integers()) {
      const auto add_integers = [&](int least, int most, std::int32_t extent) {
        return add([&](DrawRequest& asked) {
          asked.least_integer_bits = least;
          asked.integer_bits = most;
          if (extent == 0) return;
          asked.array_extent = extent;
          asked.size = kThreadsWithLongArrays;
          asked.instruction_budget = kShapeBudget;
          asked.max_elements = kMostShapeElements;
        });
      };
      add_integers(0, 11, 0);
      add_integers(0, 30, 0);
      if (!add_integers(28, 40, 0)) add_integers(28, 30, 0);
      // The sum of two such integers of 32 bits overflows.
      add_integers(31, 40, 0);
      add_integers(31, 40, kLeastLongExtent);
      add_integers(0, kSignedIntegerBits, kLeastLongExtent);
    }
    constexpr double kParameters[] = {0, 1};
    const auto end = subject_.kernel.variables.begin() + subject_.kernel.parameter_count;
    const bool has_float_parameter = std::any_of(
        subject_.kernel.variables.begin(), end,
        [](const ir::Variable& variable) { return !variable.type.is_array() && variable.type.has_float_components(); });
    for (const double value : kParameters) {
      if (has_float_parameter) add([&](DrawRequest& asked) { asked.float_parameters = value; });
    }
    const auto add_zero_rows = [&](bool has_negative_zeros) {
      return add([&](DrawRequest& asked) {
        asked.has_zero_rows = true;
        asked.has_negative_zeros = has_negative_zeros;
      });
    };
    if (!add_zero_rows(true)) add_zero_rows(false);
    add_ends_of_ranges();
    add_negative_parameters();
  }

  /// Adds a set in which floats are exactly at the closed ends of their annotated ranges, where an index that is
  /// computed from them is greatest, for example.
  void add_ends_of_ranges() const {
    if (!space_.has_closed_float_range()) return;
    using AtEnds = DrawRequest::AtEndsOfRange;
    const auto add = [&](AtEnds at_ends, int draw) {
      DrawRequest asked = request(0, kEndsOfRangesDraw + draw);
      asked.at_ends_of_range = at_ends;
      return add_set(asked);
    };
    // With many such floats, too many comparisons may be uncertain.
    if (!add(AtEnds::kMany, 0)) add(AtEnds::kFew, 1);
  }

  /// Adds a set with negative integer parameters, if the kernel does as much work for them as for positive ones: it
  /// does not use them as a count.
  void add_negative_parameters() const {
    const std::vector<bool> is_displacement = displacements(subject_.kernel);
    if (std::ranges::find(is_displacement, true) == is_displacement.end() ||
        has_while_loop(subject_.module, subject_.kernel))
      return;
    DrawRequest asked = request(0, kNegativeParametersDraw);
    std::vector<Work> usual;
    const auto note_work = [&](const InputSet& set) {
      usual.push_back(work_of(set));
      return false;
    };
    drawer_.add(asked, note_work);
    if (usual.empty()) return;
    asked.is_negative = is_displacement;
    drawer_.add(asked,
                [&](const InputSet& set) { return has_negative_parameter(set) && work_of(set) == usual.front(); });
  }

  /// Whether an integer parameter of the set is negative.
  [[nodiscard]] static bool has_negative_parameter(const InputSet& set) {
    return std::ranges::any_of(set.launch_by_precision[Precision::kNative].arguments, [](const ir::Argument& argument) {
      return argument.type.is_integer_scalar() && ir::row(argument.type.scalar).is_signed &&
             ir::read_integer(argument.type.scalar, argument.bytes.data()) < 0;
    });
  }

  /// Adds sets with other shapes, for code that may divide the work in another way than the kernel: it fails only if
  /// there is more work than a warp, a block or a tile does in one step, or less than one thread needs.
  void add_shapes() const {
    struct Shape {
      std::int32_t size;    // DrawRequest::size
      std::int32_t extent;  // DrawRequest::array_extent
      Distribution distribution = Distribution::kUniform;
    };
    bool has_long_extents = false;
    // Equal values matter where the parts of a result that several threads found are combined.
    constexpr Shape kShapes[] = {{1, 1},
                                 {3, kLeastLongExtent},
                                 {2, 257},
                                 {2, 1031},
                                 {131, 0},
                                 {kMoreThreadsThanInBlock, 0},
                                 {1031, 0},
                                 {3, kLeastLongExtent, Distribution::kTiedValues},
                                 {1031, 0, Distribution::kTiedValues}};
    for (std::size_t i = 0; i < std::size(kShapes); ++i) {
      const auto [size, extent, distribution] = kShapes[i];
      // A kernel with many launch dimensions or nested loops does too much work for such extents.
      struct Attempt {
        Shape shape;
        int budget_factor;
        bool has_few_rows = false;
      };
      const Attempt attempts[] = {{{size, extent, distribution}, 1},
                                  {{size, extent, distribution}, 1, true},
                                  {{1, extent, distribution}, 1},
                                  {{1, extent / 2 | 1, distribution}, 4},
                                  {{1, extent / 4 | 1, distribution}, extent == kLeastLongExtent ? 20 : 4}};
      // Each thread may loop over as many elements as there are threads.
      const Attempt with_long_loops[] = {{{size, extent, distribution}, 1}, {{size, extent, distribution}, 16}};
      const std::span<const Attempt> tried =
          extent > 1 ? std::span<const Attempt>(attempts)
                     : std::span<const Attempt>(with_long_loops).first(size == kMoreThreadsThanInBlock ? 2 : 1);
      for (const auto& [shape, budget_factor, has_few_rows] : tried) {
        DrawRequest asked = request(0, kShapeDraw + static_cast<int>(i), shape.distribution);
        asked.size = shape.size;
        asked.array_extent = shape.extent;
        asked.has_few_rows = has_few_rows;
        // Code that uses a block for each thread of the kernel, or whose work follows from the extents of the arrays,
        // takes much longer than the oracle.
        asked.instruction_budget = budget_factor * kShapeBudget;
        asked.max_elements = space_.array_extents() == ArrayExtents::kExact ? kMostDrawnElements : kMostShapeElements;
        if (!add_set(asked)) continue;
        has_long_extents = has_long_extents || shape.extent >= kLeastLongExtent;
        break;
      }
    }
    add_block_boundaries();
    const bool has_long_round_extents = add_round_extents();
    add_long_launches();
    // The contract of a kernel without host code passes it few extents, which hold for all arrays.
    if (!space_.can_have_independent_extents()) return;
    add_independent_extents();
    add_independent_round_extents();
    if (!has_long_extents) add_long_dimensions(LongDimension::kOdd);
    if (!has_long_round_extents) add_long_dimensions(LongDimension::kRound);
    add_windows();
  }

  /// Adds sets whose last block has one element, for kernels of one launch dimension and usual sizes of blocks.
  void add_block_boundaries() const {
    if (subject_.kernel.launch_rank != 1) return;
    int number = 0;
    for (const std::int32_t size : {129, 257, 1025}) {
      DrawRequest asked = request(0, kBlockBoundaryDraw + number++);
      asked.size = size;
      asked.instruction_budget = kShapeBudget;
      asked.max_elements = kMostShapeElements;
      add_set(asked);
    }
  }

  /// Adds sets in which all extents are multiples of at least 16. Returns whether they are long in one of them.
  bool add_round_extents() const {
    bool has_long_extents = false;
    // Code that reads several small integers at a time may lose their signs.
    constexpr std::int32_t kSignedExtents[] = {256, 32, 16};
    int number = 0;
    // A multiple of 16 that is not one of 256 leaves a rest in loops over whole blocks.
    for (const std::int32_t extent : {1040, 256, 64, 32, 16}) {
      DrawRequest asked = request(0, kRoundExtentsDraw + number++);
      asked.size = extent;
      asked.array_extent = extent;
      asked.has_round_extents = true;
      asked.instruction_budget = kIndependentExtentsBudget;
      asked.max_elements = kMostShapeElements;
      const bool is_signed =
          space_.has_free_integers() && std::ranges::find(kSignedExtents, extent) != std::end(kSignedExtents);
      if (is_signed) asked.integer_bits = kSignedIntegerBits;
      bool is_added = add_set(asked);
      if (!is_added && is_signed) {
        asked.integer_bits = 0;
        is_added = add_set(asked);
      }
      has_long_extents = has_long_extents || (is_added && extent >= kLeastLongExtent);
    }
    return has_long_extents;
  }

  /// A request for small extents of which those that the kernel does not require to be equal differ.
  [[nodiscard]] DrawRequest independent_request(int draw, std::int32_t most_extent) const {
    DrawRequest asked = request(0, draw);
    asked.size = kThreadsWithLongArrays;
    asked.array_extent = most_extent;
    asked.has_independent_extents = true;
    asked.instruction_budget = kIndependentExtentsBudget;
    asked.max_elements = kMostShapeElements;
    return asked;
  }

  /// The extent of a long dimension.
  enum class LongDimension : std::uint8_t {
    kOdd,    ///< a prime
    kRound,  ///< a multiple of 4, as are all other extents
  };

  /// Adds a set in which one dimension of an array is long and all other extents are small. Returns whether there is
  /// such a set.
  bool add_long_dimension(ir::VarId parameter, std::size_t dimension, int draw, LongDimension kind) const {
    struct Attempt {
      std::int32_t extent, other_extents;
    };
    constexpr Attempt kOdd[] = {{131, 4}, {67, 4}}, kRound[] = {{260, 4}, {132, 4}};
    const bool is_round = kind == LongDimension::kRound;
    const std::span<const Attempt> attempts = is_round ? std::span<const Attempt>(kRound) : kOdd;
    return std::ranges::any_of(attempts, [&](const Attempt& attempt) {
      DrawRequest asked = independent_request(draw, attempt.other_extents);
      if (is_round) {
        asked.size = asked.array_extent = kUnitOfRoundExtents;
        asked.has_round_extents = true;
        asked.most_round_extent = attempt.other_extents;
        asked.max_elements = kMostDrawnElements;
      }
      asked.chosen_extents = {{.parameter = parameter, .dimension = dimension, .extent = attempt.extent}};
      // An array of exact extents is only as long as the launch makes it.
      return drawer_.add(asked,
                         [&](const InputSet& set) { return extents_of(set, parameter)[dimension] >= attempt.extent; });
    });
  }

  /// The extents of an array in a set; for ir::kNone, those of the launch.
  [[nodiscard]] static const std::vector<std::int32_t>& extents_of(const InputSet& set, ir::VarId parameter) {
    const ir::Launch& launch = set.launch_by_precision[Precision::kNative];
    return parameter == ir::kNone ? launch.extents : launch.arguments[static_cast<std::size_t>(parameter)].shape;
  }

  [[nodiscard]] bool is_read_array(ir::VarId parameter) const {
    return space_.parameter_uses()[static_cast<std::size_t>(parameter)].read;
  }

  /// Adds sets in which one dimension of an array is long and all other extents are small, for kernels that do too much
  /// work if all extents are large.
  void add_long_dimensions(LongDimension kind) const {
    const int first = kind == LongDimension::kRound ? kLongRoundDimensionDraw : kLongDimensionDraw;
    int added = 0;
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p) {
      if (!is_read_array(p)) continue;
      for (std::size_t d = 0; d < subject_.kernel.var(p).type.rank && added < kMostLongDimensions; ++d)
        added += add_long_dimension(p, d, first + added, kind) ? 1 : 0;
    }
  }

  /// Adds sets in which one dimension of the launch, and of the arrays with it, is long. The first one is so in other
  /// sets.
  void add_long_launches() const {
    struct Attempt {
      std::int32_t extent, other_extents;
      std::int64_t budget;
    };
    constexpr Attempt kAttempts[] = {
        {131, 2, kIndependentExtentsBudget}, {67, 2, kIndependentExtentsBudget}, {67, 1, kLargeBudget}};
    constexpr std::int32_t kArrayExtent = 2;
    const auto rank = static_cast<std::size_t>(subject_.kernel.launch_rank);
    for (std::size_t d = 1; d < rank; ++d) {
      for (const auto& [extent, other_extents, budget] : kAttempts) {
        DrawRequest asked = request(0, kLongLaunchDraw + static_cast<int>(d));
        for (std::size_t e = 0; e < rank; ++e)
          asked.chosen_extents.push_back({.dimension = e, .extent = e == d ? extent : other_extents});
        asked.array_extent = kArrayExtent;
        if (space_.can_have_independent_extents()) choose_other_dimensions(asked);
        asked.instruction_budget = budget;
        asked.max_elements = kMostShapeElements;
        const auto is_long = [&, least = extent](const InputSet& set) {
          return extents_of(set, ir::kNone)[d] >= least;
        };
        if (drawer_.add(asked, is_long)) break;
      }
    }
  }

  /// Requests extents that differ between arrays, in the dimensions that the launch does not have.
  void choose_other_dimensions(DrawRequest& asked) const {
    constexpr std::int32_t kLeast = 2, kNumber = 3;
    const auto rank = static_cast<std::size_t>(subject_.kernel.launch_rank);
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p) {
      for (std::size_t e = rank; e < subject_.kernel.var(p).type.rank; ++e)
        asked.chosen_extents.push_back({.parameter = p, .dimension = e, .extent = kLeast + p % kNumber});
    }
  }

  /// Adds sets in which extents differ that the kernel does not require to be equal.
  void add_independent_extents() const {
    const auto add = [&](int number, std::int32_t most_extent) {
      for (int draw = 0; draw < kIndependentDraws; ++draw)
        if (add_set(independent_request(kIndependentExtentsDraw + kIndependentDraws * number + draw, most_extent)))
          return true;
      return false;
    };
    add(0, 7);
    add(1, 12);
    if (!add(2, 40)) add(3, 20);
    add(4, 7);
    add(5, 12);
  }

  /// Adds sets in which all extents are different multiples of 4 or 16, because the condition for a faster path may
  /// concern only some of them.
  void add_independent_round_extents() const {
    constexpr std::int32_t kUnits[] = {4, 4, 16, 16};
    int number = 0;
    for (const std::int32_t unit : kUnits) {
      for (int draw = 0; draw < kIndependentDraws; ++draw) {
        DrawRequest asked = independent_request(kIndependentRoundExtentsDraw + kIndependentDraws * number + draw, unit);
        asked.size = unit * (number % 2 == 0 ? 3 : 1);
        asked.has_round_extents = true;
        if (add_set(asked)) break;
      }
      ++number;
    }
  }

  /// Adds sets in which the last two extents of an array are those of a small window, as in a convolution, and the
  /// launch is larger than a tile.
  void add_windows() const {
    if (subject_.kernel.launch_rank < 2) return;
    struct Window {
      std::int32_t extent, height, width, other_extents;
      std::int32_t leading_extents = 0;  // those of the array with the window, such as channels; 0: not chosen
    };
    // Code for one size of the window is common. The number of other extents is also that of integers, such as strides.
    // Code that handles several channels at a time needs more of them than it handles at once.
    constexpr Window kWindows[] = {{3, 19, 37, 2}, {3, 19, 37, 3},    {1, 19, 37, 3},
                                   {5, 19, 37, 2}, {3, 15, 29, 3, 5}, {1, 15, 29, 3, 7}};
    constexpr std::int32_t kLeastRows = 5, kLeastColumns = 9;
    int number = 0;
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p) {
      const std::size_t rank = subject_.kernel.var(p).type.rank;
      if (!is_read_array(p) || rank < 2) continue;
      for (const auto& [extent, height, width, other_extents, leading_extents] : kWindows) {
        DrawRequest asked = independent_request(kWindowDraw + number++, other_extents);
        asked.size = other_extents;
        asked.instruction_budget = kLargeBudget;
        const auto choose = [&](ir::VarId parameter, std::size_t dimensions, std::int32_t last_but_one,
                                std::int32_t last) {
          asked.chosen_extents.push_back({.parameter = parameter, .dimension = dimensions - 2, .extent = last_but_one});
          asked.chosen_extents.push_back({.parameter = parameter, .dimension = dimensions - 1, .extent = last});
        };
        choose(ir::kNone, static_cast<std::size_t>(subject_.kernel.launch_rank), height, width);
        choose(p, rank, extent, extent);
        for (std::size_t d = 0; leading_extents > 0 && d + 2 < rank; ++d)
          asked.chosen_extents.push_back({.parameter = p, .dimension = d, .extent = leading_extents});
        for (ir::VarId q = 0; q < subject_.kernel.parameter_count; ++q) {
          const std::size_t other_rank = subject_.kernel.var(q).type.rank;
          if (q != p && is_read_array(q) && other_rank >= 2) choose(q, other_rank, height, width);
        }
        const bool is_added = drawer_.add(asked, [&](const InputSet& set) {
          const std::vector<std::int32_t>& shape = extents_of(set, p);
          const std::vector<std::int32_t>& launch = extents_of(set, ir::kNone);
          return shape[rank - 2] == extent && shape[rank - 1] == extent && *(launch.end() - 2) >= kLeastRows &&
                 launch.back() >= kLeastColumns;
        });
        if (!is_added) break;
      }
    }
  }

  const CandidateSetDrawer& drawer_;
  const KernelUnderTest& subject_;
  const InputSpace& space_;
  const JudgingPolicy& policy_;
};

}  // namespace

bool is_candidate(const reference::ArithmeticProfile& profile) { return profile.input_error.unit_roundoffs > 0; }

void add_candidate_sets(const CandidateSetDrawer& drawer) { CandidateSets(drawer).add_all(); }

std::vector<std::size_t> sets_with_many_blocks(const std::vector<InputSet>& sets) {
  std::set<std::size_t> chosen;
  const auto add_greatest = [&](const auto& measure) {
    std::size_t greatest = 0;
    for (std::size_t s = 1; s < sets.size(); ++s) {
      if (measure(sets[s]) > measure(sets[greatest])) greatest = s;
    }
    if (greatest < sets.size() && measure(sets[greatest]) > 0) chosen.insert(greatest);
  };
  const auto threads = [](const InputSet& set) { return set.launch_by_precision[Precision::kNative].threads(); };
  add_greatest([&](const InputSet& set) { return set.request.has_round_extents ? threads(set) : 0; });
  add_greatest([&](const InputSet& set) { return set.request.has_round_extents ? 0 : threads(set); });
  add_greatest([](const InputSet& set) {
    std::int64_t elements = 0;
    for (const ir::Argument& argument : set.launch_by_precision[Precision::kNative].arguments)
      elements += ir::element_count(argument);
    return elements;
  });
  return {chosen.begin(), chosen.end()};
}

}  // namespace assay::harness
