// Which statements no launch within the kernel's domain reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/certify/editor.hpp"
#include "ir/module.hpp"

namespace assay::certify {

/// What is known of an integer; both ends are part of it.
struct Interval {
  std::int64_t low;
  std::int64_t high;
};

/// Ranges of integers, from the numbers in the comments `# domain: 0 <= n <= 12` and from what is computed of them.
class KnownRanges {
 public:
  /// Of the kernel, or of its backward kernel: the latter's first parameters are the former's.
  KnownRanges(const ir::Module& module, const ir::Function& kernel, const ir::Function& function);

  /// Of an integer expression of the function; nothing where it may be anything.
  std::optional<Interval> of(ir::ExprId expression) const;
  /// Whether a condition always holds, or never; nothing where that is not known.
  std::optional<bool> truth(ir::ExprId condition) const;

 private:
  std::optional<Interval> of_operation(const ir::Expr& expr) const;

  const ir::Function& function_;
  std::vector<std::optional<Interval>> by_variable_;  ///< arrays: of their elements
};

/// By statement (the numbers of statements_of): whether it lies in an arm or a loop body that is never entered.
std::vector<bool> dead_statements(const KnownRanges& ranges, const std::vector<Listed>& statements);

}  // namespace assay::certify
