#include "backends/source/warp/emit.hpp"

#include <utility>

#include "backends/source/warp/writer.hpp"
#include "ir/analysis.hpp"
#include "ir/launch.hpp"

namespace assay::source::warp {

namespace {

using backends::EntryPoint;
using backends::PythonBinding;

bool has_float_components(const ir::Module& module, ir::Type type) {
  for (const ir::ScalarComponent& component : ir::scalar_components(module, type))
    if (ir::is_float(component.scalar)) return true;
  return false;
}

/// Adds the gradients of the float fields of an array's elements, each with its position in the native element.
void add_fields(const ir::Module& module, ir::Type type, backends::PythonGradient gradient,
                std::vector<backends::PythonGradient>& gradients) {
  if (!has_float_components(module, type)) return;
  if (!type.is_struct()) {
    gradient.bytes = ir::layout_of(module, type).size;
    gradients.push_back(gradient);
    return;
  }
  const ir::StructDef& definition = module.structs[type.struct_id];
  for (std::size_t f = 0; f < definition.fields.size(); ++f) {
    if (!definition.fields[f].type.is_value()) continue;
    backends::PythonGradient inner = gradient;
    inner.field_offset += ir::field_offset(module, definition, f);
    add_fields(module, definition.fields[f].type, inner, gradients);
  }
}

std::vector<backends::PythonGradient> gradients_of(const ir::Module& module, const ir::Function& kernel) {
  std::vector<backends::PythonGradient> gradients;
  for (int p = 0; p < kernel.parameter_count; ++p) {
    const ir::Type type = kernel.var(p).type;
    if (type.is_array())
      add_fields(module, type.element(), {.parameter_index = static_cast<std::size_t>(p)}, gradients);
  }
  return gradients;
}

/// The name that the file gives to its only kernel.
std::string kernel_name(const std::string& python) {
  const std::size_t definition = python.find("def ", python.rfind("@wp.kernel"));
  if (definition == std::string::npos) return {};
  const std::size_t start = definition + 4;
  return python.substr(start, python.find('(', start) - start);
}

Result<backends::PythonSource> python_of(const ir::Module& module, const ir::Function& kernel) {
  Result<std::string> text = write_kernel(module, 0);
  if (!text.ok()) return text.error();
  return backends::PythonSource{
      .kernel_name = kernel_name(*text), .text = text.take(), .gradients = gradients_of(module, kernel)};
}

}  // namespace

Result<backends::EmittedKernel> emit(const ir::Module& module, const ir::Function& forward, bool has_backward) {
  ir::Module alone = module;
  alone.kernels = {forward};
  const ir::Module promoted = ir::promoted(alone);
  Result<backends::PythonSource> native = python_of(alone, alone.kernels[0]);
  if (!native.ok()) return native.error();
  Result<backends::PythonSource> lifted = python_of(promoted, promoted.kernels[0]);
  if (!lifted.ok()) return lifted.error();

  PythonBinding binding{.launch_dimension_count = static_cast<std::size_t>(forward.launch_rank),
                        .threads_per_tile_block = threads_per_tile_block(forward),
                        .parameters = {},
                        .native = native.take(),
                        .promoted = lifted.take()};
  std::vector<std::string> types(binding.launch_dimension_count - 1, "int");
  const ir::ParameterUses uses = ir::parameter_use(module, forward);
  for (int p = 0; p < forward.parameter_count; ++p) {
    const ir::Variable& parameter = forward.var(p);
    const ir::Type element = parameter.type.element();
    binding.parameters.push_back(
        {.rank = parameter.type.is_array() ? parameter.type.rank : 0,
         .name = parameter.name,
         .type = element.is_struct() ? "" : std::string(ir::row(element.scalar).warp_name),
         .bytes = ir::layout_of(module, element).size,
         .is_read = uses[static_cast<std::size_t>(p)].read || uses[static_cast<std::size_t>(p)].is_atomically_updated,
         .is_written = uses[static_cast<std::size_t>(p)].changed()});
    types.push_back(parameter.name);
  }
  backends::EmittedKernel emitted{.name = forward.name, .helpers = {}, .body = binding.native.text, .entry_points = {}};
  emitted.entry_points.push_back({.pass = backends::Pass::kForward, .symbol = "forward", .parameter_types = types});
  if (has_backward && !binding.native.gradients.empty()) {
    for (const backends::PythonGradient& gradient : binding.native.gradients)
      types.push_back("gradient of " + forward.var(static_cast<ir::VarId>(gradient.parameter_index)).name);
    emitted.entry_points.push_back(
        {.pass = backends::Pass::kBackward, .symbol = "backward", .parameter_types = std::move(types)});
  }
  emitted.python = std::make_shared<const PythonBinding>(std::move(binding));
  return emitted;
}

}  // namespace assay::source::warp
