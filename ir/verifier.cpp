#include "ir/verifier.hpp"

#include <span>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/custom.hpp"
#include "ir/source_place.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir {
namespace detail {

void Complaints::add(Rule rule, Loc loc, const std::string& message) {
  list_.push_back({rule, loc, subject_.empty() ? message : fmt::format("in {}: {}", subject_, message)});
}

}  // namespace detail

namespace {

std::string subject(const Function& function, bool is_kernel) {
  return fmt::format("{} {}", is_kernel ? "kernel" : "function", function.name);
}

void verify_signatures(const Module& module, detail::Complaints& complaints) {
  for (const Function& function : module.functions) {
    complaints.about(subject(function, false));
    detail::verify_signature(module, function, false, complaints);
  }
  std::unordered_set<std::string_view> names;
  for (const Function& kernel : module.kernels) {
    complaints.about(subject(kernel, true));
    detail::verify_signature(module, kernel, true, complaints);
    if (!names.insert(kernel.name).second) {
      complaints.add(Rule::kDuplicateName, kernel.loc, "found another kernel of this name");
    }
  }
}

/// True if there was no complaint.
bool verify_body(const Module& module, const Function& function, const detail::Callees& callees,
                 detail::Complaints& complaints) {
  complaints.about(subject(function, function.is_kernel));
  const std::size_t before = complaints.count();
  const std::vector<bool> sound = detail::verify_expressions(module, function, callees, complaints);
  detail::verify_statements(module, function, callees, sound, complaints);
  return complaints.count() == before;
}

void verify_custom(const Module& module, const std::vector<ParameterUses>& uses, detail::Complaints& complaints) {
  const auto check = [&](const Function& function) {
    complaints.about(subject(function, function.is_kernel));
    if (const auto fault = gradient_fault(module, function, uses))
      complaints.add(Rule::kGradient, function.loc, *fault);
    if (const auto fault = replay_fault(module, function, uses)) complaints.add(Rule::kReplay, function.loc, *fault);
  };
  for (const Function& function : module.functions)
    check(function);
  for (const Function& kernel : module.kernels)
    check(kernel);
}

}  // namespace

std::string to_text(const Module& module, const Complaint& complaint) {
  const std::string place = place_text(module, complaint.loc);
  return fmt::format("{}{}{}: {}", place, place.empty() ? "" : ": ", row(complaint.rule).label, complaint.message);
}

std::vector<Complaint> verify(const Module& module) {
  detail::Complaints complaints;
  detail::verify_structs(module, complaints);
  if (complaints.count() == 0) verify_signatures(module, complaints);
  if (complaints.count() > 0) return complaints.take();

  const std::span all(module.functions);
  std::vector<ParameterUses> uses;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool valid = verify_body(module, all[i], {all.first(i), uses}, complaints);
    // What an invalid function does is not known; its callers are checked as if it did nothing.
    uses.push_back(valid ? parameter_use(all[i], uses)
                         : ParameterUses(static_cast<std::size_t>(all[i].parameter_count)));
  }
  verify_custom(module, uses, complaints);
  for (const Function& kernel : module.kernels)
    verify_body(module, kernel, {all, uses}, complaints);
  return complaints.take();
}

}  // namespace assay::ir
