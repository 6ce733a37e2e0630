// Patterns that select cases: globs over case names, or over their leading components.
//
// A name is <family>/<kernel>/<types>/<device>/<pass>[/<mode>]. A pattern has at least the family; each component is a
// glob (fnmatch: * ? [a-z]) that does not cross a slash, and omitted components match everything. For example, `loop`,
// `loop/dyn*`, `*/*/f64` and `loop/dynamic_product/f32/cpu/backward` are patterns, and `*` matches every case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::harness {

/// The components of a case's name, in order.
enum class CaseNameComponent : std::uint8_t { kFamily, kKernel, kTypes, kDevice, kPass, kMode };
/// Number of components of a case's name.
inline constexpr std::size_t kCaseNameComponentCount = 6;

/// A pattern that selects cases by name: a glob for each leading component.
class CasePattern {
 public:
  /// Fails on an empty component and on more components than names have. The alias of a family is accepted.
  static Result<CasePattern> parse(std::string_view text);

  /// Whether this component of a name matches; always true if the pattern omits the component.
  [[nodiscard]] bool matches(CaseNameComponent part, const std::string& text) const;
  /// The glob of this component; "*" if the pattern omits it.
  [[nodiscard]] const std::string& part(CaseNameComponent part) const;
  /// Whether the component has no wildcards.
  [[nodiscard]] bool is_literal(CaseNameComponent part) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;                     ///< the pattern as given
  std::vector<std::string> components_;  ///< globs of the leading components of a name
};

}  // namespace assay::harness
