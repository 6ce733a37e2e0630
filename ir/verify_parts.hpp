// The parts of the verifier, in the order in which they run; each may rely on those before.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/module.hpp"
#include "ir/verifier.hpp"

namespace assay::ir::detail {

/// Collects the complaints of one module.
class Complaints {
 public:
  /// What the complaints that follow are about: "kernel k", or empty.
  void about(std::string subject) { subject_ = std::move(subject); }
  void add(Rule rule, Loc loc, const std::string& message);
  std::size_t count() const { return list_.size(); }
  std::vector<VerifierError> take() { return std::move(list_); }

 private:
  std::string subject_;
  std::vector<VerifierError> list_;
};

/// Checks the structs. The parts below may look at types only if there is no complaint.
void verify_structs(const Module& module, Complaints& diagnostics);
/// Complains of a type that is not well formed; void is well formed.
bool verify_type(const Module& module, Type type, Loc loc, Complaints& diagnostics);
void verify_name(const std::string& name, Loc loc, Complaints& diagnostics);
/// Checks names, parameters, thread indices, results and types of all variables. The parts below need functions
/// and kernels that all pass.
void verify_signature(const Module& module, const Function& function, bool is_kernel, Complaints& diagnostics);

/// What a function may call: the module's first functions, with what they do to their parameters.
struct Callees {
  std::span<const Function> functions;
  std::span<const ParameterUses> uses;
};
/// Checks every node of the arena; true for each that is sound, operands included.
std::vector<bool> verify_expressions(const Module& module, const Function& function, const Callees& callees,
                                     Complaints& diagnostics);
/// Complains of arguments that do not fit the parameters.
bool verify_arguments(const Module& module, const Function& function, const Function& callee,
                      const std::vector<ExprId>& args, Loc loc, Complaints& diagnostics);
/// Complains of an array operand or indices that do not fit it. `array` and `indices` are sound.
bool verify_element(const Function& function, ExprId array, std::span<const ExprId> indices, Loc loc,
                    Complaints& diagnostics);

/// Whether a tile may be loaded from, or stored to, an array.
bool tile_fits(Type array, Type tile);

/// Checks the body.
void verify_statements(const Module& module, const Function& function, const Callees& callees,
                       const std::vector<bool>& sound, Complaints& diagnostics);

}  // namespace assay::ir::detail
