// What a user writes to choose cases: a glob over their names, or over the beginning of them.
//
// A name is <family>/<kernel>/<types>/<device>/<pass>[/<mode>]. A pattern has at least the family; each part is a glob
// of its own (fnmatch: * ? [a-z]) that does not cross a slash, and parts that are left out fit everything. So `loop`,
// `loop/dyn*`, `*/*/f64` and `loop/dynamic_product/f32/cpu/backward` are patterns, and `*` fits every case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace assay::harness {

/// The parts of a case's name, in order.
enum class NamePart : std::uint8_t { kFamily, kKernel, kTypes, kDevice, kPass, kMode };
inline constexpr std::size_t kNameParts = 6;

class CasePattern {
 public:
  /// Fails on an empty part and on more parts than names have. A family's alias stands for the family.
  static Result<CasePattern> parse(std::string_view text);

  /// Whether the part of a name fits; always where the pattern leaves the part out.
  [[nodiscard]] bool fits(NamePart part, const std::string& text) const;
  /// What the pattern says of the part; "*" where it leaves it out.
  [[nodiscard]] const std::string& part(NamePart part) const;
  /// Whether the part holds no wildcard, and so names one thing.
  [[nodiscard]] bool is_literal(NamePart part) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> parts_;
};

}  // namespace assay::harness
