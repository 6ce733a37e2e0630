#include "harness/suite/select/pattern.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "generators/generator.hpp"

namespace assay::harness {
namespace {

const std::string kAnything = "*";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('/', begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

Result<CasePattern> CasePattern::parse(std::string_view text) {
  CasePattern pattern;
  pattern.text_ = text;
  pattern.components_ = split(text);
  if (pattern.components_.size() > kCaseNameComponentCount) {
    return Error{fmt::format(
        "invalid pattern '{}': {} components, but the longest form is <family>/<kernel>/<types>/<device>/<pass>/<mode>",
        text, pattern.components_.size())};
  }
  for (const std::string& part : pattern.components_) {
    if (part.empty()) return Error{fmt::format("invalid pattern '{}': a component between '/' is empty", text)};
  }
  if (const auto family = generators::find_family(pattern.components_.front())) {
    pattern.components_.front() = generators::row(*family).name;
  }
  return pattern;
}

bool CasePattern::matches(CaseNameComponent part, const std::string& text) const {
  return ::fnmatch(this->part(part).c_str(), text.c_str(), 0) == 0;
}

const std::string& CasePattern::part(CaseNameComponent part) const {
  const auto index = static_cast<std::size_t>(part);
  return index < components_.size() ? components_[index] : kAnything;
}

bool CasePattern::is_literal(CaseNameComponent part) const {
  return this->part(part).find_first_of("*?[") == std::string::npos;
}

}  // namespace assay::harness
