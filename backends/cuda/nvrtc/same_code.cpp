#include "backends/cuda/nvrtc/same_code.hpp"

#include "backends/cuda/nvrtc/nvrtc.hpp"

namespace assay::cuda {
namespace {

Result<std::string> ptx_of(const Nvrtc& nvrtc, const backends::EmittedKernel& kernel, backends::Precision precision) {
  CompileOutcome outcome = nvrtc.compile(kernel.source(), "kernel.cu", {.precision = precision});
  if (const auto* rejected = std::get_if<backends::BuildFailed>(&outcome))
    return Error{"NVRTC rejected the kernel: " + rejected->log, kernel.name};
  return std::move(std::get<CompiledCode>(outcome).ptx);
}

}  // namespace

Result<bool> same_compiled_code(const backends::EmittedKernel& a, const backends::EmittedKernel& b) {
  const Result<Nvrtc> nvrtc = Nvrtc::load();
  if (!nvrtc.ok()) return nvrtc.error();
  for (const backends::Precision precision : {backends::Precision::kNative, backends::Precision::kPromoted}) {
    const Result<std::string> first = ptx_of(*nvrtc, a, precision);
    const Result<std::string> second = ptx_of(*nvrtc, b, precision);
    if (!first.ok() || !second.ok()) return (first.ok() ? second : first).error();
    if (*first != *second) return false;
  }
  return true;
}

}  // namespace assay::cuda
