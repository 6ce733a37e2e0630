// Custom derivatives: Warp's func_grad and func_replay.
//
// A function f(p...) -> r... may have a gradient: a function g(p..., adj_r...) -> adj_v... that takes the parameters of
// f and one adjoint for each result, and returns one adjoint for each differentiable value parameter. As in Warp, g
// defines the derivative of a call of f, whatever f computes. f must not change float arrays and g must not change any
// array. A replay has the parameters and results of f and must not change arrays; the backward kernel calls it instead
// of running f again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/module.hpp"

namespace assay::ir {

/// The value parameters of f that have float components, ascending: g returns their adjoints.
std::vector<VarId> gradient_targets(const Module& module, const Function& function);

/// Returns why the gradient of a function is invalid; empty if it is valid or absent. `uses` are the parameter uses of
/// all functions of the module.
std::optional<std::string> find_custom_gradient_error(const Module& module, const Function& function,
                                                      const std::vector<ParameterUses>& uses);
/// Returns why the replay of a function is invalid; empty if it is valid or absent.
std::optional<std::string> find_custom_replay_error(const Module& module, const Function& function,
                                                    const std::vector<ParameterUses>& uses);

/// Whether the values returned by the gradient of a function with `results` results are syntactically linear in the
/// adjoints, which are its last parameters: adjoints are only added, negated, and multiplied or divided by values that
/// do not depend on them. Only such a gradient can be represented by partial derivatives.
bool is_linear_gradient(const Module& module, const Function& gradient, std::size_t results);

/// Whether the kernel calls, directly or indirectly, a function with a custom gradient. Finite differences of the
/// forward pass then do not apply to its derivative.
bool has_custom_gradient(const Module& module, const Function& kernel);

/// The annotation of a kernel whose custom gradients need not be the derivatives of the functions.
inline constexpr std::string_view kTrustCustomGradientsAnnotation = "custom gradients: trusted";
bool trusts_custom_gradients(const Function& kernel);

}  // namespace assay::ir
