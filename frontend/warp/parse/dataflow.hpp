// The blocks in which the variables of a Python function are declared.
//
// Python's variables belong to the whole function; the kernel language declares each in a block. From the syntax alone
// this finds, for every assigned name, the innermost blocks that can declare it: all its uses lie inside, and none
// needs a value from before the block. It also finds reads that some path reaches before any assignment.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

/// A read of a variable that may precede every assignment.
struct UnassignedRead {
  SyntaxNode name;             ///< identifier that is read
  bool is_after_loop = false;  ///< whether the identifier is the variable of a loop that has ended
};

/// The analysis of one function.
class Dataflow {
 public:
  /// `body` is the block of a function; `parameters` have values when it starts.
  Dataflow(SyntaxNode body, const std::vector<std::string_view>& parameters);

  /// Whether the name must be declared in exactly this block.
  bool declares(SyntaxNode block, std::string_view name) const;
  /// The number of statements that assign the name, including component assignments and loops.
  int assignments(std::string_view name) const;
  /// Whether a statement of this block or of a nested one assigns the name, also as the variable of a loop.
  bool assigned_in(SyntaxNode block, std::string_view name) const;
  /// In the order in which they were found.
  const std::vector<UnassignedRead>& unassigned_reads() const { return unassigned_reads_; }
  bool is_unassigned(SyntaxNode name) const { return unassigned_read_ids_.contains(name.id()); }
  bool has_unassigned_reads(std::string_view name) const { return names_with_unassigned_reads_.contains(name); }
  /// Whether control can reach the end of the body.
  bool falls_through() const { return falls_through_; }

 private:
  friend class FlowWalk;

  std::map<std::pair<const void*, std::string_view>, bool>
      required_declarations_;  ///< blocks (by SyntaxNode::id()) and the names that they must declare
  std::map<std::string_view, int> assignment_counts_;  ///< number of statements that assign each name
  /// For each block, by SyntaxNode::id(): the names that the block or a nested block assigns.
  std::map<const void*, std::vector<std::string_view>> assigned_names_by_block_;
  /// Reads that may precede every assignment, in the order in which they were found.
  std::vector<UnassignedRead> unassigned_reads_;
  std::set<const void*> unassigned_read_ids_;  ///< SyntaxNode::id() of each identifier in unassigned_reads_
  std::set<std::string_view> names_with_unassigned_reads_;  ///< names in unassigned_reads_
  bool falls_through_ = true;                               ///< whether the end of the function body can be reached
};

}  // namespace assay::frontend
