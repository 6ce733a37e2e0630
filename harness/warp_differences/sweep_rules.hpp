// The differences between Warp and Assay that the semantics allow.
#pragma once

#include <span>
#include <string_view>

#include "harness/warp_differences/sweep.hpp"

namespace assay::warp {

/// A rule that explains differences between Warp and the oracle in the sweep.
struct AllowedDifferenceRule {
  std::string_view name;             ///< first column of the rule's row in docs/design/semantics.md
  std::string_view operation_names;  ///< names of the operations that it concerns, separated by spaces
  bool (*applies)(const SweptDifference& difference);  ///< whether the rule explains a difference of these operations
};
std::span<const AllowedDifferenceRule> sweep_rules();
/// The rule for a difference; null if there is none.
const AllowedDifferenceRule* sweep_rule(const SweptDifference& difference);

/// A rule by which the kernel language has calls that Warp rejects. The sweep checks that Warp rejects them, and a test
/// that the parser does.
struct ExtensionRule {
  std::string_view name;                   ///< name of the rule, for reports
  std::string_view operation_names;        ///< names of the operations that it concerns, separated by spaces
  bool (*applies)(const SweptCall& call);  ///< whether Warp rejects a call of these operations by the rule
};
std::span<const ExtensionRule> extension_rules();
/// The rule for a call; null if Warp accepts it.
const ExtensionRule* extension_rule(const SweptCall& call);

}  // namespace assay::warp
