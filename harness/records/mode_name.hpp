// The names of numeric modes in the names of cases.
#pragma once

#include <string>
#include <string_view>

namespace assay::harness {

/// Separates the mode from its build in a run with several compilers or architectures: "strict@g++-12".
inline constexpr char kModeBuildSeparator = '@';

/// The build in the name of a mode; empty if the run has only one.
constexpr std::string_view build_name_of_mode(std::string_view mode_name) {
  const std::size_t separator = mode_name.find(kModeBuildSeparator);
  return separator == std::string_view::npos ? std::string_view() : mode_name.substr(separator + 1);
}

/// The build in words: "NVRTC 13.0.88 compute_100" for "nvrtc-13.0.88-compute_100"; others as they are: "g++-12".
inline std::string describe_build(std::string_view build) {
  constexpr std::string_view kNvrtcPrefix = "nvrtc-";
  std::string title(build);
  if (!build.starts_with(kNvrtcPrefix)) return title;
  title.replace(0, kNvrtcPrefix.size(), "NVRTC ");
  if (const std::size_t target = title.rfind('-'); target != std::string::npos) title[target] = ' ';
  return title;
}

}  // namespace assay::harness
