#include "reference/cpu/testing/workbench.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace assay::reference::testing {

OracleFixture::OracleFixture() : OracleFixture(ir::Module{}) {}

OracleFixture::OracleFixture(ir::Module module)
    : module_(std::make_unique<ir::Module>(std::move(module))),
      kernel_(std::make_unique<ir::Function>()),
      builder_(std::make_unique<ir::Builder>(*module_, *kernel_)) {
  kernel_->name = "kernel";
  kernel_->is_kernel = true;
}

void OracleFixture::fill(ir::Argument& argument, const std::vector<double>& components) const {
  const auto layout = ir::scalar_components(*module_, argument.type.element());
  for (std::size_t k = 0; k < components.size(); ++k) {
    const ir::ScalarComponent& component = layout[k % layout.size()];
    const std::size_t base =
        argument.type.is_array() ? ir::element_offset(argument, static_cast<std::int64_t>(k / layout.size())) : 0;
    std::byte* const at = argument.bytes.data() + base + component.offset;
    if (ir::is_float(component.scalar)) ir::write_float(component.scalar, at, components[k]);
    else ir::write_integer(component.scalar, at, static_cast<std::int64_t>(components[k]));
  }
}

ir::VarId OracleFixture::array(const std::string& name, ir::Type element, std::vector<std::int32_t> shape,
                               const std::vector<double>& components) {
  const ir::Type type = element.array_of(static_cast<int>(shape.size()));
  launch_.arguments.push_back(ir::make_argument(*module_, type, std::move(shape)));
  fill(launch_.arguments.back(), components);
  return builder_->parameter(name, type);
}

ir::VarId OracleFixture::floats(const std::string& name, const std::vector<double>& values, ir::Scalar scalar) {
  return array(name, ir::scalar_type(scalar), {static_cast<std::int32_t>(values.size())}, values);
}

ir::VarId OracleFixture::integers(const std::string& name, const std::vector<std::int64_t>& values, ir::Scalar scalar) {
  const ir::VarId parameter = array(name, ir::scalar_type(scalar), {static_cast<std::int32_t>(values.size())});
  ir::Argument& argument = launch_.arguments.back();
  for (std::size_t k = 0; k < values.size(); ++k)
    ir::write_integer(scalar, argument.bytes.data() + ir::element_offset(argument, static_cast<std::int64_t>(k)),
                      values[k]);
  return parameter;
}

ir::VarId OracleFixture::value(const std::string& name, ir::Type type, const std::vector<double>& components) {
  launch_.arguments.push_back(ir::make_argument(*module_, type));
  fill(launch_.arguments.back(), components);
  return builder_->parameter(name, type);
}

ir::VarId OracleFixture::thread_index(std::int32_t extent, const std::string& name) {
  launch_.extents.push_back(extent);
  return builder_->thread_index(name);
}

Oracle OracleFixture::oracle() const {
  auto oracle = Oracle::make(*module_, *kernel_);
  if (!oracle.ok()) {
    std::fprintf(stderr, "the oracle rejects the test kernel: %s\n", oracle.error().text().c_str());
    std::abort();
  }
  return oracle.take();
}

ComponentValues OracleFixture::cotangents_for(ir::VarId output, std::vector<double> cotangents) const {
  const auto p = static_cast<std::size_t>(output);
  const ir::Argument& argument = launch_.arguments[p];
  const std::size_t components = ir::scalar_components(*module_, argument.type.element()).size();
  ComponentValues seeds(launch_.arguments.size());
  seeds[p] = cotangents.empty()
                 ? std::vector<double>(static_cast<std::size_t>(ir::element_count(argument)) * components, 1.0)
                 : std::move(cotangents);
  return seeds;
}

OracleRun OracleFixture::gradient_run(ComponentValues seeds) const {
  return OracleRun{.launch = launch_, .computes_gradient = true, .cotangents = std::move(seeds)};
}

ReferenceResult OracleFixture::gradient(ir::VarId output, std::vector<double> cotangents) const {
  return oracle().evaluate(gradient_run(cotangents_for(output, std::move(cotangents))));
}

}  // namespace assay::reference::testing
