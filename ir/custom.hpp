// Derivatives that the source gives itself, Warp's func_grad and func_replay.
//
// A function f(p...) -> r... may name a gradient: a function g(p..., adj_r...) -> adj_v... of its parameters and of one
// adjoint for each result, which returns one adjoint for each parameter that is a value with floats. The derivative of
// a call of f is then what g says, whatever f computes; that is Warp's meaning. f and g change no float arrays. A
// replay has f's parameters and results, changes no arrays, and is run by the backward kernel where it would run f
// again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/analysis.hpp"
#include "ir/module.hpp"

namespace assay::ir {

/// The parameters of f that are values with floats, ascending: g returns their adjoints.
std::vector<VarId> gradient_targets(const Module& module, const Function& function);

/// What is wrong with a function's gradient or replay; empty if there is none or nothing is. `uses` are those of all
/// functions of the module.
std::optional<std::string> gradient_fault(const Module& module, const Function& function,
                                          const std::vector<ParameterUses>& uses);
std::optional<std::string> replay_fault(const Module& module, const Function& function,
                                        const std::vector<ParameterUses>& uses);

/// Whether what the gradient of a function with `results` results returns is linear in the adjoints, which are its last
/// parameters, as far as its text tells: each is only added, negated, multiplied with or divided by what does not
/// depend on it. Only such a gradient can be told by partial derivatives.
bool is_linear_gradient(const Module& module, const Function& gradient, std::size_t results);

/// Whether the kernel calls, directly or not, a function with a gradient of its own. Differences of the forward say
/// nothing of its derivative then.
bool has_custom_gradient(const Module& module, const Function& kernel);

}  // namespace assay::ir
