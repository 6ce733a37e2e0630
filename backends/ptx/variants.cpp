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
    one.unoptimized = role == BuildVariant::Role::kUnoptimized;
    variants.push_back(
        {.role = role, .compiler = "NVRTC " + nvrtc.full_version(), .target = architecture, .options = std::move(one)});
  }
}

}  // namespace

std::vector<BuildVariant> variants(const DeviceOptions& chosen) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load(chosen.nvrtc);
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
    options.nvrtc = name;
    add(result, BuildVariant::Role::kOtherCompiler, *other, options);
  }
  return result;
}

}  // namespace assay::ptx
