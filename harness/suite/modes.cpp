#include "harness/suite/modes.hpp"

#include <fmt/format.h>

#include "backends/device/registry.hpp"

namespace assay::harness {

using backends::BuildFlags;

std::vector<Mode> modes_of(std::string_view device, std::string_view chosen, int optimise) {
  // Other generators choose the flags of their code themselves.
  if (!backends::runs_emitted_code(backends::device_row(device))) return {Mode{}};
  if (chosen.empty()) chosen = backends::device_row(device).default_mode;
  const std::string level = optimise == 0 ? "" : fmt::format("O{}", optimise);
  std::vector<Mode> modes;
  if (chosen != "default") modes.push_back({.name = level, .flags = BuildFlags::strict()});
  if (chosen != "strict") {
    modes.push_back({.name = level.empty() ? "default" : "default_" + level, .flags = BuildFlags::standard()});
  }
  for (Mode& mode : modes)
    mode.flags.optimisation = optimise;
  return modes;
}

std::string mode_option(std::string_view device, const Mode& mode) {
  const std::string_view name = mode.flags.contract ? "default" : "strict";
  return name == backends::device_row(device).default_mode ? "" : fmt::format(" --mode {}", name);
}

std::vector<std::string> names_of(const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes)
    names.push_back(mode.name);
  return names;
}

}  // namespace assay::harness
