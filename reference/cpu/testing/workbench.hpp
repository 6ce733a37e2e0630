// For tests: a kernel under construction, with the arguments bound to its parameters.
//
//     OracleFixture w;
//     const auto x = w.floats("x", {1, 2, 3});           // an f64 array of rank 1
//     const auto out = w.zeros("out", ir::kF64, {3});
//     const auto i = w.thread_index(3);
//     w.b().store(out, {w.b().var(i)}, ...);
//     ReferenceResult r = w.evaluate();
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/launch.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference::testing {

class OracleFixture {
 public:
  OracleFixture();
  /// For kernels that use structs or functions of this module.
  explicit OracleFixture(ir::Module module);

  ir::Builder& b() { return *builder_; }
  ir::Module& module() { return *module_; }
  ir::Function& kernel() { return *kernel_; }
  const ir::Function& kernel() const { return *kernel_; }
  ir::Launch& launch() { return launch_; }

  // ---- parameters
  ir::VarId floats(const std::string& name, const std::vector<double>& values, ir::Scalar scalar = ir::Scalar::kF64);
  ir::VarId integers(const std::string& name, const std::vector<std::int64_t>& values,
                     ir::Scalar scalar = ir::Scalar::kI32);
  /// An array of any element type: `components` are all its scalar components in memory order.
  ir::VarId array(const std::string& name, ir::Type element, std::vector<std::int32_t> shape,
                  const std::vector<double>& components = {});
  ir::VarId zeros(const std::string& name, ir::Type element, std::vector<std::int32_t> shape) {
    return array(name, element, std::move(shape));
  }
  ir::VarId value(const std::string& name, ir::Type type, const std::vector<double>& components);
  ir::VarId thread_index(std::int32_t extent, const std::string& name = "i");

  // ---- short forms
  ir::ExprId f64(double v) { return b().literal(ir::kF64, v); }
  ir::ExprId var(ir::VarId v) { return b().var(v); }
  ir::ExprId op(ir::Op op, std::initializer_list<ir::ExprId> args) { return b().op(op, args); }
  ir::ExprId at(ir::VarId array, ir::VarId index) { return b().load(array, {b().var(index)}); }

  // ---- evaluation
  OracleRun run() const { return OracleRun{.launch = launch_}; }
  OracleRun gradient_run(ComponentValues seeds) const;
  Oracle oracle() const;
  ReferenceResult evaluate() const { return oracle().evaluate(run()); }
  /// Uses cotangents of 1 for all elements of `output` by default.
  ReferenceResult gradient(ir::VarId output, std::vector<double> cotangents = {}) const;
  ComponentValues cotangents_for(ir::VarId output, std::vector<double> cotangents = {}) const;

 private:
  void fill(ir::Argument& argument, const std::vector<double>& components) const;

  std::unique_ptr<ir::Module> module_;
  std::unique_ptr<ir::Function> kernel_;
  std::unique_ptr<ir::Builder> builder_;
  ir::Launch launch_;
};

}  // namespace assay::reference::testing
