#include "harness/suite/run/own_text.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace assay::harness {

std::string add_own_text(const KernelSource& source, backends::EmittedKernel& emitted) {
  if (!source.own_text_obstacle.empty()) return source.own_text_obstacle;
  const ir::Function& kernel = source.module->kernels[source.kernel_index];
  backends::PythonOwnText own{
      .file_text = source.python, .line = kernel.loc.line, .kernel_name = kernel.name, .struct_field_paths = {}};
  for (int p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& parameter = kernel.var(p);
    // The paths of parameters that the source does not have, such as those of meshes.
    if (parameter.path.starts_with("wp."))
      return fmt::format("the kernel takes '{}' from Warp, and Assay passes it as the argument '{}'",
                         parameter.path.substr(3), parameter.name);
    own.struct_field_paths.push_back(parameter.path);
  }
  backends::PythonBinding binding = *emitted.python;
  binding.own_text = std::move(own);
  emitted.python = std::make_shared<const backends::PythonBinding>(std::move(binding));
  return "";
}

}  // namespace assay::harness
