// The helpers that emitted code may use, and the set that one kernel does use.
//
// Their texts are in helpers/: common.txt for both targets, cpu.txt and cuda.txt for one. A helper starts with a line
// "=== name: needs other helpers" and uses nothing but helpers above it and the target's own functions; the target's
// file comes first. In a text, $F stands for the qualifiers of a function and $M for those of a member function.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "backends/emitted_kernel.hpp"

namespace assay::source {

/// One helper of a target, with its text as it is emitted.
struct HelperText {
  backends::Helper helper;
  std::vector<std::size_t> needs;  ///< indices into helpers_of(target), all smaller than its own
};

/// All helpers of a target, in the order in which they are emitted.
const std::vector<HelperText>& helpers_of(backends::SourceTarget target);

class HelperSet {
 public:
  explicit HelperSet(backends::SourceTarget target) : target_(target) {}

  /// Adds the helper and what it needs. False where the target has none of this name, as it may have the function
  /// itself.
  bool use(std::string_view name);

  /// Whether the helper is in the set.
  bool contains(std::string_view name) const;
  /// The helpers used, each behind those that it needs.
  std::vector<backends::Helper> list() const;

 private:
  void add(std::size_t index);

  backends::SourceTarget target_;
  std::set<std::size_t> used_;
};

/// What the host program has for those types of the set that it has something for.
std::string host_parts(const HelperSet& used);

}  // namespace assay::source
