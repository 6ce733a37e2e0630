#include "cli/modes.hpp"

#include <fmt/format.h>

namespace assay::cli {

using backends::BuildFlags;

std::vector<harness::Mode> modes_of(std::string_view device, std::string_view chosen, int optimise) {
  if (chosen.empty()) chosen = device == "ptx" ? "both" : "strict";
  const std::string level = optimise == 0 ? "" : fmt::format("O{}", optimise);
  std::vector<harness::Mode> modes;
  if (chosen != "default") modes.push_back({.name = level, .flags = BuildFlags::strict()});
  if (chosen != "strict") {
    modes.push_back({.name = level.empty() ? "default" : "default_" + level, .flags = BuildFlags::standard()});
  }
  for (harness::Mode& mode : modes)
    mode.flags.optimisation = optimise;
  return modes;
}

std::string mode_option(std::string_view device, const harness::Mode& mode) {
  const bool is_strict = !mode.flags.contract;
  if (is_strict && device != "ptx") return "";
  return is_strict ? " --mode strict" : " --mode default";
}

std::vector<std::string> names_of(const std::vector<harness::Mode>& modes) {
  std::vector<std::string> names;
  for (const harness::Mode& mode : modes)
    names.push_back(mode.name);
  return names;
}

}  // namespace assay::cli
