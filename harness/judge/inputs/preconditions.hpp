// The `launch` and `domain` annotations in the comments above a kernel.
//
//     # launch: (n, m)               extents of the launch: integer parameters, lengths and numbers
//     # launch: (_, m)               the first extent is open
//     # domain: 0 <= idx < len(x)    a range of a parameter or of an array's elements, with one or two bounds
//     # domain: 0.1 <= x <= 2
//     # domain: idx is a permutation
//     # domain: low <= high          no component of an array of floats exceeds that of another array
//     # domain: idx are triangles    each three elements of a row, from the first one on, differ
//     # domain: idx are separate triangles    all elements of a row differ, as far as the range allows
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A number, an integer parameter, len(x), x.shape[k], or a sum, difference or product of these. An extent of a launch
/// may also be open.
struct PreconditionTerm {
  enum class Kind : std::uint8_t { kNumber, kParameter, kExtent, kAdd, kSubtract, kMultiply, kOpen };
  Kind kind = Kind::kNumber;                            ///< which of these the term is
  double number = 0;                                    ///< value of a kNumber
  ir::VarId parameter = ir::kNone;                      ///< parameter of a kParameter or kExtent
  int dimension = 0;                                    ///< dimension of a kExtent, from 0
  std::shared_ptr<const PreconditionTerm> left, right;  ///< operands of kAdd, kSubtract and kMultiply; else null

  /// Uses the launch's shapes and values; all parameters in the term must be bound, and the term must not be open.
  double evaluate(const ir::Launch& launch) const;
  /// Whether the term uses the parameter's value or shape.
  bool mentions(ir::VarId name) const;
};

/// A range of numbers.
struct PreconditionRange {
  std::optional<PreconditionTerm> low, high;  ///< bounds; empty: unbounded on that side
  bool is_low_open = false;                   ///< whether the lower bound is excluded: < instead of <=
  bool is_high_open = false;                  ///< whether the upper bound is excluded

  /// The least integer of the range in a launch; the range must have a lower bound.
  [[nodiscard]] std::int64_t least_integer(const ir::Launch& launch) const;
  /// The greatest integer of the range in a launch; the range must have an upper bound.
  [[nodiscard]] std::int64_t greatest_integer(const ir::Launch& launch) const;
};

/// The preconditions of a kernel, parsed from its annotations.
struct Preconditions {
  std::vector<PreconditionTerm> launch_extents;  ///< extent of each launch dimension; empty: not annotated
  std::vector<std::optional<PreconditionRange>> range_by_parameter;  ///< by parameter: range of its value or elements
  std::vector<bool> must_be_permutation;                             ///< by parameter: whether it must be a permutation
  /// By parameter: whether its rows consist of triples of different elements, the corners of triangles.
  std::vector<bool> must_be_triangles;
  /// By parameter: whether, in addition, no two of these triangles have a corner in common.
  std::vector<bool> must_be_separate_triangles;
  /// By parameter: the array whose elements its elements must not exceed; kNone: none.
  std::vector<ir::VarId> greatest_elements;
};

/// Whether a kernel whose threads all do the same must be launched with one thread, because it stores a value or uses
/// the result of an atomic, and several threads would race. False if a launch annotation states the extents.
bool requires_single_thread(const ir::Module& module, const ir::Function& kernel);
/// The annotation for a launch of one thread.
inline constexpr std::string_view kSingleThreadAnnotation = "launch: (1)";

/// Fails on an invalid annotation, with its text and what was expected.
Result<Preconditions> parse_preconditions(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::harness
