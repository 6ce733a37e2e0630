#include "ir/verifier.hpp"

#include <span>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/custom.hpp"
#include "ir/source_location.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir {
namespace detail {

void VerifierDiagnostics::add(VerifierRule rule, Loc loc, const std::string& message) {
  errors_.push_back({rule, loc, subject_.empty() ? message : fmt::format("in {}: {}", subject_, message)});
}

}  // namespace detail

namespace {

std::string subject(const Function& function, bool is_kernel) {
  return fmt::format("{} {}", is_kernel ? "kernel" : "function", function.name);
}

void verify_signatures(const Module& module, detail::VerifierDiagnostics& diagnostics) {
  for (const Function& function : module.functions) {
    diagnostics.set_subject(subject(function, false));
    detail::verify_signature(module, function, false, diagnostics);
  }
  std::unordered_set<std::string_view> names;
  for (const Function& kernel : module.kernels) {
    diagnostics.set_subject(subject(kernel, true));
    detail::verify_signature(module, kernel, true, diagnostics);
    if (!names.insert(kernel.name).second) {
      diagnostics.add(VerifierRule::kDuplicateName, kernel.loc, "another kernel has the same name");
    }
  }
}

/// True if no rule is broken.
bool verify_body(const Module& module, const Function& function, const detail::Callees& callees,
                 detail::VerifierDiagnostics& diagnostics) {
  diagnostics.set_subject(subject(function, function.is_kernel));
  const std::size_t before = diagnostics.count();
  const std::vector<bool> sound = detail::verify_expressions(module, function, callees, diagnostics);
  detail::verify_statements(module, function, callees, sound, diagnostics);
  return diagnostics.count() == before;
}

void verify_custom(const Module& module, const std::vector<ParameterUses>& uses,
                   detail::VerifierDiagnostics& diagnostics) {
  const auto check = [&](const Function& function) {
    diagnostics.set_subject(subject(function, function.is_kernel));
    if (const auto fault = find_custom_gradient_error(module, function, uses))
      diagnostics.add(VerifierRule::kCustomGradient, function.loc, *fault);
    if (const auto fault = find_custom_replay_error(module, function, uses))
      diagnostics.add(VerifierRule::kCustomReplay, function.loc, *fault);
  };
  for (const Function& function : module.functions)
    check(function);
  for (const Function& kernel : module.kernels)
    check(kernel);
}

}  // namespace

std::string to_text(const Module& module, const VerifierError& diagnostic) {
  const std::string place = location_text(module, diagnostic.loc);
  return fmt::format("{}{}{}: {}", place, place.empty() ? "" : ": ", row(diagnostic.rule).label, diagnostic.message);
}

std::vector<VerifierError> verify(const Module& module) {
  detail::VerifierDiagnostics diagnostics;
  detail::verify_structs(module, diagnostics);
  if (diagnostics.count() == 0) verify_signatures(module, diagnostics);
  if (diagnostics.count() > 0) return diagnostics.take();

  const std::span all(module.functions);
  std::vector<ParameterUses> uses;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool valid = verify_body(module, all[i], {all.first(i), uses}, diagnostics);
    // The effects of an invalid function are unknown; its callers are checked as if it had none.
    uses.push_back(valid ? parameter_use(all[i], uses)
                         : ParameterUses(static_cast<std::size_t>(all[i].parameter_count)));
  }
  verify_custom(module, uses, diagnostics);
  for (const Function& kernel : module.kernels)
    verify_body(module, kernel, {all, uses}, diagnostics);
  return diagnostics.take();
}

}  // namespace assay::ir
