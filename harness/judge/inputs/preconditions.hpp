// What the comments above a kernel say about its launch and its inputs.
//
//     # launch: (n, m)               extents of the launch, in integer parameters, lengths and numbers
//     # domain: 0 <= idx < len(x)    a range of a parameter or of an array's elements; one or both sides
//     # domain: 0.1 <= x <= 2
//     # domain: idx is a permutation
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/launch.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// A number, an integer parameter, len(x), x.shape[k], or a sum, difference or product of these.
struct PreconditionTerm {
  enum class Kind : std::uint8_t { kNumber, kParameter, kExtent, kAdd, kSubtract, kMultiply };
  Kind kind = Kind::kNumber;
  double number = 0;
  ir::VarId parameter = ir::kNone;  ///< kParameter and kExtent
  int dimension = 0;                ///< kExtent
  std::shared_ptr<const PreconditionTerm> left, right;

  /// With the launch's shapes and values; all parameters that the term names must be bound.
  double evaluate(const ir::Launch& launch) const;
  /// Whether the term names the parameter's value or shape.
  bool mentions(ir::VarId name) const;
};

struct Range {
  std::optional<PreconditionTerm> low, high;
  bool low_open = false;  ///< < instead of <=
  bool high_open = false;
};

struct Preconditions {
  std::vector<PreconditionTerm> launch;      ///< empty: not said
  std::vector<std::optional<Range>> ranges;  ///< by parameter
  std::vector<bool> permutation;             ///< by parameter
};

/// Whether a kernel whose threads all do the same is for one thread alone: more would be in each other's way where one
/// stores, or keeps what an atomic found. Not where a comment says how many there are.
bool is_for_one_thread(const ir::Module& module, const ir::Function& kernel);
/// The comment that says so.
inline constexpr std::string_view kOneThread = "launch: (1)";

/// Fails on a hint that cannot be read, naming it and what was expected.
Result<Preconditions> parse_preconditions(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::harness
