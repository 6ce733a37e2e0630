// Finds statements that no launch within the kernel's domain reaches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/mutation/editor.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// A range of an integer, including both ends.
struct IntegerRange {
  std::int64_t low;   ///< least value
  std::int64_t high;  ///< greatest value

  bool operator==(const IntegerRange&) const = default;
};

/// Ranges of integers, derived from the preconditions `# domain: 0 <= n <= 12` and `# launch: (5)` by interval
/// analysis. An assigned variable has one range for all its values. The range of a counter of loop trips is bounded by
/// the limit of another counter that ends the loop.
class KnownRanges {
 public:
  /// Analyzes `function`: the kernel, or its backward kernel, whose first parameters are those of the kernel.
  KnownRanges(const ir::Module& module, const ir::Function& kernel, const ir::Function& function);

  /// The range of an integer expression of the function; nothing if it is unbounded.
  std::optional<IntegerRange> of(ir::ExprId expression) const;
  std::optional<IntegerRange> of_variable(ir::VarId variable) const { return at(variable).range; }
  /// The value of a condition if it is the same in all launches; else nothing.
  std::optional<bool> truth(ir::ExprId condition) const;

 private:
  /// What is known about a variable. Until it receives a value, code that reads it counts as not reached.
  struct VariableFacts {
    bool receives_value = false;        ///< whether the variable receives a value
    std::optional<IntegerRange> range;  ///< range of the variable's values, or of an array's elements; empty: unbounded
  };

  std::optional<IntegerRange> of_operation(const ir::Expr& expr) const;
  bool reads_uncovered(ir::ExprId expression) const;  ///< whether it reads an integer that never receives a value
  VariableFacts& at(ir::VarId variable) { return variable_facts_[static_cast<std::size_t>(variable)]; }
  const VariableFacts& at(ir::VarId variable) const { return variable_facts_[static_cast<std::size_t>(variable)]; }
  /// Propagates values into variables until a fixed point; `fixed` variables keep their ranges.
  void settle(std::vector<bool> fixed);
  /// Adds values to the range of the variable. Returns whether the range changed.
  bool join(ir::VarId variable, std::optional<IntegerRange> range);
  bool join_value(ir::VarId variable, ir::ExprId value);
  /// Bounds the variables that count the trips of the loop, and marks them as fixed.
  void count_trips(const ir::Block& around, std::size_t loop, std::vector<bool>& fixed);
  /// The greatest value of the compared operand if the condition holds. Follows only `local` variables (sorted): others
  /// may hold conditions on an earlier value of the operand.
  std::optional<std::int64_t> max_value_under_condition(ir::ExprId condition, const std::vector<ir::VarId>& local,
                                                        const std::function<bool(ir::ExprId)>& is_operand,
                                                        int depth = 0) const;

  const ir::Function& function_;               ///< the analyzed function
  std::vector<VariableFacts> variable_facts_;  ///< by variable of the function
};

/// By statement (numbered as in statements_of): whether it is in a branch or loop body that is never entered.
std::vector<bool> dead_statements(const KnownRanges& ranges, const std::vector<ListedStatement>& statements);

}  // namespace assay::mutation
