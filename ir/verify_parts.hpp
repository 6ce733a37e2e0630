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

/// Collects the violations of one module.
class VerifierDiagnostics {
 public:
  /// Sets the subject of the following diagnostics: "kernel k", or empty.
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  void add(VerifierRule rule, Loc loc, const std::string& message);
  std::size_t count() const { return errors_.size(); }
  std::vector<VerifierError> take() { return std::move(errors_); }

 private:
  std::string subject_;  ///< kernel or function that the following violations are about: "kernel k"; may be empty
  std::vector<VerifierError> errors_;  ///< violations so far
};

/// Checks the structs. The parts below may use types only if this reports no diagnostics.
void verify_structs(const Module& module, VerifierDiagnostics& diagnostics);
/// Reports a malformed type; void is well formed.
bool verify_type(const Module& module, Type type, Loc loc, VerifierDiagnostics& diagnostics);
void verify_name(const std::string& name, Loc loc, VerifierDiagnostics& diagnostics);
/// Checks names, parameters, thread indices, results and types of all variables. The parts below require that all
/// functions and kernels pass.
void verify_signature(const Module& module, const Function& function, bool is_kernel, VerifierDiagnostics& diagnostics);

/// The functions that a function may call, which are the first functions of the module.
struct Callees {
  std::span<const Function> functions;            ///< functions that may be called
  std::span<const ParameterUses> parameter_uses;  ///< parameter uses of each of these functions
};
/// Checks every expression node of the function. Returns, for each node, whether the node and its operands are valid.
std::vector<bool> verify_expressions(const Module& module, const Function& function, const Callees& callees,
                                     VerifierDiagnostics& diagnostics);
/// Reports arguments that do not match the parameters of the callee.
bool verify_arguments(const Module& module, const Function& function, const Function& callee,
                      const std::vector<ExprId>& args, Loc loc, VerifierDiagnostics& diagnostics);
/// Reports an array operand that is invalid, and indices that do not match the array. `array` and `indices` must be
/// valid expressions.
bool verify_element_access(const Function& function, ExprId array, std::span<const ExprId> indices, Loc loc,
                           VerifierDiagnostics& diagnostics);

/// Whether a tile may be loaded from, or stored to, an array at the indices. An index that is a tile of i32 has one
/// number for each position of the tile along its dimension.
bool tile_fits(const Function& function, ExprId array, std::span<const ExprId> indices, Type tile);

/// Checks the statements of the function.
void verify_statements(const Module& module, const Function& function, const Callees& callees,
                       const std::vector<bool>& sound, VerifierDiagnostics& diagnostics);

}  // namespace assay::ir::detail
