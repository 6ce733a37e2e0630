#include "backends/device/emitted_kernel.hpp"

#include <algorithm>

namespace assay::backends {

bool EmittedKernel::has_promoted_variant() const { return body.find("ASSAY_REAL") != std::string::npos; }

std::span<const Precision> compiled_precisions(const EmittedKernel& kernel, const BuildFlags& flags) {
  return kernel.has_promoted_variant() ? flags.precisions() : flags.precisions().first(1);
}

std::string EmittedKernel::source() const {
  std::size_t size = body.size();
  for (const SourceHelper& helper : helpers)
    size += helper.text.size();
  std::string text;
  text.reserve(size);
  for (const SourceHelper& helper : helpers)
    text += helper.text;
  return text += body;
}

int EmittedKernel::first_body_line() const {
  std::ptrdiff_t lines = 1;
  for (const SourceHelper& helper : helpers) {
    lines += std::ranges::count(helper.text, '\n');
  }
  return static_cast<int>(lines);
}

}  // namespace assay::backends
