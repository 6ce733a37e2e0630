#include "backends/device/emitted_kernel.hpp"

#include <algorithm>

namespace assay::backends {

bool EmittedKernel::has_promoted_variant() const { return body.find("ASSAY_REAL") != std::string::npos; }

std::span<const Precision> compiled_precisions(const EmittedKernel& kernel, std::span<const Precision> requested) {
  return kernel.has_promoted_variant() ? requested : requested.first(1);
}

bool is_promoted_native(const EmittedKernel& kernel, std::span<const Precision> requested) {
  return compiled_precisions(kernel, requested).size() < requested.size();
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
