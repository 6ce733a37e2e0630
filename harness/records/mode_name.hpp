// The names of numeric modes in the names of cases.
#pragma once

#include <string_view>

namespace assay::harness {

/// Separates the mode from its build in a run with several compilers or architectures: "strict@g++-12".
inline constexpr char kBeforeBuild = '@';

/// The build in the name of a mode; empty if the run has only one.
constexpr std::string_view build_in(std::string_view mode_name) {
  const std::size_t at = mode_name.find(kBeforeBuild);
  return at == std::string_view::npos ? std::string_view() : mode_name.substr(at + 1);
}

}  // namespace assay::harness
