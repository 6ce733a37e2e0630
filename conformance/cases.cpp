#include "conformance/cases.hpp"

#include <algorithm>

namespace assay::conformance {

std::span<const CaseFile> cases_of(std::string_view family) {
  const auto [first, last] = std::ranges::equal_range(cases(), family, {}, &CaseFile::family);
  return {first, last};
}

const CaseFile* find_case(std::string_view family, std::string_view name) {
  const auto candidates = cases_of(family);
  const auto found = std::ranges::find(candidates, name, &CaseFile::name);
  return found == candidates.end() ? nullptr : &*found;
}

}  // namespace assay::conformance
