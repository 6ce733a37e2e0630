#include "harness/suite/modes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/registry.hpp"
#include "support/hash.hpp"

namespace assay::harness {

using backends::BuildFlags;

namespace {

constexpr std::string_view kFastCompile = "fast_compile";

std::uint64_t hash_of(std::string_view family, std::string_view kernel) {
  return fnv1a(fmt::format("{}/{}", family, kernel));
}

bool is_in_sample(std::string_view family, std::string_view kernel) {
  return hash_of(family, kernel) % kKernelsPerSampledKernel == 0;
}

}  // namespace

Mode for_family(Mode mode, std::string_view family) {
  mode.flags.uses_fastest_compiler = mode.flags.uses_fastest_compiler && family != "user";
  return mode;
}

std::vector<Mode> modes_of(std::string_view device, std::string_view chosen, int optimize) {
  // Other generators choose the flags of their code themselves.
  if (const backends::DeviceDescriptor& row = backends::device_descriptor(device); !backends::runs_emitted_code(row))
    return {Mode{.name = {}, .flags = row.flags}};
  if (chosen.empty()) chosen = backends::device_descriptor(device).default_mode;
  const std::string level = optimize == 0 ? "" : fmt::format("O{}", optimize);
  const bool is_sampled = chosen == "sampled";
  std::vector<Mode> modes;
  if ((chosen == kFastCompile || is_sampled) && backends::device_descriptor(device).supports_fast_compile)
    modes.push_back({.name = std::string(kFastCompile), .flags = BuildFlags::fast_to_compile()});
  if (chosen == "strict" || chosen == "both" || is_sampled)
    modes.push_back({.name = level, .flags = BuildFlags::strict()});
  if (chosen == "default" || chosen == "both" || is_sampled)
    modes.push_back({.name = level.empty() ? "default" : "default_" + level, .flags = BuildFlags::standard()});
  for (Mode& mode : modes) {
    mode.flags.optimization_level = optimize;
    mode.flags.uses_fastest_compiler = backends::device_descriptor(device).has_optimization_levels && optimize == 0;
  }
  return modes;
}

Result<std::vector<Mode>> supported_modes(std::string_view device, std::string_view chosen, int optimize) {
  std::vector<Mode> modes = modes_of(device, chosen, optimize);
  if (!modes.empty()) return modes;
  std::vector<std::string_view> others;
  for (const backends::DeviceDescriptor& row : backends::devices())
    if (row.supports_fast_compile) others.push_back(row.name);
  return Error{fmt::format("--mode {} is not supported on the device {}; it is supported on {}", chosen, device,
                           fmt::join(others, ", "))};
}

Result<std::vector<Mode>> make_modes_for_builds(std::string_view device, std::string_view chosen,
                                                const std::vector<int>& levels,
                                                const std::vector<std::string>& builds) {
  std::vector<Mode> result;
  for (const int level : levels) {
    const Result<std::vector<Mode>> modes = supported_modes(device, chosen, level);
    if (!modes.ok()) return modes.error();
    for (const Mode& mode : *modes) {
      for (const std::string& build : builds) {
        Mode one = mode;
        one.build = build;
        if (!build.empty())
          one.name = fmt::format("{}{}{}", mode.name.empty() ? "strict" : mode.name, kModeBuildSeparator, build);
        if (std::ranges::find(result, one.name, &Mode::name) == result.end()) result.push_back(std::move(one));
      }
    }
  }
  return result;
}

Mode mode_named(std::string_view device, std::string_view name) {
  if (const std::size_t at = name.find(kModeBuildSeparator); at != std::string_view::npos) {
    name = name.substr(0, at);
    if (name == "strict") name = "";
  }
  for (int level = 0; level <= 3; ++level) {
    for (Mode& mode : modes_of(device, "sampled", level))
      if (mode.name == name) return std::move(mode);
  }
  return {};
}

std::string mode_option(std::string_view device, const Mode& mode) {
  const std::string_view name = mode.flags.fast_compile             ? kFastCompile
                                : mode.flags.contracts_multiply_add ? "default"
                                                                    : "strict";
  return name == backends::device_descriptor(device).default_mode ? "" : fmt::format(" --mode {}", name);
}

KernelSampleSize sample_of(std::string_view effort) {
  if (effort == "thorough") return KernelSampleSize::kAll;
  return effort == "quick" ? KernelSampleSize::kNone : KernelSampleSize::kFraction;
}

std::optional<Mode> mode_for_kernel(const Mode& mode, const std::vector<Mode>& modes, std::string_view family,
                                    std::string_view kernel, KernelSampleSize sample) {
  const auto is_fast = [](const Mode& one) { return one.flags.fast_compile; };
  if (modes.size() == 1 || std::ranges::none_of(modes, is_fast)) return for_family(mode, family);
  if (family == "user" && is_fast(mode)) return std::nullopt;
  if (is_fast(mode) || sample == KernelSampleSize::kAll) return mode;
  Mode judged = mode;
  if (family == "user") {
    // One promoted build shows that the formulas are right; what remains to judge is the code that people run.
    judged.flags.omits_promoted = mode.flags.contracts_multiply_add;
    judged.flags.promotes_for_first_architecture = true;
    return judged;
  }
  if (sample == KernelSampleSize::kNone) return std::nullopt;
  const bool is_for_default_mode = hash_of(family, kernel) / kKernelsPerSampledKernel % 2 == 0;
  if (!is_in_sample(family, kernel) || is_for_default_mode != mode.flags.contracts_multiply_add) return std::nullopt;
  judged.flags.compiles_batches = true;
  // The builds with fast_compile show that the formulas are right; what remains to judge is the optimized code that
  // people run.
  judged.flags.omits_promoted = true;
  judged.flags.architectures =
      mode.flags.contracts_multiply_add ? backends::ArchitectureChoice::kLast : backends::ArchitectureChoice::kFirst;
  return judged;
}

Mode mode_for_further_device(Mode mode, std::string_view family, std::string_view kernel, KernelSampleSize sample) {
  mode.flags.omits_promoted = mode.flags.omits_promoted ||
                              (family != "user" && sample != KernelSampleSize::kAll && !is_in_sample(family, kernel));
  return mode;
}

std::vector<std::string> names_of(const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes)
    names.push_back(mode.name);
  return names;
}

}  // namespace assay::harness
