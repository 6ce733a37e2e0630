#include "backends/source/targets/targets.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/source/print.hpp"
#include "backends/source/warp/writer.hpp"
#include "ir/text.hpp"

namespace assay::source {
namespace {

Result<std::string> print_source(const EmissionInput& input, backends::SourceTarget target,
                                 const PrintOptions& options) {
  const ir::Module& module = input.adjoint != nullptr ? input.adjoint->module : *input.module;
  const ir::Function* const backward = input.adjoint != nullptr ? &input.adjoint->module.kernels.front() : nullptr;
  return print(module, input.kernel(), backward, target, options).map([](const auto& kernel) {
    return kernel.source();
  });
}

Result<std::string> print_cpp(const EmissionInput& input) {
  return print_source(input, backends::SourceTarget::kCpp, {});
}

Result<std::string> print_cuda(const EmissionInput& input) {
  return print_source(input, backends::SourceTarget::kCuda, {.prints_host_program = input.prints_host_program});
}

Result<std::string> print_ptx(const EmissionInput& input) {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) {
    return Error{fmt::format("{}: emitting PTX requires NVRTC from the CUDA toolkit; set ASSAY_NVRTC to its path",
                             nvrtc.error().message)};
  }
  if (!nvrtc->supports(input.architecture)) {
    return Error{fmt::format("NVRTC {} does not support the architecture '{}'; an example is compute_75",
                             nvrtc->version(), input.architecture)};
  }
  const Result<std::string> source = print_cuda(input);
  if (!source.ok()) return source.error();
  const cuda::CompileOutcome outcome =
      nvrtc->compile(*source, input.kernel().name + ".cu", {.architecture = input.architecture});
  if (const auto* failed = std::get_if<backends::BuildFailed>(&outcome))
    return Error{"NVRTC rejects the emitted source: " + failed->log, input.kernel().name};
  return std::get<cuda::CompiledCode>(outcome).ptx;
}

Result<std::string> print_python(const EmissionInput& input) {
  if (input.adjoint != nullptr) return warp::write_kernel(input.adjoint->module, 0);
  return warp::write_kernel(*input.module, input.kernel_index);
}

Result<std::string> print_ir(const EmissionInput& input) {
  if (input.adjoint != nullptr) return ir::to_text(input.adjoint->module);
  ir::Module alone = *input.module;
  alone.kernels = {input.kernel()};
  return ir::to_text(alone);
}

constexpr std::array kTargets{
    EmissionTarget{.name = "cpu", .summary = "C++", .print = print_cpp},
    EmissionTarget{.name = "cuda", .summary = "CUDA C++", .supports_host_program = true, .print = print_cuda},
    EmissionTarget{.name = "ptx", .summary = "PTX", .print = print_ptx},
    EmissionTarget{.name = "python", .summary = "Python", .print = print_python},
    EmissionTarget{.name = "ir", .summary = "IR", .print = print_ir},
};

}  // namespace

std::span<const EmissionTarget> targets() { return kTargets; }

const EmissionTarget* find_target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &EmissionTarget::name);
  return found == kTargets.end() ? nullptr : &*found;
}

}  // namespace assay::source
