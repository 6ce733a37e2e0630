// The helpers that emitted code may use, and those that one kernel does use.
//
// Their texts are in helpers/: common.txt for both targets, cpu.txt and cuda.txt for one. A helper starts with a line
// "=== name: needs other helpers" and uses nothing but helpers above it and the target's own functions; the target's
// file comes first. In a text, $F stands for the qualifiers of a function and $M for those of a member function.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/emitted_kernel.hpp"

namespace assay::source {

/// One helper of a target, with its text as it is emitted.
struct HelperText {
  backends::Helper helper;
  std::vector<std::size_t> needs;  ///< indices into helpers_of(target), all smaller than its own
};

/// All helpers of a target, in the order in which they are emitted.
const std::vector<HelperText>& helpers_of(backends::SourceTarget target);

/// Of every target, since a kernel's text uses the same names in each.
class HelperSet {
 public:
  HelperSet();

  /// Adds the helper and what it needs. A target that has none of this name may have the function itself.
  void use(std::string_view name);
  /// The same for one target alone.
  void use(backends::SourceTarget target, std::string_view name);

  /// Whether the target's helper is in the set.
  bool contains(backends::SourceTarget target, std::string_view name) const;
  /// The target's helpers in the set, each behind those that it needs.
  std::vector<backends::Helper> list(backends::SourceTarget target) const;

 private:
  void add(backends::SourceTarget target, std::size_t index);

  std::array<std::vector<bool>, 2> used_;  ///< by target and by index into helpers_of(target)
};

/// What the CUDA host program has for those types of the set that it has something for.
std::string host_parts(const HelperSet& used);

}  // namespace assay::source
