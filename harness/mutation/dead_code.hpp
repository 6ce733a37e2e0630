// Which statements no launch within the kernel's domain reaches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/mutation/editor.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// What is known of an integer; both ends are part of it.
struct Interval {
  std::int64_t low;
  std::int64_t high;
};

/// Ranges of integers, from the numbers in the comments `# domain: 0 <= n <= 12` and `# launch: (5)`, and from what is
/// computed of them. Of
/// a variable that is assigned, one range for all that it ever holds; of what counts the trips of a while loop that
/// another counter ends, as many as that one allows.
class KnownRanges {
 public:
  /// Of the kernel, or of its backward kernel: the latter's first parameters are the former's.
  KnownRanges(const ir::Module& module, const ir::Function& kernel, const ir::Function& function);

  /// Of an integer expression of the function; nothing where it may be anything.
  std::optional<Interval> of(ir::ExprId expression) const;
  std::optional<Interval> of_variable(ir::VarId variable) const { return at(variable).range; }
  /// Whether a condition always holds, or never; nothing where that is not known.
  std::optional<bool> truth(ir::ExprId condition) const;

 private:
  /// What is known of a variable. Before anything gave it a value it is not reached, and neither is what reads it.
  struct Known {
    bool reached = false;
    std::optional<Interval> range;  ///< arrays: of their elements
  };

  std::optional<Interval> of_operation(const ir::Expr& expr) const;
  bool reads_uncovered(ir::ExprId expression) const;
  Known& at(ir::VarId variable) { return by_variable_[static_cast<std::size_t>(variable)]; }
  const Known& at(ir::VarId variable) const { return by_variable_[static_cast<std::size_t>(variable)]; }
  /// Follows values into variables until nothing new comes; variables that are `fixed` keep what they have.
  void settle(std::vector<bool> fixed);
  /// Adds a value that the variable may hold; whether that is news.
  bool join(ir::VarId variable, std::optional<Interval> range);
  bool join_value(ir::VarId variable, ir::ExprId value);
  /// Bounds what counts the loop's trips. Flags these variables.
  void count_trips(const ir::Block& around, std::size_t loop, std::vector<bool>& fixed);
  /// The greatest value that the operand of comparisons in the condition may have where it holds. Looks into `local`
  /// variables alone: others may hold what was decided of the operand when it was another. Sorted.
  std::optional<std::int64_t> greatest_where(ir::ExprId condition, const std::vector<ir::VarId>& local,
                                             const std::function<bool(ir::ExprId)>& is_operand, int depth = 0) const;

  const ir::Function& function_;
  std::vector<Known> by_variable_;
};

/// By statement (the numbers of statements_of): whether it lies in an arm or a loop body that is never entered.
std::vector<bool> dead_statements(const KnownRanges& ranges, const std::vector<Listed>& statements);

}  // namespace assay::mutation
