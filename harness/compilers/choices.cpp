#include "harness/compilers/choices.hpp"

#include <algorithm>
#include <vector>

namespace assay::compilers {

using backends::BuildVariant;

backends::BuildChoices with_all_compilers(backends::BuildChoices choices, std::span<const std::string> devices) {
  const bool all_compilers = choices.compilers.empty();
  const bool all_nvrtcs = choices.nvrtc_versions_or_paths.empty();
  const auto add = [](std::vector<std::string>& list, const std::string& one) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(one);
  };
  for (const std::string& device : devices) {
    const backends::DeviceDescriptor& row = backends::device_descriptor(device);
    if (row.variants == nullptr) continue;
    for (const BuildVariant& variant : row.variants({})) {
      if (variant.role != BuildVariant::Role::kSameFlags && variant.role != BuildVariant::Role::kOtherCompiler)
        continue;
      if (row.toolkit == backends::Toolkit::kHostCompiler && all_compilers)
        add(choices.compilers, variant.options.compiler);
      if (row.toolkit == backends::Toolkit::kNvrtc && all_nvrtcs)
        add(choices.nvrtc_versions_or_paths, variant.options.nvrtc_version_or_path);
    }
  }
  return choices;
}

}  // namespace assay::compilers
