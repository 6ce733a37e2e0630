// The parts of the verifier in the order in which they run; each may rely on the earlier parts.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/module.hpp"
#include "ir/verifier.hpp"

namespace assay::ir::detail {

/// Collects the diagnostics of one module.
class VerifierDiagnostics {
 public:
  /// Sets the subject of the following diagnostics: "kernel k", or empty.
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  void add(VerifierRule rule, Loc loc, const std::string& message);
  std::size_t count() const { return errors_.size(); }
  std::vector<VerifierError> take() { return std::move(errors_); }

 private:
  std::string subject_;  ///< kernel or function that the next diagnostics are about: "kernel k"; may be empty
  std::vector<VerifierError> errors_;  ///< diagnostics so far
};

/// Checks the structs. The parts below may use types only if this reports no diagnostics.
void verify_structs(const Module& module, VerifierDiagnostics& diagnostics);
/// Reports a malformed type; void is well formed.
bool verify_type(const Module& module, Type type, Loc loc, VerifierDiagnostics& diagnostics);
void verify_name(const std::string& name, Loc loc, VerifierDiagnostics& diagnostics);
/// Checks names, parameters, thread indices, results and types of all variables. The parts below require that all
/// functions and kernels pass.
void verify_signature(const Module& module, const Function& function, bool is_kernel, VerifierDiagnostics& diagnostics);

/// The functions that a function may call: the first functions of the module, with their parameter uses.
struct Callees {
  std::span<const Function> functions;            ///< functions that may be called
  std::span<const ParameterUses> parameter_uses;  ///< parameter uses of each of them
};
/// Checks every node of the arena; true for each node that is valid together with its operands.
std::vector<bool> verify_expressions(const Module& module, const Function& function, const Callees& callees,
                                     VerifierDiagnostics& diagnostics);
/// Reports arguments that do not match the parameters.
bool verify_arguments(const Module& module, const Function& function, const Function& callee,
                      const std::vector<ExprId>& args, Loc loc, VerifierDiagnostics& diagnostics);
/// Reports an invalid array operand or indices that do not match it. `array` and `indices` are valid expressions.
bool verify_element_access(const Function& function, ExprId array, std::span<const ExprId> indices, Loc loc,
                           VerifierDiagnostics& diagnostics);

/// Whether a tile may be loaded from, or stored to, an array.
bool tile_fits(Type array, Type tile);

/// Checks the body.
void verify_statements(const Module& module, const Function& function, const Callees& callees,
                       const std::vector<bool>& sound, VerifierDiagnostics& diagnostics);

}  // namespace assay::ir::detail
