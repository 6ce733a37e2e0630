#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "backends/ptx/device.hpp"

namespace assay::ptx {

using backends::BuildVariant;
using backends::DeviceOptions;

namespace {

/// One variant for each architecture that the NVRTC supports.
void add(std::vector<BuildVariant>& variants, BuildVariant::Role role, const cuda::Nvrtc& nvrtc,
         const DeviceOptions& options) {
  const std::vector<std::string> architectures =
      options.architectures.empty() ? PtxOptions{}.architectures : options.architectures;
  for (const std::string& architecture : architectures) {
    if (!nvrtc.supports(architecture)) continue;
    DeviceOptions one = options;
    one.architectures = {architecture};
    one.disables_optimizations = role == BuildVariant::Role::kUnoptimized;
    variants.push_back(
        {.role = role, .compiler = "NVRTC " + nvrtc.full_version(), .target = architecture, .options = std::move(one)});
  }
}

}  // namespace

Result<std::vector<backends::NamedBuild>> named_builds(const DeviceOptions& options,
                                                       const backends::BuildChoices& choices) {
  const std::vector<std::string> nvrtcs = choices.nvrtc_versions_or_paths.empty()
                                              ? std::vector<std::string>{options.nvrtc_version_or_path}
                                              : choices.nvrtc_versions_or_paths;
  const std::vector<std::string>& architectures =
      choices.architectures.empty() ? options.architectures : choices.architectures;
  if (nvrtcs.size() == 1 && architectures.size() <= 1) {
    DeviceOptions only = options;
    only.nvrtc_version_or_path = nvrtcs.front();
    only.architectures = architectures;
    return std::vector<backends::NamedBuild>{{.name = "", .options = std::move(only)}};
  }
  std::vector<backends::NamedBuild> result;
  std::set<std::string> names;
  for (const std::string& which : nvrtcs) {
    const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(which);
    if (!nvrtc.ok()) return Error{fmt::format("--nvrtc {}: {}", which, nvrtc.error().text())};
    const std::string version = nvrtc->full_version();
    for (const std::string& architecture : architectures.empty() ? PtxOptions{}.architectures : architectures) {
      if (!nvrtc->supports(architecture)) {
        if (architectures.empty()) continue;
        return Error{fmt::format("--arch {}: NVRTC {} does not support this architecture", architecture, version)};
      }
      DeviceOptions one = options;
      one.nvrtc_version_or_path = which;
      one.architectures = {architecture};
      std::string name = fmt::format("nvrtc-{}-{}", version, architecture);
      if (!names.insert(name).second)
        return Error{fmt::format("NVRTC {} for {} is chosen twice: --nvrtc {}", version, architecture, which)};
      result.push_back({.name = std::move(name), .options = std::move(one)});
    }
  }
  return result;
}

std::vector<BuildVariant> variants(const DeviceOptions& chosen) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(chosen.nvrtc_version_or_path);
  if (!nvrtc.ok()) return {};
  std::vector<BuildVariant> result;
  add(result, BuildVariant::Role::kSameFlags, *nvrtc, chosen);
  add(result, BuildVariant::Role::kUnoptimized, *nvrtc, chosen);
  const std::string version = nvrtc->full_version();
  for (const std::string& name : cuda::installed_nvrtc_versions()) {
    if (name == version) continue;
    const Result<cuda::Nvrtc> other = cuda::Nvrtc::load(name);
    if (!other.ok()) continue;
    DeviceOptions options = chosen;
    options.nvrtc_version_or_path = name;
    add(result, BuildVariant::Role::kOtherCompiler, *other, options);
  }
  return result;
}

}  // namespace assay::ptx
