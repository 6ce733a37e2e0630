// Custom derivatives: Warp's func_grad and func_replay.
//
// A function f(p...) -> r... may have a gradient: a function g(p..., adj_r..., adj_a...) -> adj_v... that takes the
// parameters of f and one adjoint for each result, and returns one adjoint for each differentiable value parameter. As
// in Warp, g defines the derivative of a call of f, whatever f computes. f must not change float arrays, and g must not
// change its parameters p.
//
// The adjoint arrays adj_a are optional: g takes either none, or one nullable array for each array parameter of f with
// float elements that are not structs. g contributes to the derivative by an element of such an array with an atomic
// addition or subtraction in its adjoint array, and uses the adjoint array in no other way, except for its shape in
// indices. The loads of f itself contribute nothing.
//
// A replay has the parameters and results of f and must not change arrays; the backward kernel calls it instead of
// running f again.
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

/// The array parameters of f that can have an adjoint array, ascending: float elements that are not structs.
std::vector<VarId> adjoint_array_targets(const Function& function);

/// The array parameters of f whose adjoint arrays are the last parameters of g, in the same order; empty if g takes no
/// adjoint arrays. f must have a valid gradient.
std::vector<VarId> taken_adjoint_arrays(const Module& module, const Function& function);

/// Returns why the gradient of a function is invalid; empty if it is valid or absent. `uses` are the parameter uses of
/// all functions of the module.
std::optional<std::string> find_custom_gradient_error(const Module& module, const Function& function,
                                                      const std::vector<ParameterUses>& uses);
/// Returns why the replay of a function is invalid; empty if it is valid or absent.
std::optional<std::string> find_custom_replay_error(const Module& module, const Function& function,
                                                    const std::vector<ParameterUses>& uses);

/// Whether the values that the gradient of `function` returns, and those that it adds to adjoint arrays, are
/// syntactically linear in the adjoints of the results: adjoints are only added, negated, and multiplied or divided by
/// values that do not depend on them, and what is added to an adjoint array depends on them. Only such a gradient can
/// be represented by partial derivatives. `function` must have a valid gradient.
bool has_linear_gradient(const Module& module, const Function& function);

/// Whether the kernel calls, directly or indirectly, a function with a custom gradient. Finite differences of the
/// forward pass then do not apply to its derivative.
bool has_custom_gradient(const Module& module, const Function& kernel);
/// Whether the kernel calls, directly or indirectly, a function with a custom replay.
bool has_custom_replay(const Module& module, const Function& kernel);

/// The annotation of a kernel whose custom gradients need not be the derivatives of the functions.
inline constexpr std::string_view kTrustCustomGradientsAnnotation = "custom gradients: trusted";
bool trusts_custom_gradients(const Function& kernel);

}  // namespace assay::ir
