#include "harness/suite/select/curated.hpp"

#include <fmt/format.h>

#include "harness/suite/select/kernel_file.hpp"

namespace assay::harness {

Result<KernelSource> curated_kernel(const conformance::CaseFile& curated) {
  Result<KernelSet> read = read_text(std::string(curated.text), std::string(curated.path));
  if (!read.ok()) return read.error();
  if (read->kernels.size() != 1) {
    return Error{fmt::format("internal error: a curated case must contain one kernel, got {}", read->kernels.size()),
                 std::string(curated.path)};
  }
  KernelSource source = std::move(read->kernels.front());
  source.family = curated.family;
  source.kernel = curated.name;
  source.selector = fmt::format("{}/{}", curated.family, curated.name);
  return source;
}

}  // namespace assay::harness
