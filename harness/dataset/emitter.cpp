#include "harness/dataset/emitter.hpp"

#include "backends/device/registry.hpp"
#include "backends/source/warp/emit.hpp"
#include "backends/warp/interpreter.hpp"
#include "support/version/version.hpp"

namespace assay::dataset {

std::vector<std::string> emitter_names() { return {std::string(kAssayEmitter), std::string(kWarpEmitter)}; }

std::vector<std::string> devices_of_emitter(std::string_view emitter) {
  std::vector<std::string> names;
  for (const backends::DeviceDescriptor& row : backends::devices()) {
    if (runs_emitted_code(row) == (emitter == kAssayEmitter)) names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> default_devices_of(std::string_view emitter) {
  const std::vector<std::string> all = devices_of_emitter(emitter);
  std::vector<std::string> names;
  for (const std::string& name : all) {
    const auto device = backends::make_device(name, {});
    if (device.ok() && (*device)->can_run().is_available) names.push_back(name);
  }
  return names.empty() ? std::vector<std::string>{all.front()} : names;
}

Result<std::string> version_of_emitter(std::string_view emitter) {
  if (emitter == kAssayEmitter) return std::string(kVersion);
  const Result<warp::WarpInterpreter>& interpreter = warp::known_interpreter();
  if (!interpreter.ok()) return interpreter.error();
  return interpreter->version;
}

WarpCodegen installed_warp() {
  return
      [](std::span<const warp::GeneratedCodeRequest> requests) -> Result<std::vector<Result<warp::GeneratedSources>>> {
        const Result<warp::WarpInterpreter>& interpreter = warp::known_interpreter();
        if (!interpreter.ok()) return interpreter.error();
        return warp::generate_sources(*interpreter, requests);
      };
}

Result<warp::GeneratedCodeRequest> warp_request(const harness::KernelSource& source) {
  const ir::Module& module = *source.module;
  const auto emitted = source::warp::emit(module, module.kernels[source.kernel_index], false);
  if (!emitted.ok()) return emitted.error();
  const backends::PythonBinding& binding = *emitted->python;
  return warp::GeneratedCodeRequest{.python_source = binding.native.text,
                                    .kernel_name = binding.native.kernel_name,
                                    .threads_per_tile_block = binding.threads_per_tile_block};
}

void add_code(const warp::GeneratedSources& text, bool has_gradients, DatasetRow& row) {
  row.cpu_forward = text.cpu_forward;
  row.cpu_backward = has_gradients ? text.cpu_backward : "";
  row.cuda_forward = text.cuda_forward;
  row.cuda_backward = has_gradients ? text.cuda_backward : "";
  row.cpu_source = text.cpu_source;
  row.cuda_source = text.cuda_source;
}

harness::PairPrinter no_printer() {
  return [](const ir::Module&, const ir::Function&, const ir::Function*) -> Result<backends::EmittedKernelPair> {
    return backends::EmittedKernelPair{};
  };
}

}  // namespace assay::dataset
