#include "harness/judge/candidate_sets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace assay::harness {
namespace {

/// Numbers of the draws of the first set of each kind: their seeds differ from those of other sets.
constexpr int kOffsetDraw = 500, kShapeDraw = 600, kIndependentExtentsDraw = 700, kLongDimensionDraw = 800,
              kSpecialValuesDraw = 1'100, kRoundExtentsDraw = 1'200;
/// First extent of the launch of a set with long arrays.
constexpr std::int32_t kThreadsWithLongArrays = 3;
/// Instruction limits of the oracle for a set with another shape, and for one with independent or round extents.
constexpr std::int64_t kShapeBudget = 300'000;
constexpr std::int64_t kIndependentExtentsBudget = 4 * kShapeBudget;
/// Number of sets with one long dimension, at most.
constexpr int kMostLongDimensions = 6;
/// Elements of all arrays of a set with another shape.
constexpr std::int64_t kMostShapeElements = 150'000;
/// The same before arrays are reduced to the elements that the kernel accesses.
constexpr std::int64_t kMostDrawnElements = 1 << 22;

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
    constexpr Offset kOffsets[] = {{95, 1, 0, 0},   {1000, 1, 0, 0},  {95, 1, 1031, 0},
                                   {0, 64, 131, 0}, {0, 1, 131, 200}, {-1000, 1, 0, 0},
                                   {-95, 1, 0, 0},  {0, 8, 0, 0},     {0, 500, 0, 0}};
    for (int i = 0; i < std::min<int>(policy_.float_offset_input_sets, std::size(kOffsets)); ++i) {
      // For many large values, equivalent formulas of a gradient lose different digits.
      if (subject_.adjoint != nullptr && kOffsets[i].extent == 0 && kOffsets[i].scale > 1) continue;
      DrawRequest asked = request(i, kOffsetDraw);
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
  }

  /// Adds sets with values that code of another algorithm may treat in a special way: integers of any magnitude and
  /// sign, zero rows, and parameters that are exactly 0 or 1.
  void add_special_values() const {
    int number = 0;
    const auto add = [&](const auto& change) {
      DrawRequest asked = request(0, kSpecialValuesDraw + number++);
      change(asked);
      add_set(asked);
    };
    constexpr std::pair<int, int> kIntegerBits[] = {{0, 11}, {0, 30}, {28, 40}};
    for (const auto& [least, most] : kIntegerBits) {
      if (!space_.has_free_integers()) break;
      add([&](DrawRequest& asked) {
        asked.least_integer_bits = least;
        asked.integer_bits = most;
      });
    }
    constexpr double kParameters[] = {0, 1};
    const auto end = subject_.kernel.variables.begin() + subject_.kernel.parameter_count;
    const bool has_float_parameter = std::any_of(
        subject_.kernel.variables.begin(), end,
        [](const ir::Variable& variable) { return !variable.type.is_array() && variable.type.has_float_components(); });
    for (const double value : kParameters) {
      if (has_float_parameter) add([&](DrawRequest& asked) { asked.float_parameters = value; });
    }
    add([](DrawRequest& asked) { asked.has_zero_rows = true; });
  }

  /// Adds sets with other shapes, for code that may divide the work in another way than the kernel: it fails only if
  /// there is more work than a warp, a block or a tile does in one step, or less than one thread needs.
  void add_shapes() const {
    struct Shape {
      std::int32_t size;    // DrawRequest::size
      std::int32_t extent;  // DrawRequest::array_extent
      Distribution distribution = Distribution::kUniform;
    };
    constexpr std::int32_t kLeastLongExtent = 131;
    bool has_long_extents = false;
    // Equal values matter where the parts of a result that several threads found are combined.
    constexpr Shape kShapes[] = {{1, 1},
                                 {3, kLeastLongExtent},
                                 {2, 257},
                                 {2, 1031},
                                 {131, 0},
                                 {263, 0},
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
      for (const auto& [shape, budget_factor, has_few_rows] :
           std::span(attempts).first(extent > 1 ? std::size(attempts) : 1)) {
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
    add_round_extents();
    // The contract of a kernel without host code passes it few extents, which hold for all arrays. An array whose
    // accesses depend on data has the extents of the other arrays, which must therefore not differ.
    if (space_.array_extents() != ArrayExtents::kExact || space_.has_data_dependent_accesses()) return;
    add_independent_extents();
    if (!has_long_extents) add_long_dimensions();
  }

  /// Adds sets in which all extents are multiples of at least 16.
  void add_round_extents() const {
    int number = 0;
    // A multiple of 16 that is not one of 256 leaves a rest in loops over whole blocks.
    for (const std::int32_t extent : {1040, 256, 64, 32, 16}) {
      DrawRequest asked = request(0, kRoundExtentsDraw + number++);
      asked.size = extent;
      asked.array_extent = extent;
      asked.has_round_extents = true;
      asked.instruction_budget = kIndependentExtentsBudget;
      asked.max_elements = kMostShapeElements;
      add_set(asked);
    }
  }

  /// Adds sets in which one dimension of an array is long and all other extents are small, for kernels that do too much
  /// work if all extents are large.
  void add_long_dimensions() const {
    constexpr std::int32_t kLongExtents[] = {131, 67};
    constexpr std::int32_t kSmallExtent = 4;
    int added = 0;
    for (ir::VarId p = 0; p < subject_.kernel.parameter_count; ++p) {
      const auto number = static_cast<std::size_t>(p);
      if (!space_.parameter_uses()[number].read) continue;
      for (std::size_t d = 0; d < subject_.kernel.var(p).type.rank && added < kMostLongDimensions; ++d) {
        for (const std::int32_t extent : kLongExtents) {
          DrawRequest asked = request(0, kLongDimensionDraw + added);
          asked.size = kThreadsWithLongArrays;
          asked.array_extent = kSmallExtent;
          asked.has_independent_extents = true;
          asked.long_dimension = {.parameter = p, .dimension = d, .extent = extent};
          asked.instruction_budget = kIndependentExtentsBudget;
          asked.max_elements = kMostShapeElements;
          // An array of exact extents is only as long as the launch makes it.
          const auto is_long = [&](const InputSet& set) {
            return set.launch_by_precision[Precision::kNative].arguments[number].shape[d] >= extent;
          };
          if (!drawer_.add(asked, is_long)) continue;
          ++added;
          break;
        }
      }
    }
  }

  /// Adds sets in which extents differ that the kernel does not require to be equal.
  void add_independent_extents() const {
    constexpr int kDraws = 5;
    const auto add = [&](int number, std::int32_t most_extent) {
      for (int draw = 0; draw < kDraws; ++draw) {
        DrawRequest asked = request(0, kIndependentExtentsDraw + kDraws * number + draw);
        asked.size = kThreadsWithLongArrays;
        asked.array_extent = most_extent;
        asked.has_independent_extents = true;
        asked.instruction_budget = kIndependentExtentsBudget;
        asked.max_elements = kMostShapeElements;
        if (add_set(asked)) return true;
      }
      return false;
    };
    add(0, 7);
    add(1, 12);
    if (!add(2, 40)) add(3, 20);
  }

  const CandidateSetDrawer& drawer_;
  const KernelUnderTest& subject_;
  const InputSpace& space_;
  const JudgingPolicy& policy_;
};

}  // namespace

void add_candidate_sets(const CandidateSetDrawer& drawer) { CandidateSets(drawer).add_all(); }

}  // namespace assay::harness
